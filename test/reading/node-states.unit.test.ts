import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { progressAt } from '../../src/reading/progress.js';
import type { LiveJob } from '../../src/model/job.js';
import type { Step } from '../../src/model/step.js';
import { toTree } from '../../src/structures/to-tree.js';
import { childrenOf } from '../../src/structures/tree.js';
import { isStructure, type Node } from '../../src/model/tree.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import type { ShownJob } from '../../src/reading/trail.js';
import type { NodeState } from '../../src/structures/node-state.js';
import { pictureOf } from '../../src/picture/picture-of.js';
import { readTree } from '../../src/reading/node-states.js';
import { calmScenario } from '../decide/simulation/flows.js';
import { simulate } from '../decide/simulator.js';
import { minutes, runs } from '../support/properties.js';

const failure = { name: 'Error', message: 'The disk is full.' };

/** A step as a test writes it: path and state, and what else matters. */
function step(path: string, state: string, more: object = {}): Step {
  const base = { index: 0, path, name: path, task: 't', attempt: 1, run: 1, phase: 'main', state };
  const bad = ['$$error', '$$timeout', '$$cancelled'].includes(state) ? { failure, exit: 2 } : {};
  return { ...base, end: 1, exit: 0, ...bad, ...more } as unknown as Step;
}

const done = (path: string): Step => step(path, '$$complete');
const mark = (path: string, result: unknown): Step =>
  step(path, '$$complete', { structure: 'x', result });

/** The states of some nodes: `id:state`. */
function statesOf(tasks: WrittenNode, job: ShownJob, ids: readonly string[]): readonly string[] {
  const { nodes } = pictureOf(toTree(tasks), job);
  return ids.map((id) => `${id}:${nodes.find((node) => node.id === id)?.state}`);
}

