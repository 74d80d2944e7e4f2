import { describe, expect, it } from 'vitest';
import { inputOf } from '../../src/decide/start/prepare.js';
import { failureFor } from '../../src/decide/start/failure-for.js';
import { countsSince, withoutStaleBranches } from '../../src/reading/attempts.js';
import { leafAt } from '../../src/reading/entries.js';
import type { LiveJob } from '../../src/model/job.js';
import type { Step } from '../../src/model/step.js';
import type { Leaf } from '../../src/model/tree.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { toTree } from '../../src/structures/to-tree.js';
import { pictureOf } from '../../src/picture/picture-of.js';
import { task } from '../support/builders.js';
import { endings, story, type Story } from '../decide/story.js';

const pay = {
  task: 'pay',
  retry: 1,
  catch: [
    { errors: ['Declined', 'HTTP_4*'], do: ['refund', 'tell'], as: 'declined' },
    { errors: '*', do: 'alarm' },
  ],
} as const;

function caught(name: string, node: WrittenNode = pay): Story {
  const told = story({ steps: [node, 'ship'], flow: { retry: 0 } });
  told.go();
  return told.broke('pay', name).broke('pay', name);
}

const seenAt = (told: Story, path: string) =>
  inputOf(told.liveJob, { leaf: leafAt(told.liveJob, path) as Leaf, phase: 'main' });

