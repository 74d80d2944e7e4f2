import { describe, expect, it } from 'vitest';
import { scopeOf } from '../../src/reading/results.js';
import { begun, story } from '../decide/story.js';

describe('the scope of a path', () => {
  const told = begun([
    {
      map: {
        over: ['x', 'y'],
        as: 'letter',
        do: { loop: { max: 2, do: { map: { over: [7, 8], do: { sequence: ['a', ['b']] } } } } },
      },
    },
  ]);
  const job = told.liveJob;

  it.each([
    ['0', {}],
    ['0.map.1', { item: 'y', index: 1, letter: 'y' }],
    ['0.map.1.loop.0', { item: 'y', index: 1, letter: 'y', round: 0 }],
    ['0.map.1.loop.0.map.0.sequence.1.sequence.0', { item: 7, index: 0, letter: 'y', round: 0 }],
    ['0.map.9.loop.0.map.0', { item: undefined, index: 9, letter: undefined, round: 0 }],
    ['7.map.0', {}],
  ])('%s has what the maps and loops around it add', (path, scope) => {
    expect(scopeOf(job, path)).toEqual(scope);
  });

  it('knows nodes of a graph that bear the names of structures', () => {
    const graph = {
      map: { map: { over: [5], as: 'five', do: 'a' } },
      loop: { task: 'b', after: ['map'] },
    };
    const named = begun([{ graph }]);
    expect(scopeOf(named.liveJob, '0.graph.map.map.0')).toEqual({ item: 5, index: 0, five: 5 });
    expect(scopeOf(named.liveJob, '0.graph.loop')).toEqual({});
  });

  it('knows the maps of the cancel branch', () => {
    const cancel = { map: { over: ['u'], as: 'which', do: 'v' } };
    const cancelled = story({ steps: ['a'], flow: { cancel } });
    cancelled.go();
    cancelled.edit({ cancel: true }).stopped();
    expect(scopeOf(cancelled.liveJob, 'cancel.map.0')).toEqual({ item: 'u', index: 0, which: 'u' });
    const without = {
      ...cancelled.liveJob,
      flow_definition: { type: 'flow', name: 'f', owner: 'o' },
    };
    expect(scopeOf(without as never, 'cancel.map.0')).toEqual({});
  });
});
