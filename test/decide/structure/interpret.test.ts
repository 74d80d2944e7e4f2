import { describe, expect, it } from 'vitest';
import { interpret } from '../../../src/decide/structure/interpret.js';
import type { WrittenNode } from '../../../src/model/written-tree.js';
import { flow, liveJob } from '../../support/builders.js';
import { story } from '../story.js';

describe('a sequence', () => {
  const orders: readonly [string, WrittenNode[], readonly string[]][] = [
    ['of names', ['a', 'b', 'c'], ['0 a-0', '1 b-1', '2 c-2']],
    ['of one task thrice', ['a', 'a', 'a'], ['0 a-0', '1 a-1', '2 a-2']],
    [
      'in a sequence',
      ['a', ['b', 'c'], 'd'],
      ['0 a-0', '1.sequence.0 b-1', '1.sequence.1 c-2', '2 d-3'],
    ],
    [
      'deep inside',
      [[[['a']]], { sequence: ['b', []] }, 'c'],
      ['0.sequence.0.sequence.0.sequence.0 a-0', '1.sequence.0 b-1', '2 c-2'],
    ],
  ];
  it.each(orders)('%s runs one step after the other', (_title, steps, order) => {
    const told = story({ steps });
    told.go();
    const seen: string[] = [];
    while (told.job.state !== '$$complete') {
      seen.push(`${told.live.path} ${told.job.state}`);
      told.done();
    }
    expect(seen).toEqual(order);
  });

  it('begins nothing behind a step that failed, at any depth', () => {
    const told = story({ steps: [['a', ['b', 'c']], 'd'] });
    told.go();
    told.done();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$error']);
  });
});

describe('interpret', () => {
  it('says where a tree stands, from the root that is given', () => {
    const job = liveJob(flow(['a'], { cancel: { sequence: ['u', ['v']] } }));
    const cancel = job.flow_definition.cancel ?? job.tasks;
    expect(interpret(job, job.tasks, 'main')).toMatchObject({
      kind: 'open',
      begin: [{ phase: 'main', leaf: { path: '0', label: 'a-0' } }],
    });
    expect(interpret(job, cancel, 'cancel', 'cancel')).toMatchObject({
      kind: 'open',
      begin: [{ phase: 'cancel', leaf: { path: 'cancel.sequence.0', label: 'u-0' } }],
    });
    expect(interpret(job, { structure: 'sequence', sequence: [] }, 'main')).toMatchObject({
      kind: 'done',
    });
  });
});
