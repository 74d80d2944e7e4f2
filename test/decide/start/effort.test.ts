import { describe, expect, it } from 'vitest';
import { mostConditions } from '../../../src/decide/start/effort.js';
import { begun, story } from '../story.js';

const many = <T>(length: number, make: (i: number) => T): T[] =>
  Array.from({ length }, (_, i) => make(i));
const free = { freeSlots: 1_000 };

describe('a job with very much to do', () => {
  it('asks about some of its structures at a time', () => {
    const maps = many(100, (i) => ({ map: { over: `list${i}`, do: 'a' } }));
    const intent = story({ steps: [{ parallel: maps }] }).decide();
    expect(intent.kind === 'look_up' && intent.questions.length).toBe(mostConditions);
  });

  it('begins some of the steps that cost much at a time', () => {
    const params = { text: many(100, () => '{{job._id}}') };
    const steps = [{ parallel: many(30, () => ({ task: 'a', params })) }];
    const told = story({ steps, world: free });
    const first = told.decide();
    expect(first.kind === 'claim' && first.steps.length).toBe(5);
  });

  it('begins all steps that cost little at once', () => {
    const told = story({ steps: [{ parallel: many(60, () => 'a') }], world: free });
    const first = told.decide();
    expect(first.kind === 'claim' && first.steps.length).toBe(60);
  });

  it('writes what it has come to when the steps have grown by much', () => {
    const waits = many(600, (i) => ({ wait: { signal: `s${i}` } }));
    const told = begun(['a', { parallel: waits }]);
    told.end({ kind: 'done' });
    const sizes: number[] = [];
    for (let round = 0; round < 100 && told.steps.length < 601; round += 1) {
      told.go();
      sizes.push(told.steps.length);
    }
    expect(told.steps).toHaveLength(601);
    expect(sizes.length).toBeGreaterThan(3);
    expect(told.decide().kind).toBe('wait');
  });

  it('writes what it has come to when a decider has decided much that cannot begin', () => {
    const told = story({
      steps: [{ decider: 'boss', name: 'boss' }],
      world: { ...free, plugins: ['boss'] },
    });
    told.go();
    told.end({ kind: 'done', result: many(900, () => ({ schedule: 'nowhere' })) });
    const before = told.steps.length;
    told.go();
    expect(told.steps.length - before).toBeGreaterThan(10);
    expect(told.steps.length - before).toBeLessThan(50);
  });
});