describe('a catch', () => {
  // Shows X-04.
  it.each([
    ['the clause that names the failure', 'Declined', ['refund']],
    ['the clause whose pattern matches', 'HTTP_402', ['refund']],
    ['the clause for any failure', 'Broken', ['alarm']],
  ])('goes on with %s, after the retries', (_what, name, running) => {
    const told = caught(name);
    expect(told.running).toEqual(running);
    expect(told.trail.slice(0, 2)).toEqual(['pay#1 $$error', 'pay#2 $$error']);
  });

  it('is passed over when what is tried succeeds', () => {
    const told = story({ steps: [pay, 'ship'] });
    told.go();
    expect(told.did('pay', 1).running).toEqual(['ship']);
    expect(seenAt(told, '1').results).toEqual({ pay: 1, 'pay-0': 1 });
    expect(failureFor(told.liveJob, { path: '0.catch.1' })).toEqual({});
  });

  it('fails the flow when no clause is for the failure', () => {
    const told = caught('Broken', { ...pay, catch: [{ errors: ['Declined'], do: 'refund' }] });
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
  });

  it('comes after the handler of the step, which may recover it', () => {
    const told = caught('Declined', { ...pay, error: 'h' });
    expect(told.running).toEqual(['h']);
    expect(told.did('h').running).toEqual(['ship']);
    expect(caught('Declined', { ...pay, error: 'h' }).broke('h').running).toEqual(['refund']);
  });

  // Shows X-04.
  it('gives its branch the failure, also under the name in "as"', () => {
    const told = caught('Declined');
    const failure = {
      ...{ name: 'Declined', message: 'It is Declined.', code: null, kind: null },
      ...{ step: 'pay', exit: 2, attempt: 2 },
    };
    expect(failureFor(told.liveJob, { path: '0.catch.0.sequence.0' })).toEqual({ failure });
    expect(seenAt(told, '0.catch.0.sequence.0').results).toEqual({ declined: failure });
    expect(failureFor(told.liveJob, { path: '0.try' })).toEqual({});
    const none = ['7.catch.0', '1.catch.0', '1.catch.0', '0.graph.catch.a'];
    for (const path of none) expect(failureFor(told.liveJob, { path })).toEqual({});
    const asked = caught('Broken');
    expect(seenAt(asked, '0.catch.1').results).toEqual({});
  });

  it('lets the last result of its branch stand for that of the entry', () => {
    const told = caught('Declined').did('refund', 'r').did('tell', 't');
    expect(told.running).toEqual(['ship']);
    const { results, parent_results, previous } = seenAt(told, '1');
    expect(results).toMatchObject({ pay: 't', 'pay-0': 't', refund: 'r', tell: 't' });
    expect([parent_results['0'], previous]).toEqual(['t', 't']);
    expect(told.did('ship').ending).toEqual(endings.well);
  });

  it('lets it stand for that of a structure, by its name', () => {
    const both = { parallel: ['pay', 'log'], name: 'both' };
    const told = story({
      steps: [{ ...both, catch: [{ do: 'alarm' }] }, 'ship'],
      world: { freeSlots: 2 },
    });
    told.go();
    told.did('log', 1).broke('pay');
    expect(seenAt(told, '0.catch.0').results).toMatchObject({ log: 1 });
    told.did('alarm', 2);
    expect(seenAt(told, '1').results).toMatchObject({ both: 2, log: 1 });
  });

  it('sees what fails in a task that is optional, which counts for the whole', () => {
    const declined = { errors: ['Declined'], do: 'refund' };
    const optional = (name: string, node: object = {}, inner: object = {}): Story => {
      const told = story({
        steps: [{ try: { task: 'pay', ...inner }, catch: [declined], ...node }, 'ship'],
        tasks: [task('pay', { optional: true })],
      });
      told.go();
      return told.broke('pay', name);
    };
    expect(optional('Declined').running).toEqual(['refund']);
    expect(optional('Declined').broke('refund').running).toEqual(['ship']);
    const passed = optional('Broken');
    expect(passed.running).toEqual(['ship']);
    const { nodes } = pictureOf(passed.liveJob.tasks, passed.liveJob);
    expect(nodes.find(({ id }) => id === '0')).toMatchObject({ state: 'done' });
    expect(optional('Broken', { optional: false }).ending.failure).toBe('Broken');
    // What says so in what is tried is passed over there.
    expect(optional('Declined', {}, { optional: true }).running).toEqual(['ship']);
  });

  it('may do nothing, which passes over the failure', () => {
    const told = caught('Broken', { task: 'pay', retry: 1, catch: [{ do: [] }] });
    expect(told.running).toEqual(['ship']);
    expect(seenAt(told, '1').results).toEqual({});
  });

  it('fails with its branch, and says what was the cause', () => {
    const told = caught('Declined').broke('refund', 'NoMoney');
    expect(told.job).toMatchObject({
      exit: 2,
      failure: { name: 'NoMoney', step: 'refund', cause: { name: 'Declined', step: 'pay' } },
    });
  });

  it('says the cause of the cause', () => {
    const inner = { task: 'refund', catch: [{ do: 'alarm' }] };
    const node = { task: 'pay', retry: 1, catch: [{ do: inner }] };
    const told = caught('Declined', node).broke('refund', 'NoMoney').broke('alarm', 'NoBell');
    const cause = { name: 'NoMoney', cause: { name: 'Declined' } };
    expect(told.job).toMatchObject({ failure: { name: 'NoBell', cause } });
    expect(told.job).not.toHaveProperty('failure.cause.code');
  });

  it('keeps the code of the cause', () => {
    const told = story({ steps: [{ task: 'pay', catch: [{ do: 'alarm' }] }] });
    told.go();
    const coded = { name: 'Error', code: 'E1', message: 'No.' };
    told.end({ kind: 'failed', failure: coded });
    told.broke('alarm');
    expect(told.job).toMatchObject({ failure: { cause: { code: 'E1' } } });
  });

  it('does not catch a cancel', () => {
    const told = story({ steps: [{ task: 'pay', catch: [{ do: 'alarm' }] }] });
    told.go();
    told.end({ kind: 'cancelled' }, 'pay');
    expect(told.ending).toMatchObject({ exit: 130, failure: 'Cancelled' });
  });

  it('waits for what is left of what was tried', () => {
    const racing = { parallel: ['pay', 'log'], on_fail: 'cancel_rest' };
    const told = story({
      steps: [{ try: racing, catch: [{ do: 'alarm' }] }],
      world: { freeSlots: 2 },
    });
    told.go();
    told.broke('pay');
    expect(told.running).toEqual(['log']);
    expect(told.stopped().running).toEqual(['alarm']);
  });

  it('does not matter with its failure when the node is optional', () => {
    const told = caught('Broken', { ...pay, optional: true }).broke('alarm');
    expect(told.running).toEqual(['ship']);
  });
});

