import { describe, expect, it } from 'vitest';
import { lastAttempt, lastRunBelow } from '../../src/reading/attempts.js';
import { entryOf, leafAt, firstIndexAt } from '../../src/reading/entries.js';
import { isFrom } from '../../src/reading/order.js';
import { decisionMaker } from '../../src/structures/paths.js';
import type { LiveJob } from '../../src/model/job.js';
import type { Step } from '../../src/model/step.js';
import { toTree } from '../../src/structures/to-tree.js';
import { flow, liveJob, t0 } from '../support/builders.js';

const tree = toTree([
  'a',
  { parallel: ['b', ['c', 'd']] },
  { batch: ['e', ['f', 'g']], on_success: 'ok', on_failure: 'bad', on_complete: ['end', 'more'] },
  {
    graph: {
      x: 'h',
      y1: { task: 'i', after: ['x'] },
      y2: { task: 'j', after: ['x'] },
      z: { task: 'k', after: ['y1', 'y2'] },
      lone: ['l', 'm'],
    },
  },
  { choice: [{ when: 'w', then: ['n', 'o'] }], default: ['p', 'q'] },
  { map: { over: [1, 2], do: ['r', 's'] } },
  { loop: { max: 9, do: ['t', 'u'] } },
  ['v', 'w'],
]);

describe('isFrom', () => {
  const cases: readonly [string, string, string, boolean][] = [
    ['takes the step itself', '0', '0', true],
    ['takes a handler of the step', '0.error', '0', true],
    ['takes the undoing of the step', '0.undo', '0', true],
    ['takes what a decider began', '0.activity.one', '0', true],
    ['takes what follows in a sequence', '7.sequence.0', '0', true],
    ['takes the undoing of what follows', '7.sequence.0.undo', '0', true],
    ['leaves what stands before in a sequence', '0', '7.sequence.0', false],
    ['takes what follows in an inner sequence', '7.sequence.1', '7.sequence.0', true],
    ['leaves what stands before in an inner sequence', '7.sequence.0', '7.sequence.1', false],
    ['leaves the handler of the flow', 'error', '0', false],
    ['leaves the cancel branch', 'cancel.sequence.0', '0', false],
    ['takes only the handler of the flow where that is meant', 'error', 'error', true],
    ['leaves the flow where its handler is meant', '0', 'error', false],
    ['takes all when the whole flow is meant', '3.graph.x', '', true],
    ['takes what is in a structure that is meant', '1.parallel.1.sequence.0', '1', true],
    ['leaves what stands before a structure that is meant', '0', '1', false],
    ['leaves what runs beside it in a parallel', '1.parallel.0', '1.parallel.1', false],
    ['leaves what runs beside it, also after it', '1.parallel.1.sequence.0', '1.parallel.0', false],
    [
      'takes what follows within a parallel',
      '1.parallel.1.sequence.1',
      '1.parallel.1.sequence.0',
      true,
    ],
    ['leaves what runs beside it in a batch', '2.batch.1.sequence.0', '2.batch.0', false],
    ['takes what follows within a batch', '2.batch.1.sequence.1', '2.batch.1.sequence.0', true],
    ['takes the callback after a batch', '2.on_success', '2.batch.0', true],
    ['leaves another callback', '2.on_complete.sequence.0', '2.on_failure', false],
    ['leaves an earlier callback', '2.on_success', '2.on_complete.sequence.0', false],
    ['leaves the batch before its callback', '2.batch.0', '2.on_success', false],
    [
      'takes what follows within a callback',
      '2.on_complete.sequence.1',
      '2.on_complete.sequence.0',
      true,
    ],
    ['takes what is right after it in a graph', '3.graph.y1', '3.graph.x', true],
    ['takes what is after it over other nodes', '3.graph.z', '3.graph.x', true],
    ['leaves what is before it in a graph', '3.graph.x', '3.graph.z', false],
    ['leaves what is beside it in a graph', '3.graph.z', '3.graph.lone', false],
    ['leaves a node that the graph has not', '3.graph.gone', '3.graph.x', false],
    ['takes what follows within a graph', '3.graph.lone.sequence.1', '3.graph.lone', true],
    ['leaves the other way of a choice', '4.default.sequence.0', '4.choice.0.sequence.0', false],
    ['takes what follows on the way of a choice', '4.choice.0.sequence.1', '4.choice.0', true],
    ['takes what follows on the default way', '4.default.sequence.1', '4.default.sequence.0', true],
    ['leaves what was found out for a choice', '4', '4.choice.0', false],
    ['leaves another item of a map', '5.map.1.sequence.0', '5.map.0.sequence.0', false],
    ['takes every item for *', '5.map.1.sequence.1', '5.map.*.sequence.0', true],
    [
      'leaves what stands before it in every item',
      '5.map.1.sequence.0',
      '5.map.*.sequence.1',
      false,
    ],
    ['leaves the list of a map', '5', '5.map.0.sequence.0', false],
    ['takes the list of a map that is meant', '5', '5', true],
    ['takes the items of a map that is meant', '5.map.1.sequence.0', '5', true],
    ['takes what is after a map that is meant', '7.sequence.0', '5', true],
    ['leaves what is before a map that is meant', '4', '5', false],
    ['takes a structure in every item for *', '5.map.1.sequence.0', '5.map.*', true],
    ['leaves the list around it', '5', '5.map.*', false],
    ['takes a later round', '6.loop.2.sequence.0', '6.loop.1.sequence.1', true],
    ['leaves an earlier round', '6.loop.0.sequence.1', '6.loop.1.sequence.0', false],
    ['asks again whether a loop goes on', '6', '6.loop.1.sequence.0', true],
  ];
  it.each(cases)('%s', (_title, path, from, expected) => {
    expect(isFrom(path, from, tree)).toBe(expected);
  });

  it('reads the paths of a flow that is no sequence', () => {
    const root = toTree({ graph: { x: 'a', y: { task: 'b', after: ['x'] } } });
    expect(isFrom('graph.y', 'graph.x', root)).toBe(true);
    expect(isFrom('graph.x', 'graph.y', root)).toBe(false);
  });

  it('takes the steps that a flow has no more when they are meant', () => {
    expect(isFrom('4.choice.7', '4.choice.7', tree)).toBe(true);
    expect(isFrom('4.choice.7', '4.choice.8', tree)).toBe(false);
  });
});

