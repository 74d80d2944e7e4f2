import { describe, expect, it } from 'vitest';
import { isLiveJob, type LiveJob } from '../../src/model/job.js';
import { nodeOutline, upstreamOf, type NodeOutline } from '../../src/reading/node-outline.js';
import { parseDocument } from '../../src/reading/parse.js';

const leaf = (task: string) => ({ task });
const sequence = (...nodes: object[]) => ({ structure: 'sequence', sequence: nodes });
const batch = {
  ...{ structure: 'batch', batch: [leaf('a'), leaf('b')] },
  ...{ on_success: leaf('s'), on_complete: leaf('c') },
};

/** Ended steps by path, with their results. */
function stepsOf(results: Readonly<Record<string, unknown>>) {
  return Object.entries(results).map(([path, result], index) => ({
    ...{ index, path, name: 't', task: 't', attempt: 1, run: 1, phase: 'main' },
    ...{ state: '$$complete', exit: 0, end: 2, result },
  }));
}

function document(tasks: unknown, more: object = {}) {
  return { _id: 'j', _rev: '1-a', type: 'job', owner: 'me', tasks, ...more };
}

const begun = (results: Readonly<Record<string, unknown>>, more: object = {}) => ({
  ...{ flow: 'f', state: '$$ready', start: 1, run: 1, params: {}, definitions: {} },
  ...{ flow_definition: { type: 'flow', name: 'f', owner: 'me' }, flow_rev: '1-a' },
  ...{ steps: stepsOf(results), ...more },
});

function live(tasks: unknown, results: Readonly<Record<string, unknown>>): LiveJob {
  const parsed = parseDocument(document(tasks, begun(results)));
  if (parsed.kind !== 'job' || !parsed.ok || !isLiveJob(parsed.value)) {
    throw new Error(JSON.stringify(parsed));
  }
  return parsed.value;
}

const flat = (one: NodeOutline | undefined): readonly string[] =>
  one === undefined
    ? []
    : [`${one.path} ${one.key} ${one.state}`.trim(), ...one.children.flatMap(flat)];

describe('nodeOutline', () => {
  it.each<[string, object, readonly string[]]>([
    ['of no job', { ...document([]), type: 'flow' }, []],
    ['of a job that cannot be read', document('x', { owner: 5 }), []],
    [
      'of a job of a flow that has not begun',
      { _id: 'j', _rev: '1-a', type: 'job', flow: 'f' },
      [],
    ],
    [
      'of a new job with tasks of its own',
      document(['a', 'b']),
      ['pending', '0 sequence pending', '1 sequence pending'],
    ],
    [
      'of a job that ended before it began',
      document(sequence(leaf('a')), { flow: 'f', state: '$$complete', exit: 3, end: 2, steps: [] }),
      ['unreached', '0 sequence unreached'],
    ],
    [
      'of a job that runs',
      document(sequence(leaf('a'), batch), begun({ '0': 1, '1.batch.0': 1 })),
      [
        'active',
        '0 sequence done',
        '1 sequence active',
        '1.batch.0 batch done',
        '1.batch.1 batch pending',
        '1.on_success on_success pending',
        '1.on_complete on_complete pending',
      ],
    ],
  ])('%s', (_title, doc, lines) => {
    expect(flat(nodeOutline(doc as Parameters<typeof nodeOutline>[0]))).toEqual(lines);
  });
});

describe('upstreamOf', () => {
  const graph = {
    structure: 'graph',
    graph: { a: leaf('a'), b: leaf('b'), c: { ...leaf('c'), after: ['b', 'a'] } },
  };
  it.each<[string, unknown, Readonly<Record<string, unknown>>, string, readonly unknown[]]>([
    ['nothing before the first', sequence(leaf('a')), {}, '0', []],
    ['what is before it', sequence(leaf('a'), leaf('b'), leaf('c')), { '0': 1 }, '2', [1, null]],
    [
      'what is before the structure around it first',
      sequence(leaf('a'), sequence(leaf('b'), leaf('c'))),
      { '0': 1, '1.sequence.0': 2 },
      '1.sequence.1',
      [1, 2],
    ],
    [
      'all nodes of a batch for a callback',
      batch,
      { 'batch.0': 7 },
      'on_complete',
      [expect.anything(), null],
    ],
    ['nothing of its neighbours in a batch', batch, { 'batch.0': 7 }, 'batch.1', []],
    ['what a node of a graph comes after', graph, { 'graph.a': 1 }, 'graph.c', [1, null]],
    ['nothing for a path that is not there', sequence(leaf('a')), {}, '9', []],
  ])('%s', (_title, tasks, results, target, list) => {
    expect(upstreamOf(live(tasks, results), target)).toEqual(list);
  });
});