describe('a catch in a further run of the flow', () => {
  const failed = (): Story => caught('Declined').did('refund').broke('tell');

  it('goes on in its branch', () => {
    const told = failed().ask('retry');
    expect(told.running).toEqual(['tell']);
    expect(failureFor(told.liveJob, { path: '0.catch.0.sequence.1' })).toMatchObject({
      failure: { name: 'Declined' },
    });
    expect(told.did('tell', 3).running).toEqual(['ship']);
  });

  it('goes on behind a step of its branch that is skipped', () => {
    expect(failed().ask('skip', { step: 'tell' }).running).toEqual(['ship']);
  });

  it('tries again where a retry asks for that, and then begins the branch anew', () => {
    const told = failed().ask('retry', { from: '0.try' });
    expect(told.running).toEqual(['pay']);
    told.broke('pay', 'Declined').broke('pay', 'Declined');
    expect(told.running).toEqual(['refund']);
  });

  it('begins a branch anew where what was tried was undone', () => {
    const book = { sequence: [{ task: 'book', undo: 'unbook' }, 'pay'] };
    const steps = [{ ...book, catch: [{ do: ['refund', 'tell'] }] }, 'ship'];
    const told = story({ steps });
    told.go();
    told.did('book').broke('pay').did('refund').did('tell').broke('ship').did('unbook');
    told.ask('retry');
    expect(told.running).toEqual(['book']);
    told.did('book').broke('pay');
    expect(told.running).toEqual(['refund']);
    expect(countsSince(told.liveJob, '0.catch.0.sequence.1')).toBe(2);
    expect(told.did('refund').did('tell').running).toEqual(['ship']);
  });

  it('begins at a step of the branch where a retry asks for that', () => {
    const told = failed().ask('retry', { from: 'refund' });
    expect(told.running).toEqual(['refund']);
  });
});

describe('steps in the branch of a catch', () => {
  const at = (path: string, run: number) => ({ path, run }) as unknown as Step;

  it('are stale when what it tries was tried again since', () => {
    const steps = [at('catch.0', 1), at('try', 1), at('try', 2), at('3.catch.0', 1), at('5', 1)];
    const job = { run: 3, steps } as unknown as LiveJob;
    const left = withoutStaleBranches(job, steps).map(({ path }) => path);
    expect(left).toEqual(['try', 'try', '3.catch.0', '5']);
  });
});

describe('the stored form of a catch', () => {
  const stored = (node: WrittenNode) => toTree([node])['sequence' as never][0];

  it.each<[string, WrittenNode, object]>([
    [
      'holds an entry with its own keys',
      { task: 'a', name: 'n', when: 'x', optional: true, catch: [{ do: 'b' }] },
      { optional: true, try: { task: 'a', name: 'n', when: 'x' } },
    ],
    [
      'has the name of a structure',
      { sequence: ['a'], name: 'n', catch: [{ do: 'b' }] },
      { name: 'n', try: { structure: 'sequence', sequence: [{ task: 'a' }] } },
    ],
    [
      'leaves a parallel what it reads itself',
      { parallel: ['a'], join: 'any', cancel_rest: true, catch: [{ do: 'b' }] },
      { try: { structure: 'parallel', parallel: [{ task: 'a' }], join: 'any', cancel_rest: true } },
    ],
  ])('%s', (_what, written, expected) => {
    const node = stored(written);
    expect(node).toEqual({ structure: 'catch', catch: [{ do: { task: 'b' } }], ...expected });
    expect(stored(node)).toEqual(node);
  });

  it('has the place of a node in its graph', () => {
    const graph = { a: 'a', b: { task: 'b', after: ['a'], join: 'done', catch: [{ do: 'c' }] } };
    const [node] = (toTree([{ graph }]) as unknown as { sequence: [{ graph: object }] }).sequence;
    expect(node.graph).toMatchObject({ b: { structure: 'catch', after: ['a'], join: 'done' } });
    const told = story({ steps: [{ graph }] });
    told.go();
    expect(told.broke('a').running).toEqual(['b']);
    expect(told.broke('b').running).toEqual(['c']);
  });
});

