import { describe, expect, it } from 'vitest';
import { failChild } from '../../../src/decide/children/child.js';
import type { Child, Root } from '../../../src/decide/world.js';
import { maxDepth } from '../../../src/reading/parent.js';
import type { FinalJob } from '../../../src/model/job.js';
import type { JobRequest } from '../../../src/model/request.js';
import { widest } from '../../../src/model/limits.js';
import { exits } from '../../../src/model/step.js';
import { toTree } from '../../../src/structures/to-tree.js';
import { t0, task } from '../../support/builders.js';
import { story, type Setting, type Story } from '../story.js';

const tasks = [task('a', { flow: 'inner', params: { x: 1 } })];

/** A story in which step `a` waits for its child. */
function waiting(setting: Partial<Setting> = {}): Story {
  const told = story({ steps: ['a', 'b'], tasks, ...setting });
  told.go();
  return told;
}

const child = (more: Partial<FinalJob>): FinalJob => ({
  _id: 'j:0:1',
  _rev: '9-x',
  type: 'job',
  state: '$$complete',
  ...more,
});
const failure = { name: 'Broken', message: 'It is Broken.' };
const final = (more: Partial<FinalJob>) => ({
  children: { 'j:0:1': { kind: 'final' as const, job: child(more) } },
});

/** A story in which the child failed, the job with it, and somebody asked for more. */
function retried(
  there: Child,
  wish: Partial<JobRequest> = {},
  setting: Partial<Setting> = {},
): Story {
  const told = waiting(setting);
  told.with(final({ exit: 2 })).go();
  told.with({ children: { 'j:0:1': there } });
  return told.ask('retry', wish);
}

// Shows X-28.
it('has the child run the version that the step or its task asks for', () => {
  const told = waiting({ tasks: [task('a', { flow: 'inner', flow_version: '2' })] });
  expect(told.children).toMatchObject([{ flow: 'inner', flow_version: '2' }]);
  expect(told.with({ children: { 'j:0:1': { kind: 'absent' } } }).decide()).toMatchObject({
    kind: 'spawn',
    children: [{ flow_version: '2' }],
  });
  const inline = story({ steps: [{ flow: 'inner', version: '3' }] });
  inline.go();
  expect(inline.children).toMatchObject([{ flow: 'inner', flow_version: '3' }]);
});

describe('a child job that failed', () => {
  const failed = child({ flow: 'inner', exit: 2, run: 1, steps: [], failure });
  const ended: Child = { kind: 'final', job: failed };

  it('goes on in a further run of its parent, which waits for the end of that', () => {
    const told = retried(ended);
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$waiting']);
    expect(told.last).toMatchObject({ child: 'j:0:1', child_run: 2, run: 2 });
    const again = { ...failed, retry: {} };
    expect(told.children).toEqual([again]);
    expect(told.decide()).toMatchObject({ kind: 'spawn', children: [again] });
    told.with({ children: { 'j:0:1': { kind: 'final', job: again } } });
    expect(told.decide()).toMatchObject({ kind: 'wait' });
    told.with(final({ exit: 0, run: 2, result: 7 })).go();
    expect(told.steps[1]).toMatchObject({ state: '$$complete', result: 7 });
    expect(told.running).toEqual(['b']);
  });

  it('is told what is other than before', () => {
    const other = retried(ended, { params: { a: { x: 2 } } });
    expect(other.children).toEqual([{ ...failed, retry: { params: { x: 2 } } }]);
    const latest = retried(ended, { latest: true });
    expect(latest.children).toEqual([{ ...failed, retry: { latest: true } }]);
  });

  it.each<[string, Child, readonly string[]]>([
    ['somebody had it go on', { kind: 'live' }, ['a#2 $$waiting']],
    [
      'it ended well by now',
      { kind: 'final', job: child({ exit: 0 }) },
      ['a#2 $$complete', 'b#1 $$active'],
    ],
  ])('is waited for when %s', (_title, there, trail) => {
    const told = retried(there);
    expect(told.trail).toEqual(['a#1 $$error', ...trail]);
    expect(told.steps[1]).toMatchObject({ child: 'j:0:1', run: 2 });
  });

  it.each<[string, Child, Partial<JobRequest>?]>([
    ['it is gone', { kind: 'absent' }],
    ['it never began', { kind: 'final', job: child({ flow: 'inner', exit: 3 }) }],
    ['it cannot go on', { kind: 'final', job: { ...failed, retry_refused: 'It is odd.' } }],
    ['the step calls another flow', { kind: 'final', job: { ...failed, flow: 'older' } }],
    ['all is to be done again', ended, { from: 'a' }],
  ])('is followed by a new one when %s', (_title, there, wish) => {
    const told = retried(there, wish);
    expect(told.last).toMatchObject({ state: '$$waiting', child: 'j:0:2' });
    expect(told.last).not.toHaveProperty('child_run');
    expect(told.children).toMatchObject([{ _id: 'j:0:2', flow: 'inner', params: { x: 1 } }]);
  });

  it('is made when there was none, because the parameters could not be filled in', () => {
    const told = waiting({ tasks: [task('a', { flow: 'inner', params: { x: '{{' } })] });
    expect(told.ending).toMatchObject({ exit: 3 });
    told.ask('retry', { params: { a: { x: 2 } } });
    expect(told.children).toMatchObject([{ _id: 'j:0:2', params: { x: 2 } }]);
  });

  it('is looked for first', () => {
    expect(retried({ kind: 'unknown' }).decide()).toMatchObject({
      kind: 'look_up',
      children: ['j:0:1'],
    });
  });

  it('fails again, with the reason, when it cannot go on after all', () => {
    const told = retried(ended);
    told.with({
      children: { 'j:0:1': { kind: 'final', job: { ...failed, retry_refused: 'No.' } } },
    });
    told.go();
    expect(told.ending).toMatchObject({ exit: 2, failure: 'ChildFailed' });
  });

  it('is left to end, and followed by a new one, when it was given up', () => {
    const told = waiting().with({ children: { 'j:0:1': { kind: 'live' } } });
    told.edit({ cancel: true }).go();
    told.ask('retry');
    expect(told.last).toMatchObject({ state: '$$waiting', child: 'j:0:2' });
  });

  it('is followed by a new one when its step is tried again', () => {
    const told = waiting({ steps: [{ flow: 'inner', name: 'a', retry: 1 }] });
    told.with({ children: { 'j:0:1': ended } }).go();
    expect(told.last).toMatchObject({ child: 'j:0:2', run: 1 });
  });
});