describe('The states in the picture of a job', () => {
  type Row = readonly [string, WrittenNode, ShownJob, readonly string[]];
  const final = { state: '$$complete', exit: 2 };
  const rows: readonly Row[] = [
    ['nothing has begun', ['a', 'b'], { steps: [] }, ['0:pending', '1:pending', '#end:pending']],
    [
      'a step runs',
      ['a', 'b'],
      { steps: [done('0'), step('1', '$$active')] },
      ['0:done', '1:active'],
    ],
    [
      'a step waits',
      [{ wait: { signal: 's' } }],
      { steps: [step('0', '$$waiting')] },
      ['0:waiting'],
    ],
    [
      'a further attempt is due later',
      ['a'],
      { steps: [step('0', '$$error', { due: 9 })] },
      ['0:retrying'],
    ],
    [
      'the job failed',
      ['a', 'b'],
      { ...final, steps: [step('0', '$$timeout')] },
      ['0:failed', '1:unreached', '#end:failed'],
    ],
    [
      'a handler recovers a step',
      [{ task: 'a', error: 'h' }, 'b'],
      { steps: [step('0', '$$error'), done('0.error'), step('1', '$$ready')] },
      ['0:recovered', '0.error:done', '1:active'],
    ],
    [
      'a step was done and undone',
      [{ task: 'a', undo: 'u' }, 'b'],
      { ...final, steps: [done('0'), step('1', '$$error'), done('0.undo')] },
      ['0:undone', '0.undo:done', '1:failed'],
    ],
    [
      'a step is skipped',
      ['a', 'b'],
      { steps: [step('0', '$$skipped')] },
      ['0:skipped', '1:pending'],
    ],
    [
      'steps were skipped by hand, one after the other',
      ['a', 'b'],
      { steps: [step('0', '$$skipped'), step('1', '$$skipped')] },
      ['0:skipped', '1:skipped'],
    ],
    [
      'all items of a map failed, which does not matter',
      [{ map: { over: [1, 2], do: 'a', on_fail: 'ignore' } }],
      {
        steps: [
          mark('0', { items: [1, 2] }),
          step('0.map.0', '$$error'),
          step('0.map.1', '$$error'),
        ],
      },
      ['0:done', '0.map.*:failed'],
    ],
    [
      'the flow begins its second run',
      ['a', 'b'],
      { run: 2, steps: [done('0'), step('1', '$$error')] },
      ['0:done', '1:pending'],
    ],
    [
      'the job began anew',
      ['a', 'b'],
      { run: 2, first_run: 2, steps: [done('0')] },
      ['0:pending', '1:pending'],
    ],
    [
      'one of a parallel runs',
      [{ parallel: ['a', 'b'] }],
      { steps: [done('0.parallel.0'), step('0.parallel.1', '$$active')] },
      ['0:active', '0.parallel.0:done'],
    ],
    [
      'one of a parallel was enough',
      [{ parallel: ['a', 'b'], join: 'any' }, 'c'],
      {
        steps: [done('0.parallel.0'), step('0.parallel.1', '$$error'), step('1', '$$active')],
      },
      ['0:done', '0.parallel.1:failed', '1:active'],
    ],
    [
      'a step that may fail was cancelled, which was enough for a parallel',
      [{ parallel: [{ task: 'a', optional: true }, 'b'], join: 'any' }, 'c'],
      {
        ...final,
        steps: [step('0.parallel.0', '$$cancelled'), step('0.parallel.1', '$$error')],
      },
      ['0:done', '0.parallel.0:cancelled', '0.parallel.1:failed'],
    ],
    [
      'a map was broken off before the item that is not left out began',
      [{ map: { over: [1, 2], do: { parallel: ['a'], when: 'x' } } }],
      {
        ...final,
        steps: [
          mark('0', { items: [1, 2] }),
          mark('0.map.0', {}),
          step('0.map.1', '$$skipped', { structure: 'parallel' }),
        ],
      },
      ['0:cancelled', '0.map.*.parallel.0:unreached'],
    ],
    [
      'an item that ends with an empty sequence is done',
      [{ parallel: [{ map: { over: [1, 2], do: ['a', []], tolerate: 1 } }] }, 'b'],
      {
        ...final,
        steps: [
          mark('0.parallel.0', { items: [1, 2] }),
          done('0.parallel.0.map.0.sequence.0'),
          step('0.parallel.0.map.1.sequence.0', '$$error'),
          step('1', '$$error'),
        ],
      },
      ['0:done', '0.parallel.0:done', '1:failed'],
    ],
    [
      'what was left out was enough for a parallel in a map that may fail once',
      [{ map: { over: [1, 2], do: { parallel: ['a', { task: 'b', when: 'x' }], join: 'any' } } }],
      {
        ...final,
        steps: [
          mark('0', { items: [1, 2] }),
          step('0.map.0.parallel.1', '$$skipped'),
          step('0.map.1.parallel.1', '$$skipped'),
        ],
      },
      ['0:skipped', '0.map.*.parallel.0:unreached'],
    ],
    [
      'what was found out about a choice is unfit after all, though something after it has begun',
      [{ parallel: [{ choice: [{ when: 'x', then: 'a' }] }] }, 'b'],
      {
        ...final,
        steps: [
          mark('0.parallel.0', { chosen: null }),
          step('1', '$$cancelled'),
          step('0.parallel.0.choice.0', '$$skipped'),
          step('0.parallel.0', '$$error', {
            structure: 'choice',
            failure: { name: 'MarkUnfit', message: 'It is unfit.' },
          }),
        ],
      },
      ['0:failed', '0.parallel.0:failed', '1:cancelled'],
    ],
    [
      'a batch was broken off before what is not left out began',
      [{ batch: [{ task: 'a', when: 'x' }, 'b'] }],
      { ...final, steps: [step('0.batch.0', '$$skipped')] },
      ['0:cancelled', '0.batch.0:skipped', '0.batch.1:unreached'],
    ],
    [
      'a map was broken off before its last slice began',
      [{ map: { over: [1, 2, 3], do: 'a', slice: 2 } }],
      {
        ...final,
        steps: [mark('0', { items: [1, 2, 3], slice: 2 }), done('0.slice.0')],
      },
      ['0:cancelled'],
    ],
    [
      'a case was chosen',
      [{ choice: [{ when: 'x', then: 'a' }], default: 'b' }],
      { steps: [mark('0', { chosen: 'default' }), step('0.default', '$$active')] },
      ['0:done', '0.choice.0:unreached', '0.default:active'],
    ],
    [
      'a batch calls back',
      [{ batch: ['a'], on_success: 's', on_failure: 'f', on_complete: 'c' }],
      { steps: [step('0.batch.0', '$$error'), step('0.on_failure', '$$active')] },
      ['0:active', '0.batch.0:failed', '0.on_failure:active', '0.on_complete:pending'],
    ],
    [
      'a callback of an empty batch failed',
      [{ batch: [[]], on_success: 's', on_complete: 'c' }],
      { ...final, steps: [step('0.on_success', '$$error'), done('0.on_complete')] },
      ['0:failed', '0.on_success:failed', '0.on_complete:done'],
    ],
    [
      'a batch whose failures are ignored calls back in vain',
      [{ batch: ['a'], on_failure: 'f', on_fail: 'ignore' }],
      { ...final, steps: [step('0.batch.0', '$$error'), step('0.on_failure', '$$error')] },
      ['0:failed', '0.on_failure:failed'],
    ],
    [
      'the jobs of a batch were undone after its callback had failed',
      [{ batch: [{ task: 'a', undo: 'u' }], on_success: 's' }],
      {
        ...final,
        steps: [done('0.batch.0'), step('0.on_success', '$$error'), done('0.batch.0.undo')],
      },
      ['0:failed', '0.batch.0:undone', '0.on_success:failed'],
    ],
    [
      'another node of a graph was enough',
      [
        {
          parallel: [
            {
              graph: {
                a: { task: 'x' },
                b: { task: 'y' },
                c: { task: 'z', after: ['a', 'b'], join: 'any' },
              },
            },
          ],
        },
      ],
      {
        state: '$$complete',
        exit: 0,
        steps: [
          step('0.parallel.0.graph.a', '$$error'),
          done('0.parallel.0.graph.b'),
          done('0.parallel.0.graph.c'),
        ],
      },
      ['0.parallel.0:done', '0.parallel.0.graph.a:failed', '0.parallel.0.graph.c:done'],
    ],
    [
      'another node of a graph was enough for one node, and not for another',
      [
        {
          graph: {
            a: { task: 'x' },
            b: { task: 'y' },
            c: { task: 'z', after: ['a', 'b'], join: 'any' },
            d: { task: 'z', after: ['a', 'c'] },
          },
        },
      ],
      { ...final, steps: [step('0.graph.a', '$$error'), done('0.graph.b'), done('0.graph.c')] },
      ['0:failed', '0.graph.a:failed', '0.graph.c:done', '0.graph.d:unreached'],
    ],
    [
      'a node of a graph was skipped by hand before as many had succeeded as it needs',
      [{ graph: { a: { task: 'x' }, b: { task: 'y', after: ['a'], join: 1 } } }],
      { ...final, steps: [step('0.graph.a', '$$error'), step('0.graph.b', '$$skipped')] },
      ['0:failed', '0.graph.a:failed', '0.graph.b:skipped'],
    ],
    [
      'a node of a graph that needs any one was skipped by hand before its turn',
      [{ graph: { a: { task: 'x' }, b: { task: 'y', after: ['a'], join: 'any' } } }],
      { ...final, steps: [step('0.graph.a', '$$error'), step('0.graph.b', '$$skipped')] },
      ['0:failed', '0.graph.a:failed', '0.graph.b:skipped'],
    ],
    [
      'a node of a graph that waits for no other was skipped by hand',
      [{ graph: { a: { task: 'x' }, b: { task: 'y', join: 'any' } } }],
      { ...final, steps: [step('0.graph.a', '$$error'), step('0.graph.b', '$$skipped')] },
      ['0:failed', '0.graph.a:failed', '0.graph.b:skipped'],
    ],
    [
      'a branch for another failure was skipped by hand',
      [{ task: 'a', catch: [{ errors: ['Other'], do: 'b' }] }],
      { ...final, steps: [step('0.try', '$$error'), step('0.catch.0', '$$skipped')] },
      ['0:failed', '0.try:failed', '0.catch.0:skipped'],
    ],
    [
      'a graph is on its way',
      [{ graph: { a: { task: 'x' }, b: { task: 'y', after: ['a'] } } }],
      { steps: [done('0.graph.a')] },
      ['0:active', '0.graph.a:done', '0.graph.b:pending'],
    ],
    [
      'a loop takes no round',
      [{ loop: { while: 'x', max: 2, do: 'a' } }],
      { steps: [mark('0', { again: false })] },
      ['0:done', '0.loop.*:unreached'],
    ],
    [
      'a loop was never reached',
      [{ loop: { max: 2, do: 'a' } }],
      { ...final, steps: [] },
      ['0:unreached', '0.loop.*:unreached'],
    ],
    [
      'a loop is between two rounds',
      [{ loop: { max: 2, do: 'a' } }],
      { steps: [mark('0', { again: true }), done('0.loop.0')] },
      ['0:active', '0.loop.*:done'],
    ],
    [
      'a loop is broken off',
      [{ loop: { max: 2, do: 'a' } }],
      { ...final, steps: [mark('0', { again: true }), done('0.loop.0')] },
      ['0:cancelled', '0.loop.*:done'],
    ],
    [
      'a loop is broken off before anything of its second round',
      [{ loop: { max: 2, do: 'a' } }],
      {
        ...final,
        steps: [mark('0', { again: true }), done('0.loop.0'), mark('0', { again: true })],
      },
      ['0:cancelled', '0.loop.*:done'],
    ],
    [
      'a loop is broken off before anything of its first round',
      [{ loop: { max: 2, do: 'a' } }],
      { ...final, steps: [mark('0', { again: true })] },
      ['0:unreached', '0.loop.*:unreached'],
    ],
    [
      'a map has no items',
      [{ map: { over: 'x', do: 'a' } }],
      { steps: [mark('0', { items: [] })] },
      ['0:done', '0.map.*:unreached'],
    ],
    [
      'a map was never reached',
      [{ map: { over: 'x', do: 'a' } }],
      { ...final, steps: [] },
      ['0:unreached', '0.map.*:unreached'],
    ],
    [
      'somebody spoilt what was found out for a map',
      [{ map: { over: 'x', do: 'a' } }],
      { steps: [mark('0', 7)] },
      ['0:done', '0.map.*:unreached'],
    ],
    [
      'a slice of a map failed, and others were never begun',
      [{ map: { over: 'x', do: 'a', slice: 1 } }],
      { ...final, steps: [mark('0', { items: [1, 2], slice: 1 }), step('0.slice.0', '$$error')] },
      ['0:failed', '0.map.*:failed'],
    ],
    [
      'a slice of a map is done, and others are to come',
      [{ map: { over: 'x', do: 'a', slice: 1 } }],
      { steps: [mark('0', { items: [1, 2], slice: 1 }), done('0.slice.0')] },
      ['0:active', '0.map.*:active'],
    ],
    [
      'all slices of a map are done',
      [{ map: { over: 'x', do: 'a', slice: 1 } }],
      { steps: [mark('0', { items: [1], slice: 1 }), done('0.slice.0')] },
      ['0:done', '0.map.*:done'],
    ],
    [
      'a step took two attempts, and a structure that may fail found out nothing',
      ['a', { map: { over: 'x', do: 'b' }, optional: true }, 'c'],
      {
        steps: [
          step('0', '$$error'),
          done('0'),
          step('1', '$$error', { structure: 'map' }),
          step('2', '$$active'),
        ],
      },
      ['0:done', '1:done', '2:active'],
    ],
    [
      'a flow of lists and choices succeeded',
      [
        ['a', 'b'],
        { choice: [{ when: 'x', then: 'c' }], default: 'd' },
        { batch: ['e'], on_success: 'k' },
      ],
      {
        state: '$$complete',
        exit: 0,
        steps: [
          done('0.sequence.0'),
          done('0.sequence.1'),
          mark('1', { chosen: 'default' }),
          done('1.default'),
          done('2.batch.0'),
        ],
      },
      ['0.sequence.1:done', '1:done', '1.default:done', '2:done'],
    ],
    [
      'failures beside each other are ignored',
      [
        { parallel: ['a', 'b'], on_fail: 'ignore' },
        { graph: { x: 'a', y: 'b' }, on_fail: 'ignore' },
      ],
      {
        steps: [
          step('0.parallel.0', '$$error'),
          done('0.parallel.1'),
          step('1.graph.x', '$$error'),
          done('1.graph.y'),
        ],
      },
      ['0:done', '1:done'],
    ],
    [
      'a loop has ended, and a map has so many items whose list is gone',
      [{ loop: { max: 2, do: 'a' } }, { map: { over: 'x', do: 'b' } }],
      {
        steps: [
          mark('0', { again: true }),
          done('0.loop.0'),
          mark('0', { again: false }),
          mark('1', { count: 0 }),
        ],
      },
      ['0:done', '0.loop.*:done', '1:done'],
    ],
    [
      'there is nothing in a structure',
      [{ parallel: [] }, { parallel: [] }],
      { steps: [] },
      ['0:pending', '1:pending'],
    ],
    [
      'there was nothing in a structure',
      [{ parallel: [] }],
      { ...final, steps: [] },
      ['0:unreached'],
    ],
    [
      'a decider has decided',
      [{ decider: 'd' }],
      { steps: [step('0.decision.0', '$$complete', { result: [{ complete: 1 }] })] },
      ['0:done'],
    ],
    ['a decider has begun nothing', [{ decider: 'd' }], { steps: [] }, ['0:pending']],
    [
      'a decider was left out',
      [{ decider: 'd' }],
      { steps: [step('0', '$$skipped')] },
      ['0:skipped'],
    ],
    [
      'what was found out about a map failed in an earlier run, and the job is over',
      [{ map: { over: 'x', do: 'a' } }],
      { ...final, run: 2, steps: [step('0', '$$error', { structure: 'map' })] },
      ['0:failed'],
    ],
    [
      'what a decider asked for runs',
      [{ decider: 'd' }],
      {
        steps: [
          step('0.decision.0', '$$complete', { result: [{ schedule: 'a', id: 'x' }] }),
          step('0.activity.x', '$$active'),
        ],
      },
      ['0:active'],
    ],
    [
      'a decider waits for its timer',
      [{ decider: 'd' }],
      {
        steps: [
          step('0.decision.0', '$$complete', { result: [{ start_timer: 5, id: 'x' }] }),
          step('0.timer.x', '$$waiting'),
        ],
      },
      ['0:waiting'],
    ],
    [
      'a decider is between two decisions',
      [{ decider: 'd' }],
      { steps: [step('0.decision.0', '$$complete', { result: [] })] },
      ['0:active'],
    ],
    [
      'a decider was broken off between two decisions',
      [{ decider: 'd' }],
      { ...final, steps: [step('0.decision.0', '$$complete', { result: [] })] },
      ['0:cancelled'],
    ],
    [
      'a decider failed',
      [{ decider: 'd' }],
      { ...final, steps: [step('0.decision.0', '$$error')] },
      ['0:failed'],
    ],
    ['a decider was never reached', [{ decider: 'd' }], { ...final, steps: [] }, ['0:unreached']],
    [
      'the next run is to do again what was undone',
      [{ task: 'a', undo: 'u' }],
      { run: 2, steps: [done('0'), done('0.undo')] },
      ['0:pending', '0.undo:done'],
    ],
    [
      'the slices of a map that is the whole flow are under way',
      { map: { over: 'x', do: ['a', 'b'], slice: 2 } },
      { steps: [mark('', { items: [1, 2], slice: 2 }), step('slice.0', '$$waiting')] },
      ['map.*.sequence.0:waiting', 'map.*.sequence.1:waiting'],
    ],
    [
      'somebody wrote no step between the steps',
      ['a', 'b'],
      { steps: [null, done('0')] as unknown as readonly Step[] },
      ['0:done', '1:pending'],
    ],
    [
      'the flow was cancelled and cleans up',
      ['a'],
      {
        state: '$$cancelled',
        exit: 130,
        steps: [step('0', '$$cancelled'), done('cancel.sequence.0')],
        flow_definition: { cancel: toTree(['clean']), error: { name: 'tell' } },
      },
      ['0:cancelled', 'cancel.sequence.0:done', 'error:unreached', '#end:cancelled'],
    ],
  ];
  it.each(rows.map((row) => ({ row, name: row[0] })))('tell that $name', ({ row }) => {
    const [, tasks, job, states] = row;
    const ids = states.map((state) => state.slice(0, state.lastIndexOf(':')));
    expect(statesOf(tasks, job, ids)).toEqual(states);
  });

  it('count the items of a map and the runs of what is in it', () => {
    const tasks = [{ map: { over: 'x', do: ['a', 'b'] } }, 'c'];
    const steps = [
      mark('0', { items: [1, 2, 3] }),
      done('0.map.0.sequence.0'),
      done('0.map.0.sequence.1'),
      step('0.map.1.sequence.0', '$$error'),
      step('0.map.2.sequence.0', '$$active'),
    ];
    const { nodes } = pictureOf(toTree(tasks), { steps });
    const runsOf = (id: string): unknown => nodes.find((node) => node.id === id)?.runs;
    expect(runsOf('0')).toEqual({ total: 3, done: 1, failed: 1, open: 1 });
    expect(runsOf('0.map.*.sequence.0')).toEqual({ total: 3, done: 1, failed: 1, open: 1 });
    expect(runsOf('0.map.*.sequence.1')).toEqual({ total: 3, done: 1, failed: 0, open: 0 });
    expect(nodes.find(({ id }) => id === '0.map.*.sequence.0')?.failure).toBe(failure.message);
  });

  it('count the items that child jobs go over', () => {
    const tasks = [{ map: { over: 'x', do: 'a', slice: 2 } }];
    const steps = [
      mark('0', { items: [1, 2, 3, 4, 5], slice: 2 }),
      step('0.slice.0', '$$complete', { failed: 1 }),
      step('0.slice.1', '$$waiting', { child: 'c' }),
    ];
    const [, map, each] = pictureOf(toTree(tasks), { steps }).nodes;
    expect(map).toMatchObject({
      state: 'waiting',
      runs: { total: 5, done: 1, failed: 1, open: 2 },
    });
    expect(each).toMatchObject({ id: '0.map.*', state: 'waiting' });
  });

  it('tell what failed in a structure that may fail, though the job goes on', () => {
    const tasks = [{ sequence: [{ map: { over: 'x', do: 'a' } }], optional: true }, 'b'];
    const steps = [step('0.sequence.0', '$$error', { structure: 'map' }), step('1', '$$active')];
    const { nodes } = pictureOf(toTree(tasks), { steps });
    const stateOf = (path: string): unknown => nodes.find(({ id }) => id === path)?.state;
    expect([stateOf('0'), stateOf('0.sequence.0')]).toEqual(['done', 'failed']);
  });

  it('count the rounds of a loop', () => {
    const tasks = [{ loop: { max: 5, do: 'a' } }];
    const again = mark('0', { again: true });
    const steps = [again, done('0.loop.0'), again, step('0.loop.1', '$$active')];
    const [, loop] = pictureOf(toTree(tasks), { steps }).nodes;
    expect(loop).toMatchObject({ state: 'active', runs: { total: 2, done: 1, open: 1 } });
  });
});