describe('the picture of a catch', () => {
  const picture = (steps: readonly object[], more: object = {}) =>
    pictureOf(toTree([pay]), { steps: steps as never, ...more });
  const states = (steps: readonly object[], more?: object) =>
    Object.fromEntries(picture(steps, more).nodes.map(({ id, state }) => [id, state]));
  const step = (path: string, state: string) => ({
    ...{ path, state, name: 't', task: 't', index: 0, attempt: 1, run: 1, phase: 'main' },
    ...{ end: 1, exit: 2, failure: { name: 'Declined', message: 'No.' } },
  });

  it('has an edge to each branch, with the failures it is for', () => {
    const labels = picture([]).edges.flatMap(({ from, label }) => (from === '0' ? [label] : []));
    expect(labels).toEqual([undefined, 'on Declined, HTTP_4*', 'on a failure']);
  });

  it.each([
    ['before it begins', [], { '0': 'pending', '0.catch.1': 'pending' }],
    [
      'while its branch runs',
      [step('0.try', '$$error'), step('0.catch.1', '$$active')],
      { '0': 'active', '0.try': 'failed' },
    ],
    [
      'when its branch is done',
      [step('0.try', '$$error'), step('0.catch.1', '$$complete')],
      { '0': 'recovered', '0.catch.1': 'done', '0.catch.0.sequence.0': 'unreached' },
    ],
    [
      'when its branch failed',
      [step('0.try', '$$error'), step('0.catch.1', '$$error')],
      { '0': 'failed' },
    ],
    [
      'when it is tried again',
      [step('0.try', '$$active'), step('0.catch.1', '$$error')],
      { '0': 'active' },
    ],
  ])('shows how it stands %s', (_when, steps, expected) => {
    expect(states(steps)).toMatchObject(expected);
  });

  it('shows the branch of the last run, not of one before what was tried again', () => {
    const now = (path: string, state: string) => ({ ...step(path, state), run: 2 });
    const steps = [
      ...[step('0.try', '$$error'), step('0.catch.1', '$$error')],
      ...[now('0.try', '$$error'), now('0.catch.0.sequence.0', '$$active')],
    ];
    expect(states(steps, { run: 2 })).toMatchObject({ '0': 'active', '0.catch.1': 'unreached' });
  });

  it('shows what failed in a structure as passed over where a branch for any failure does nothing', () => {
    const tree = toTree([{ parallel: ['a', 'b'], catch: [{ do: [] }] }]);
    const steps = [step('0.try.parallel.0', '$$error'), step('0.try.parallel.1', '$$error')];
    const { nodes } = pictureOf(tree, { steps: steps as never });
    expect(nodes.find(({ id }) => id === '0')).toMatchObject({ state: 'recovered' });
  });

  it('shows a branch that does nothing as recovered', () => {
    const tree = toTree([{ task: 'a', catch: [{ do: [] }] }, 'b']);
    const steps = [step('0.try', '$$error'), step('1', '$$active')] as never;
    const { nodes } = pictureOf(tree, { steps });
    expect(nodes.find(({ id }) => id === '0')).toMatchObject({ state: 'recovered' });
  });
});