describe('a step whose task is a flow', () => {
  // Shows F-10.
  it('makes a child job and waits for it, whatever plugins this engine has', () => {
    const told = waiting({
      job: { owner: 'acme', priority: 7, params: { 'a-0': { y: 2 } } },
      world: { plugins: [], freeSlots: 0 },
    });
    expect(told.last).toEqual({
      index: 0,
      path: '0',
      name: 'a',
      task: 'a',
      attempt: 1,
      run: 1,
      phase: 'main',
      state: '$$waiting',
      child: 'j:0:1',
      params: { x: 1, y: 2 },
      accepted: t0,
      start: t0,
    });
    expect(told.job).toMatchObject({ state: 'a-0' });
    expect(told.children).toEqual([
      {
        _id: 'j:0:1',
        type: 'job',
        flow: 'inner',
        owner: 'acme',
        parent: { job: 'j', step: '0', start: t0, depth: 1 },
        params: { x: 1, y: 2 },
        priority: 7,
      },
    ]);
  });

  it('looks for the child and waits while it lives', () => {
    const told = waiting();
    expect(told.decide()).toMatchObject({ kind: 'look_up', children: ['j:0:1'] });
    told.with({ children: { 'j:0:1': { kind: 'live' } } });
    expect(told.decide()).toEqual({
      rule: 'structure',
      kind: 'wait',
      because: 'Step a waits for job j:0:1.',
    });
  });

  it('makes a child again that got lost, the same one', () => {
    const told = waiting();
    const { children } = told;
    told.with({ children: { 'j:0:1': { kind: 'absent' } } });
    const intent = told.decide();
    expect(intent).toEqual({ rule: 'waiting steps', kind: 'spawn', job: told.job, children });
  });

  it('tells of a child that it makes again because the document was deleted, once', () => {
    const told = waiting();
    const { children } = told;
    told.at(5).with({ children: { 'j:0:1': { kind: 'absent', deleted: true } } });
    expect(told.go()).toMatchObject({ kind: 'spawn', children });
    const message =
      'The document of child job j:0:1, for which step a (0) waits, was deleted; the job was made again and runs from its beginning.';
    expect(told.job).toMatchObject({ problems: [{ path: 'steps[0].child', message }] });
    expect(told.last).toMatchObject({ state: '$$waiting', child: 'j:0:1', remade: t0 + 5 });
    expect(told.at(9).decide()).toEqual({
      rule: 'waiting steps',
      kind: 'spawn',
      job: told.job,
      children,
    });
    told.with(final({ exit: 0 })).go();
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$active']);
    expect(told.steps[0]).toHaveProperty('remade', t0 + 5);
  });

  it('makes a child again for the owner of the flow when the job names none', () => {
    const told = waiting().edit({ owner: undefined, steps: [] });
    told.edit({ steps: [{ ...waiting().last, params: undefined }] });
    told.with({ children: { 'j:0:1': { kind: 'absent' } } });
    const intent = told.decide();
    if (intent.kind !== 'spawn') throw new Error(intent.kind);
    expect(intent.children).toEqual([
      {
        _id: 'j:0:1',
        type: 'job',
        flow: 'inner',
        owner: 'DEFAULT',
        parent: { job: 'j', step: '0', start: t0, depth: 1 },
      },
    ]);
  });

  it('gives the child an id of its own when a former job of that id has left one', () => {
    const told = waiting();
    const { children } = told;
    told.at(5).with({ children: { 'j:0:1': { kind: 'foreign' } } });
    told.go();
    const own = `j:0:1:${t0}`;
    expect(told.steps).toEqual([{ ...waiting().last, child: own }]);
    expect(told.children).toEqual([{ ...children[0], _id: own }]);
    told.with({ children: { [own]: { kind: 'final', job: child({ _id: own, exit: 0 }) } } }).go();
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$active']);
  });

  it('fails when that id is taken as well', () => {
    const children = {
      'j:0:1': { kind: 'foreign' },
      [`j:0:1:${t0}`]: { kind: 'foreign' },
    } as const;
    const told = waiting({ steps: [{ task: 'a', retry: 5 }], flow: { retry: 5 } });
    told.with({ children }).go();
    expect(told.go()).toMatchObject({ kind: 'write' });
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ChildTaken' });
  });

  it('fails with its child also when the flow was changed by hand meanwhile', () => {
    const told = waiting().edit({ tasks: toTree([['b']]) });
    told.with(final({ exit: 5 })).go();
    expect(told.steps[0]).toMatchObject({ state: '$$error', failure: { name: 'ChildFailed' } });
  });

  it('fails without a reason when the child tells none', () => {
    const told = waiting().with(final({ exit: 5 }));
    told.go();
    expect(told.ending).toMatchObject({ exit: 5, failure: 'ChildFailed' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining('exit 5') as unknown },
    });
  });

  it('takes the result of the child', () => {
    const told = waiting();
    told.at(500).with(final({ exit: 0, result: { n: 1 } }));
    told.go();
    expect(told.steps[0]).toMatchObject({
      state: '$$complete',
      exit: 0,
      end: t0 + 500,
      result: { n: 1 },
    });
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$active']);
  });

  it('has no result when the child has none', () => {
    const told = waiting();
    told.with(final({ exit: 0 })).go();
    expect(told.steps[0]).not.toHaveProperty('result');
  });

  it.each([
    [
      'says why the child failed',
      { exit: 5, failure: { name: 'X', message: 'It broke.' } },
      5,
      'It broke.',
    ],
    [
      'says how a cancelled child ended',
      { exit: 130, state: '$$cancelled' as const },
      130,
      'exit 130',
    ],
    ['says so when the child has no exit', {}, 2, 'exit 2'],
  ])('%s', (_title, more, exit, reason) => {
    const told = waiting({ steps: [{ task: 'a', retry: 5 }], flow: { retry: 5 } });
    told.with(final(more)).go();
    expect(told.trail).toEqual(['a#1 $$error']);
    expect(told.last).toMatchObject({ failure: { name: 'ChildFailed' } });
    expect(told.job).toMatchObject({
      exit,
      failure: { message: expect.stringContaining(reason) as string },
    });
  });

  it('is handled like any step', () => {
    const told = waiting({ steps: [{ task: 'a', error: 'h' }] });
    told.with(final({ exit: 2 })).go();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$active']);
  });

  it('does not count as time of the flow while it waits, nor the time before', () => {
    const told = story({
      steps: ['a', 'b', 'c', 'd'],
      tasks,
      job: { paused: true },
      flow: { timeout: 1000 },
    });
    told.go();
    told.at(300).edit({ paused: false }).go();
    told
      .at(70_300)
      .with(final({ exit: 0 }))
      .go();
    expect(told.at(71_299).done().kind).toBe('claim');
    expect(told.at(71_300).done()).toMatchObject({ job: { failure: { name: 'FlowTimeout' } } });
  });

  it('does not count either when the step says only when it began', () => {
    const told = waiting({ steps: ['a', 'b', 'c'], flow: { timeout: 1000 } });
    told.edit({ steps: [{ ...told.last, accepted: undefined }] });
    told
      .at(900)
      .with(final({ exit: 0 }))
      .go();
    expect(told.at(1899).done().kind).toBe('claim');
  });
});