/** A completed attempt. */
const did = (path: string, run: number, more: Partial<Step> = {}): Step =>
  ({
    index: 0,
    path,
    name: path,
    task: 'a',
    attempt: 1,
    run,
    phase: 'main',
    state: '$$complete',
    end: t0,
    exit: 0,
    ...more,
  }) as Step;

const job = (steps: readonly Step[], more: Partial<LiveJob> = {}): LiveJob => ({
  ...liveJob(flow(['a', { decider: 'boss' }, 'b'], { cancel: ['c', 'd'] })),
  steps,
  ...more,
});

describe('what counts of earlier runs', () => {
  it.each<[string, Step, Partial<LiveJob>, boolean]>([
    ['what is done counts on', did('0', 1), { run: 2 }, true],
    [
      'what was done before the job began anew does not',
      did('0', 1),
      { run: 2, first_run: 2 },
      false,
    ],
    ['the handler of the flow does not', did('error', 1), { run: 2 }, false],
    ['the cancel branch does not', did('cancel.sequence.0', 1), { run: 2 }, false],
    ['the cancel branch of this run does', did('cancel.sequence.0', 2), { run: 2 }, true],
    [
      'what is to be done again does not',
      did('0', 1),
      { run: 2, redo: [{ from: '0', run: 2 }] },
      false,
    ],
    ['what comes after it does not', did('2', 1), { run: 2, redo: [{ from: '0', run: 2 }] }, false],
    ['what stands before it does', did('0', 1), { run: 2, redo: [{ from: '2', run: 2 }] }, true],
    ['what was done since then does', did('0', 2), { run: 2, redo: [{ from: '0', run: 2 }] }, true],
    [
      'a wish for a later run changes nothing',
      did('0', 1),
      { run: 2, redo: [{ from: '0', run: 3 }] },
      true,
    ],
  ])('%s', (_title, step, more, counts) => {
    const it = job([step], more);
    expect(lastAttempt(it, step.path)).toBe(counts ? step : undefined);
    expect(lastRunBelow(it, step.path)).toBe(counts ? step.run : undefined);
  });

  const undone = (path: string, run: number, more: Partial<Step> = {}) =>
    did(path, run, { phase: 'undo', ...more });
  it.each<[string, Step, boolean]>([
    ['begins anew when something of it was undone', undone('1.activity.one.undo', 1), false],
    ['begins anew when a child of it was undone', undone('1.child.one.undo', 1), false],
    ['goes on when something of it is undone in this run', undone('1.activity.one.undo', 2), true],
    ['goes on when another step was undone', undone('0.undo', 1), true],
    [
      'goes on when the undoing failed',
      undone('1.activity.one.undo', 1, { state: '$$error' }),
      true,
    ],
  ])('a decider %s', (_title, step, goesOn) => {
    const decision = did('1.decision.0', 1);
    const it = job([decision, did('0', 1), step], { run: 2 });
    expect(lastAttempt(it, '1.decision.0')).toBe(goesOn ? decision : undefined);
    expect(lastAttempt(it, '0')).toBeDefined();
  });
});

describe('leafAt', () => {
  const begun = { schedule: 'a', id: 'one' };
  const it_ = job([did('1.decision.0', 1, { result: [begun] })]);
  it.each([
    ['a step', '0', 'a'],
    ['a step of the cancel branch', 'cancel.sequence.1', 'd'],
    ['a decision', '1.decision.3', 'boss'],
    ['what a decision began', '1.activity.one', 'a'],
    ['nothing that no decision began', '1.activity.two', undefined],
    ['nothing below a step that decides nothing', '0.activity.one', undefined],
    ['nothing below a step that is not there', '9.continue', undefined],
    ['nothing for a handler', '0.error', undefined],
  ])('finds %s', (_title, path, task) => {
    expect(leafAt(it_, path)?.entry.task).toBe(task);
    expect(entryOf(it_, path)?.task).toBe(task);
  });

  it('finds how a decider goes on as a new job', () => {
    expect(leafAt(it_, '1.continue')?.entry.continues).toBe(true);
  });

  it('finds nothing in a cancel branch that is not there', () => {
    const plain = liveJob(flow(['a']));
    expect(leafAt(plain, 'cancel.sequence.0')).toBeUndefined();
    expect(firstIndexAt(plain, 'cancel.sequence.0')).toBe(0);
  });

  it.each([
    ['of the flow', '2', 2],
    ['of the cancel branch', 'cancel.sequence.1', 1],
    ['that is nowhere', '9', 0],
  ])('numbers an entry %s', (_title, path, index) => {
    expect(firstIndexAt(it_, path)).toBe(index);
  });
});

it.each([
  ['0.decision.12', '0'],
  ['0.activity.one', '0.activity.one'],
  ['0', '0'],
])('the maker of the decision %s is %s', (path, maker) => {
  expect(decisionMaker(path)).toBe(maker);
});
