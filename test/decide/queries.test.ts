import { describe, expect, it } from 'vitest';
import {
  acquire,
  keysOfWanted,
  lookUp,
  mergeQueries,
  type Query,
} from '../../src/decide/queries.js';
import { t0 } from '../support/builders.js';
import { begun } from './story.js';

const context = { job: {}, step: {}, params: {}, results: {}, parent_results: {} };
const question = { id: 'q', expression: 'true', context };

/** A query of each kind by itself, and the key of what it asks for. */
const kinds: readonly (readonly [Partial<Query>, string])[] = [
  [{ flows: [{ name: 'f', owner: 'o' }] }, 'flows f::o'],
  [{ tasks: [{ name: 't', owner: 'o' }] }, 'tasks t::o'],
  [{ children: ['c'] }, 'children c'],
  [{ roots: ['r'] }, 'roots r'],
  [{ subjects: ['s'] }, 'subjects s'],
  [{ events: [{ type: 'e', key: 'k' }] }, 'events event:e:k'],
  [{ cached: ['cached-result:1'] }, 'cached cached-result:1'],
  [{ targets: ['x'] }, 'targets x'],
  [{ questions: [question] }, 'questions q'],
  [{ attachments: ['a.json'] }, 'attachments a.json'],
];

describe('mergeQueries', () => {
  it.each(kinds)('keeps %j beside others', (query) => {
    const merged = mergeQueries([lookUp({ children: ['other'] }), lookUp(query)]);
    const [kind, values] = Object.entries(query)[0] as [keyof Query, readonly unknown[]];
    expect(merged[kind]).toEqual(kind === 'children' ? ['other', ...values] : values);
  });

  it('has a case here for every kind', () => {
    const tested = kinds.flatMap(([query]) => Object.keys(query));
    expect([...tested, 'kind'].sort()).toEqual(Object.keys(lookUp({})).sort());
  });
});

describe('keysOfWanted', () => {
  it.each(kinds)('names what %j asks for', (query, key) => {
    expect(keysOfWanted(lookUp(query))).toEqual([key]);
  });

  it('names the locks, permits and grants that are to be taken', () => {
    const lock = { kind: 'target', id: 'lock:1', key: 'x' } as const;
    const grant = { id: 'rate:1', for: 'j', attempt: '0', limit: 1, perMs: 1, of: 'x' };
    const permits = [{ id: 'f::o', wants: [] }];
    const wanted = acquire({ locks: [lock], permits, rates: [grant] });
    expect(keysOfWanted(wanted)).toEqual(['locks lock:1', 'permits f::o', 'rates rate:1 j']);
  });

  it('names the takings whose holders are to be asked', () => {
    const request = { _id: 'r', type: 'request', job: 'x', action: 'cancel', by: 'j' } as const;
    const displaces = [
      { lock: 'lock:1', nonce: 'n', wantedBy: 'j', request: { ...request, reason: 'R.' } },
    ];
    expect(keysOfWanted(acquire({ displaces }))).toEqual(['displaces n']);
  });
});

describe('waiting steps that must know something each', () => {
  const large = { $attachment: 'result-0-1.json', bytes: 70_000 };

  it('ask for the attachment that a lost slice of a map needs', () => {
    const told = begun(['z', { map: { over: [1, 2, 3], slice: 2, do: 'a' } }]);
    told.did('z', 'much');
    const [z, ...others] = told.steps;
    told.edit({ steps: [{ ...z, result: large }, ...others] });
    const slices = told.steps.flatMap(({ child }) => (typeof child === 'string' ? [child] : []));
    expect(slices).toHaveLength(2);
    told.with({ children: Object.fromEntries(slices.map((id) => [id, { kind: 'absent' }])) });
    expect(told.decide()).toMatchObject({
      kind: 'look_up',
      attachments: expect.arrayContaining(['result-0-1.json']) as unknown,
    });
    told.with({ contents: { 'result-0-1.json': 'much' } });
    expect(told.decide()).toMatchObject({ kind: 'spawn', children: [{ _id: slices[0] }] });
  });

  it('ask for children and events in one query', () => {
    const told = begun([
      { parallel: [{ flow: 'inner' }, { wait: { event: 'paid', key: '7', timeout: 5 } }] },
    ]);
    told.at(10).with({ events: { 'paid:7': { kind: 'unknown' } } });
    expect(told.now).toBe(t0 + 10);
    expect(told.decide()).toMatchObject({
      kind: 'look_up',
      children: ['j:0.parallel.0:1'],
      events: [{ type: 'paid', key: '7' }],
    });
  });
});