describe('a chain of child flows', () => {
  it('ends where so many jobs wait for each other', () => {
    const at = (depth: number) =>
      story({
        ...{ steps: [{ task: 'a', retry: 5 }], tasks, flow: { retry: 5 } },
        job: { parent: { job: 'p', step: '0', start: 1, depth } },
      });
    const deep = at(maxDepth - 1);
    expect(deep.go()).toMatchObject({ kind: 'spawn' });
    expect(deep.children).toMatchObject([{ parent: { job: 'j', depth: maxDepth } }]);
    expect(deep.children).toMatchObject([{ parent: { root: 'p' } }]);
    const tooDeep = at(maxDepth);
    tooDeep.go();
    expect(tooDeep.ending).toEqual({ state: '$$complete', exit: 3, failure: 'FlowTooDeep' });
    expect(tooDeep.trail).toEqual(['a#1 $$error']);
  });
});

describe('a job of a tree of jobs', () => {
  const grandchild = (root: Root) =>
    story({
      steps: [{ task: 'a' }],
      tasks,
      job: { parent: { job: 'p', step: '0', start: 1, depth: 2, root: 'top' } },
      world: { roots: { top: root } },
    });

  it('asks for its root before it begins, and tells its children of it', () => {
    expect(grandchild('unknown').decide()).toMatchObject({ kind: 'look_up', roots: ['top'] });
    const told = grandchild('live');
    expect(told.go()).toMatchObject({ kind: 'spawn' });
    expect(told.children).toMatchObject([{ parent: { job: 'j', root: 'top', depth: 3 } }]);
  });

  it('does not begin when too many jobs were made for its root', () => {
    const told = grandchild('crowded');
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'TooManyJobs' });
    expect((told.job as FinalJob).failure?.message).toContain('made for job top already');
  });

  it('is cancelled when that has ended: whatever asks for it is not needed any more', () => {
    const told = grandchild('final');
    told.go();
    expect(told.ending).toEqual({
      state: '$$cancelled',
      exit: exits.cancelled,
      failure: 'Cancelled',
    });
    expect((told.job as FinalJob).failure?.message).toContain(
      'job top, for which it was made, has ended',
    );
  });
});