describe('The states of any job that ends without trouble', () => {
  it('say nothing else than what was decided', minutes, () => {
    const wrong: Readonly<Record<string, readonly NodeState[]>> = {
      done: ['failed', 'pending', 'active'],
      failed: ['done', 'pending', 'active', 'skipped'],
      // What was broken off shows what was done or failed in it.
      open: ['pending', 'active', 'skipped'],
    };
    fc.assert(
      fc.property(calmScenario, (given) => {
        const job = simulate(given).revisions.at(-1)?.job as unknown as LiveJob;
        if (!Array.isArray(job.steps) || job.tasks === undefined) return;
        // Where an entry has finished the flow, its tree decides nothing any more.
        if (job.steps.some((one: Step) => 'finishes' in one)) return;
        const { nodes } = pictureOf(job.tasks, job);
        const isLeftOut = (given.messages ?? []).some((message) => 'skip' in message);
        for (const { node, path } of structuresIn(job.tasks, '')) {
          const state = nodes.find(({ id }) => id === path)?.state;
          if (state === undefined || node.structure === 'choice') continue;
          const { kind } = progressAt(job, node, path);
          // What was left out by hand is shown so, also where the job never came.
          const hasRun = job.steps.some(
            (one: Step) => isBelow(one, path) && one.state !== '$$skipped',
          );
          if (isLeftOut && kind === 'open' && state === 'skipped' && !hasRun) continue;
          expect(wrong[kind], `${path} is ${kind}`).not.toContain(state);
        }
      }),
      runs(200),
    );
  });
});

