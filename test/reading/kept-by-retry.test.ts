import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../src/model/document.js';
import { keptByRetry } from '../../src/reading/kept-by-retry.js';

const step = (path: string, more: object = {}) => ({
  ...{ index: 0, path, name: 't', task: 't', attempt: 1, run: 1, phase: 'main' },
  ...{ state: '$$complete', exit: 0, end: 2, ...more },
});
const found = (path: string, structure: string, result: object) =>
  step(path, { structure, result });

const map = { structure: 'map', map: { over: 'params.list', do: { task: 'a' } } };
const choice = {
  ...{ structure: 'choice', choice: [{ when: 'params.kind = 1', then: { task: 'b' } }] },
};
const loop = { structure: 'loop', loop: { while: 'params.list', max: 2, do: { task: 'c' } } };

/** A job in its second run, whose first one found out about all of its structures. */
const job = (more: object = {}, first: object = map): StoredDocument => ({
  ...{ _id: 'j', _rev: '1-a', type: 'job', owner: 'me', flow: 'f', state: '$$ready', start: 1 },
  ...{ run: 2, params: {}, definitions: {}, flow_rev: '1-a' },
  flow_definition: { type: 'flow', name: 'f', owner: 'me' },
  tasks: { structure: 'sequence', sequence: [first, choice, loop] },
  steps: [
    found('0', 'map', { items: [1, 2], count: 2 }),
    step('0.map.0'),
    found('1', 'choice', { chosen: 0 }),
    found('2', 'loop', { again: true, round: 0 }),
  ],
  ...more,
});

const keptMap =
  'The map at 0 keeps the list with which it began and does not read "list" again. Let it begin anew with `tws retry j --from 0`.';

describe('keptByRetry', () => {
  it.each<[string, StoredDocument, object, string | undefined]>([
    ['tells of a map that keeps its list', job(), { list: [3] }, keptMap],
    [
      'calls a map by its name',
      job({}, { ...map, name: 'all' }),
      { list: [3] },
      keptMap.replace('at 0', '"all"').replace('from 0', 'from all'),
    ],
    [
      'calls a map without a name that is the whole flow by a word of its own',
      job({ tasks: map, steps: [found('', 'map', { items: [1], count: 1 })] }),
      { list: [3] },
      keptMap.replace('at 0', 'that is the whole flow').replace('from 0', 'from .'),
    ],
    [
      'tells of a choice that keeps its case',
      job(),
      { kind: 2 },
      'The choice at 1 keeps the case that it took and does not read "kind" again. Let it begin anew with `tws retry j --from 1`.',
    ],
    ['says nothing of other parameters', job(), { a: { n: 1 } }, undefined],
    [
      'says nothing of a structure that finds nothing out',
      job({}, { structure: 'parallel', parallel: [{ task: 'a' }] }),
      { list: [3] },
      undefined,
    ],
    [
      'says nothing of a map that begins anew',
      job({ redo: [{ from: '0', run: 2 }] }),
      { list: [3] },
      undefined,
    ],
    ['says nothing of a map that was not reached', job({ steps: [] }), { list: [3] }, undefined],
    [
      'says nothing of a list in the flow',
      job({}, { ...map, map: { ...map.map, over: [1] } }),
      { list: [3] },
      undefined,
    ],
    [
      'says nothing of a job without structures',
      job({ tasks: undefined }),
      { list: [3] },
      undefined,
    ],
    ['says nothing of a job that cannot be read', job({ run: 'x' }), { list: [3] }, undefined],
    [
      'says nothing of another document',
      { _id: 'x', _rev: '1-a', type: 'lock' },
      { list: [3] },
      undefined,
    ],
  ])('%s', (_title, doc, params, expected) => {
    expect(keptByRetry(doc, params as Record<string, unknown>)).toBe(expected);
  });
});