describe('a child whose job is cancelled', () => {
  it('is given up, whatever is known of it', () => {
    const told = waiting().edit({ cancel: true });
    expect(told.decide()).toMatchObject({
      kind: 'write',
      abandons: [{ child: 'j:0:1', attempt: 1, run: 1 }],
    });
  });
});

describe('a child that the database refuses', () => {
  const why = { name: 'StoreRefused', message: 'No.' };

  it('fails its step, which is not tried again', () => {
    const told = waiting({ steps: [{ task: 'a', retry: 5 }], flow: { retry: 5 } });
    told.edit(failChild(told.liveJob, 'j:0:1', why, told.now)).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'StoreRefused' });
  });

  it('changes nothing when no step waits for it', () => {
    const { liveJob, now } = waiting();
    expect(failChild(liveJob, 'j:9:1', why, now)).toBe(liveJob);
  });

  // Shows F-10.
  it('that failed because of a job far below names that job and its failure, once', () => {
    const cause = { job: 'deep', name: 'Broken', message: 'It is Broken.' };
    const why = { name: 'ChildFailed', message: 'The child job x failed: …', cause };
    const told = waiting();
    told.with(final({ exit: 2, failure: why })).go();
    expect((told.job as FinalJob).failure).toMatchObject({
      name: 'ChildFailed',
      message: expect.stringMatching(
        /^The child job \S+ failed: job deep: It is Broken\.$/,
      ) as string,
      cause,
    });
  });
});

it('a child that failed in a branch of a catch is itself what failed', () => {
  const cause = { name: 'Declined', message: 'No.', step: 'pay' };
  const told = waiting();
  told.with(final({ exit: 2, failure: { name: 'Broken', message: 'It is Broken.', cause } })).go();
  expect((told.job as FinalJob).failure).toMatchObject({ cause: { name: 'Broken' } });
});

describe('a structure with many child flows', () => {
  it('makes so many of them with each revision', () => {
    const nodes = Array.from({ length: widest + 5 }, () => ({ flow: 'inner' }));
    const told = story({ steps: [{ parallel: nodes }] });
    expect(told.go()).toMatchObject({ kind: 'spawn', children: { length: widest } });
    const live = nodes.map((_, n) => [`j:0.parallel.${n}:1`, { kind: 'live' }] as const);
    told.with({ children: Object.fromEntries(live) });
    expect(told.go()).toMatchObject({ kind: 'spawn', children: { length: 5 } });
    expect(told.decide()).toMatchObject({ kind: 'wait' });
  });
});