const isBelow = ({ path }: Step, above: string): boolean =>
  above === '' || path === above || path.startsWith(`${above}.`);

type Placed = { readonly node: Extract<Node, { structure: string }>; readonly path: string };

/** The structures that are there once: nothing in a map or a loop. */
function structuresIn(node: Node, path: string): readonly Placed[] {
  if (!isStructure(node)) return [];
  if (node.structure === 'map' || node.structure === 'loop') return [{ node, path }];
  return [
    { node, path },
    ...childrenOf(node, path).flatMap((child) => structuresIn(child.node, child.path)),
  ];
}

describe('The states of every run', () => {
  const tasks: WrittenNode = ['a', { map: { over: [1, 2], do: { task: 'b', error: 'h' } } }];
  const steps = [
    done('0'),
    mark('1', { items: [1, 2] }),
    step('1.map.0', '$$error'),
    done('1.map.0.error'),
  ];

  it('are there by the path in the job', () => {
    const { runs: all } = readTree(toTree(tasks), { steps });
    expect([...all].toSorted()).toEqual([
      ['', 'active'],
      ['0', 'done'],
      ['1', 'active'],
      ['1.map.0', 'recovered'],
      ['1.map.0.error', 'done'],
      ['1.map.1', 'pending'],
    ]);
  });

  it('are there for what deciders began, which no tree has', () => {
    const decider: WrittenNode = [{ task: 'd', decider: 'd' }];
    const begun = [done('0.decision.1'), step('0.activity.x', '$$active')];
    const { runs: all } = readTree(toTree(decider), { steps: begun });
    expect(all.get('0')).toBe('active');
    expect(all.get('0.activity.x')).toBe('active');
  });

  it('are those of the attempts, and of what is around them, where there is no tree', () => {
    const { runs: all } = readTree(undefined, { steps });
    expect([...all].toSorted()).toEqual([
      ['', 'done'],
      ['0', 'done'],
      ['1', 'done'],
      ['1.map', 'done'],
      ['1.map.0', 'recovered'],
      ['1.map.0.error', 'done'],
    ]);
  });
});
