import fc from 'fast-check';
import type { StoredDocument } from '../../src/model/document.js';
import { t0 } from '../support/builders.js';

/** Any JSON, with the values and keys in it that programs stumble over. */
export const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      null,
      true,
      false,
      '',
      ' ',
      '$$ready',
      '$$complete',
      '__proto__',
      '{{',
      '2026-01-01',
    ),
    fc.constantFrom(0, -1, 0.5, 1e300, -1e300, 9_007_199_254_740_992, t0),
    fc.string({ maxLength: 50, unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(
          '__proto__',
          'constructor',
          'task',
          'tasks',
          'sequence',
          'structure',
          'name',
        ),
        fc.string({ maxLength: 5 }),
      ),
      tie('value'),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
})).value;

const identity = (_id: string) => ({ _id, _rev: '1-a', owner: 'DEFAULT' });
const claimed = { plugin: 'pick', engine: 'gone', pid: 1, params: {}, accepted: t0, start: t0 };

/** One good document of each kind, with most of what it may hold. */
export const document = {
  task: {
    ...identity('task'),
    type: 'task',
    name: 'pick',
    params: { a: { b: 1 } },
    timeout: 1000,
    retry: { limit: 2, delay: 10, factor: 2, max: 100, jitter: 0.5, on: ['Error'], never: [] },
    error: 'sweep',
    labels: ['gpu'],
  },
  flow: {
    ...identity('flow'),
    type: 'flow',
    name: 'f',
    tasks: {
      structure: 'sequence',
      sequence: [
        'pick',
        { task: 'pack', name: 'p', params: { x: 1 }, stdio: { stdout: 'y' }, guards: ['true'] },
        { sequence: [{ task: 'pick', when: 'true', retry: 1, timeout: 5, error: 'sweep' }] },
      ],
    },
    params: { pick: { a: 1 } },
    error: { name: 'sweep', params: { to: 'me' } },
    cancel: { sequence: ['sweep'] },
    timeout: 60_000,
    timeout_mode: 'hard',
    retry: 1,
    output: { total: 'results' },
  },
  job: {
    ...identity('job'),
    type: 'job',
    flow: 'f',
    params: { pick: { a: 2 } },
    exec_after: '2026-01-01T00:00:10Z',
    expires: t0 + 50_000,
    priority: 5,
    tags: ['a'],
    keys: { order: 7 },
    parent: { job: 'p', step: '0' },
  },
  live: {
    ...identity('live'),
    type: 'job',
    flow: 'f',
    state: 'pick-0',
    start: t0,
    run: 1,
    params: { 'pick-0': {}, 'pack-1': { x: 1 } },
    tasks: {
      structure: 'sequence',
      sequence: [{ task: 'pick' }, { task: 'pack', error: 'sweep', stdio: { stdout: 'y' } }],
    },
    definitions: {
      pick: { type: 'task', name: 'pick', retry: { limit: 3, delay: 5, factor: 2, jitter: true } },
      pack: { type: 'task', name: 'pack', labels: [] },
      sweep: { type: 'task', name: 'sweep' },
    },
    flow_definition: {
      type: 'flow',
      name: 'f',
      owner: 'DEFAULT',
      error: { name: 'sweep' },
      retry: 1,
      timeout: 60_000,
      timeout_mode: 'start',
      cancel: { structure: 'sequence', sequence: [{ task: 'sweep' }] },
    },
    steps: [
      {
        ...{ index: 0, path: '0', name: 'pick', task: 'pick', attempt: 1, run: 1, phase: 'main' },
        ...claimed,
        claim: 'n:0',
        state: '$$error',
        end: t0 + 5,
        exit: 2,
        failure: { name: 'Error', message: 'No.', step: 'pick' },
        due: t0 + 20,
      },
      {
        ...{ index: 0, path: '0', name: 'pick', task: 'pick', attempt: 2, run: 1, phase: 'main' },
        ...claimed,
        claim: 'm:0',
        state: '$$active',
      },
    ],
  },
} as const satisfies Record<string, StoredDocument>;

/** A good document in which up to three values were exchanged, removed or added. */
export const edited: fc.Arbitrary<StoredDocument> = fc
  .tuple(
    fc.constantFrom<StoredDocument>(...Object.values(document)),
    fc.array(fc.tuple(fc.nat(), fc.oneof(json, fc.constant(undefined))), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([doc, edits]) => {
    const copy = JSON.parse(JSON.stringify(doc)) as StoredDocument;
    for (const [at, value] of edits) exchange(copy, at, value);
    return JSON.parse(JSON.stringify(copy)) as StoredDocument;
  });

/** Exchanges the value at the place of a number; what a document is stays as it is. */
function exchange(doc: Record<string, unknown>, at: number, value: unknown): void {
  const places = placesIn(doc).filter(({ holder, key }) => holder !== doc || !fixed.has(key));
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return;
  if (value === undefined) delete place.holder[place.key];
  else Object.defineProperty(place.holder, place.key, { value, ...plainProperty });
}

const fixed = new Set(['_id', '_rev', 'type']);
const plainProperty = { writable: true, enumerable: true, configurable: true } as const;

type Place = { readonly holder: Record<string, unknown>; readonly key: string };

function placesIn(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}
