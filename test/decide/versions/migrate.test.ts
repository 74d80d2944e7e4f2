import { describe, expect, it } from 'vitest';
import { command } from '../../../src/decide/requests/command.js';
import { migrated } from '../../../src/decide/versions/migrate.js';
import { movement } from '../../../src/decide/versions/movement.js';
import { obstacleTo } from '../../../src/decide/versions/obstacle.js';
import { isLiveJob, type Job, type LiveJob } from '../../../src/model/job.js';
import { without } from '../../../src/model/record.js';
import type { Step } from '../../../src/model/step.js';
import type { Task } from '../../../src/model/task.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import { flow, liveJob, newJob, t0, task, tasksOf, world } from '../../support/builders.js';
import type { FlowOptions, WorldOptions } from '../../support/builders.js';
import { begun, story, type Setting, type Story } from '../story.js';

/** A job of version 1 that has begun. */
function started(steps: WrittenNode[], more: Partial<Setting> = {}): Story {
  return begun(steps, { ...more, flow: { version: '1', ...more.flow } });
}

/** The definitions as they are stored: the job's flow, and version 2. */
function stored(
  it: Story,
  steps: WrittenNode[],
  more: FlowOptions = {},
  tasks: readonly Task[] = [],
): Story {
  const two = { ...flow(steps, { version: '2', ...more }), _rev: '1-two' };
  const known = tasksOf(two, tasks).map(({ name }) => name);
  const old = it.tasks.filter(({ name }) => !known.includes(name));
  return it.with({ flows: [it.flow, two], tasks: [...tasksOf(two, tasks), ...old] });
}

/** Why the job does not move to version 2; undefined: it does. */
function why(it: Story, to: string | undefined = '2'): string | undefined {
  const found = migrated(it.job, to, world({ flows: [it.flow], tasks: it.tasks, ...it.around }));
  if (found.kind === 'look_up') throw new Error('It asks.');
  return found.kind === 'moves' ? undefined : found.because;
}

const kept = (path: string, was: string, hold: string, now: string): string =>
  `Job j stays where it is: step ${path} (${was}) is ${hold}, and flow "f" version "2" has ${now} there. Keep ${was} at that place in the flow, or let the job end.`;

describe('a job that moves to another version', () => {
  // Shows X-28.
  it('goes on by it: what is done stays, what has not begun follows the new one', () => {
    const it = started(['a', 'b', 'c']).did('a', 'ra');
    stored(it, ['a', 'b', 'x', 'y']).ask('migrate', { to: '2', by: 'ann', reason: 'prices' });
    expect(it.running).toEqual(['b']);
    expect(it.liveJob).toMatchObject({
      ...{ flow_version: '2', flow_rev: '1-two', flow_pinned: true },
      requests: [
        {
          ...{ action: 'migrate', to: '2', by: 'ann', reason: 'prices', at: t0 },
          moved: { from: { version: '1', rev: '3-flow' }, to: { version: '2', rev: '1-two' } },
        },
      ],
    });
    it.did('b').did('x').did('y');
    expect(it.trail).toEqual([
      ...['a#1 $$complete', 'b#1 $$complete', 'x#1 $$complete', 'y#1 $$complete'],
    ]);
    expect(it.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('MV6: stays where something is added before what has begun', () => {
    const early = (was: string, path: string) =>
      `Job j stays where it is: step ${path} (${was}) has begun, and by flow "f" version "2" something else comes before it that is not done. Add steps behind what has begun, or let the job end.`;
    const ab = ['a', 'b'];
    const it = started([{ parallel: ab }, 'c'])
      .did('a')
      .did('b');
    expect(it.running).toEqual(['c']);
    expect(why(stored(it, [{ parallel: [...ab, 'x'] }, 'c']))).toBe(early('c', '1'));
    expect(why(stored(it, [{ parallel: ab }, 'c', 'x']))).toBeUndefined();
    const beside = started([{ parallel: [{ sequence: ['a'] }, 'b'] }]).did('a');
    const more = [{ parallel: [{ sequence: ['a', 'x'] }, 'b'] }];
    expect(why(stored(beside, more))).toBeUndefined();
    const held = started([{ parallel: ab }, { delay: 5 }])
      .did('a')
      .did('b');
    expect(why(stored(held, [{ parallel: [...ab, 'x'] }, { delay: 5 }]))).toBe(early('delay', '1'));
    const rests = started([{ parallel: ab }, 'c', 'd'], { world: { plugins: ['a', 'b', 'c'] } });
    rests.did('a').did('b').did('c');
    expect(why(stored(rests, [{ parallel: [...ab, 'x'] }, 'c', 'd']))).toBe(early('c', '1'));
  });

  it('takes settings and tasks of the new one, also the next attempt of what runs', () => {
    const it = started([{ task: 'a', retry: 1 }, 'b']);
    const tasks = [task('a', { params: { n: 2 }, timeout: 77 })];
    stored(it, [{ task: 'a', retry: 1 }, 'b'], { timeout: 9_999 }, tasks).ask('migrate', {
      to: '2',
    });
    it.broke('a').go();
    expect(it.live.params).toEqual({ n: 2 });
    expect(it.liveJob.flow_definition.timeout).toBe(9_999);
    expect(it.trail).toEqual(['a#1 $$error', 'a#2 $$active']);
  });

  it('without a version goes by the flow as it is stored now, and stays unpinned', () => {
    const it = started(['a', 'b']);
    const current = { ...flow(['a', 'x'], { version: '2', current: true }), _rev: '1-two' };
    it.with({ flows: [flow(['a', 'b'], { version: '1' }), current], tasks: tasksOf(current) });
    it.ask('migrate');
    expect(it.liveJob).toMatchObject({ flow_version: '2' });
    expect(it.liveJob).not.toHaveProperty('flow_pinned');
    expect(it.did('a').running).toEqual(['x']);
  });

  it('that asked for a version gets, without another, that one as it is stored now', () => {
    const it = started(['a', 'b'], { job: { flow_version: '1' } });
    const one = { ...flow(['a', 'z'], { version: '1' }), _rev: '9-one' };
    const two = flow(['a', 'x'], { version: '2', current: true });
    it.with({ flows: [one, two], tasks: tasksOf(flow(['a', 'x', 'z'])) }).ask('migrate');
    expect(it.did('a').running).toEqual(['z']);
  });

  it('loses its version when the flow has none now', () => {
    const it = started(['a', 'b']);
    const plain = { ...flow(['a', 'x']), _rev: '4-plain' };
    it.with({ flows: [plain], tasks: tasksOf(plain) }).ask('migrate');
    expect(it.liveJob).not.toHaveProperty('flow_version');
    expect(it.liveJob.requests?.[0]).toMatchObject({
      moved: { from: { version: '1' }, to: { rev: '4-plain' } },
    });
  });

  it('is looked at again although it slept', () => {
    const it = started([{ delay: 60_000 }, 'b']);
    expect(it.liveJob).toHaveProperty('next_due');
    stored(it, [{ delay: 5 }, 'x']);
    const asked = { _id: 'r', type: 'request', job: 'j', action: 'migrate', to: '2' } as const;
    const known = world({ flows: it.around.flows ?? [], tasks: it.around.tasks ?? [] });
    const commanded = command(it.job, asked, t0, known);
    if (commanded.kind !== 'applied') throw new Error(commanded.kind);
    expect(commanded.job).not.toHaveProperty('next_due');
  });

  it('begins by that version when it has not begun', () => {
    const job = newJob({ exec_after: t0 + 1_000 });
    const flows = [flow(['a']), flow(['b'], { version: '2' })];
    const around = world({ flows });
    expect(migrated(job, '2', around)).toEqual({
      kind: 'moves',
      job: { ...job, flow_version: '2' },
      moved: { from: {}, to: { version: '2' } },
    });
    const pinned = { ...job, flow_version: '1' };
    expect(migrated(pinned, '2', around)).toMatchObject({ moved: { from: { version: '1' } } });
    expect(migrated(pinned, '2', world({ flow: () => ({ kind: 'unknown' }) }))).toMatchObject({
      kind: 'look_up',
      flows: [{ name: 'f', owner: 'DEFAULT' }],
    });
  });

  it('MV5: keeps what users wrote, also for a step that has another position now', () => {
    const tasks = [task('c', { params: { from: 'task', n: 1 } })];
    const job = { params: { c: { n: 7 }, free: 'text', 'c-2': { own: 1 } } };
    const it = started([['a', 'b'], 'c'], { tasks, job });
    const next = [task('c', { params: { from: 'new', n: 2 } })];
    stored(it, [['a', 'b', 'x'], 'c', 'c'], {}, next).ask('migrate', { to: '2' });
    expect(it.liveJob.params).toMatchObject({
      free: 'text',
      'c-3': { from: 'new', n: 7, own: 1 },
      'c-4': { from: 'new', n: 7 },
    });
    expect(it.liveJob.params).not.toHaveProperty('c-2');
  });

  it('MV5: keeps a value in place of parameters where it was', () => {
    const it = started([['a', 'b'], 'c']);
    it.edit({ params: { 'c-2': 'text' } });
    stored(it, [['a', 'b', 'x'], 'c']).ask('migrate', { to: '2' });
    expect(it.liveJob.params).toMatchObject({ 'c-2': 'text' });
  });

  it('keeps the copies of tasks that a decider named for what runs', () => {
    const boss = { decider: 'boss' };
    const tasks = [task('t', { plugin: 'a', timeout: 77 })];
    const it = started([boss, 'b'], { tasks, world: { plugins: ['boss', 'a', 'b', 'x'] } });
    it.did('boss', [{ schedule: 't', id: 'one' }]);
    expect(it.running).toContain('t');
    stored(it, [boss, 'x']).ask('migrate', { to: '2' });
    expect(it.liveJob.definitions).toHaveProperty('t');
    it.did('t').did('boss', { complete: 1 });
    expect(it.running).toEqual(['x']);
    expect(it.liveJob.flow_version).toBe('2');
  });
});

describe('MV1: what has begun has the same place and the same work in both', () => {
  const w = { when: 'w', then: 'a' };
  const choosing = (): Story => {
    const it = started([{ choice: [w, { when: 'v', then: 'b' }] }]);
    it.answering({ '0.choice[0].when': false, '0.choice[1].when': true }).go();
    return it;
  };
  const waits = { wait: { signal: 'go' } };
  const handled = (): Story => started([{ task: 'a', error: 'h' }, 'b']).broke('a');
  const failing = (): Story =>
    started(['a', 'b'], { flow: { error: 'h' } })
      .did('a')
      .broke('b');
  const undoing = (): Story =>
    started([{ task: 'a', undo: 'ua' }, 'b'])
      .did('a')
      .broke('b');
  const cancelled = (): Story => {
    const it = started(['a'], { flow: { cancel: ['k', 'l'] } });
    it.ask('cancel').stopped();
    return it;
  };
  const retried = [{ task: 'a', retry: { limit: 1, delay: 500 } }, 'b'];

  it.each<[string, Story, WrittenNode[], FlowOptions, string]>([
    ['is done', started(['a', 'b']).did('a'), ['x', 'b'], {}, kept('0', 'a', 'done', 'x')],
    ['runs', started(['a', 'b']).did('a'), ['a', 'x'], {}, kept('1', 'b', 'running', 'x')],
    [
      'runs, and is gone',
      started(['a', 'b']).did('a'),
      ['a'],
      {},
      kept('1', 'b', 'running', 'nothing'),
    ],
    ['waits', started([waits]), ['x'], {}, kept('0', 'wait', 'waiting', 'x')],
    [
      'waits, of another kind',
      started([waits]),
      [{ task: 'wait' }],
      {},
      kept('0', 'wait wait', 'waiting', 'task wait'),
    ],
    [
      'is to be tried again',
      started(retried).broke('a'),
      ['x', 'b'],
      {},
      kept('0', 'a', 'to be tried again', 'x'),
    ],
    [
      'has failed and is passed over',
      started([{ task: 'a', optional: true }, 'b']).broke('a'),
      ['x', 'b'],
      {},
      kept('0', 'a', 'done', 'x'),
    ],
    [
      'is in another structure',
      started([['a', 'b']]).did('a'),
      [{ parallel: ['a', 'b'] }],
      {},
      kept('0.sequence.0', 'a', 'done', 'nothing'),
    ],
    [
      'is a structure',
      started(['a', 'b']).did('a'),
      [['a'], 'b'],
      {},
      kept('0', 'a', 'done', 'sequence'),
    ],
    [
      'is another structure',
      choosing(),
      [{ map: { over: [1], do: 'b' } }],
      {},
      kept('0', 'choice', 'done', 'map'),
    ],
    [
      'is the handler of a step',
      handled(),
      [{ task: 'a', error: 'i' }, 'b'],
      {},
      kept('0.error', 'h', 'running', 'i'),
    ],
    [
      'is the handler of a step, which has none',
      handled(),
      ['a', 'b'],
      {},
      kept('0.error', 'h', 'running', 'nothing'),
    ],
    [
      'handles what is no task now',
      handled(),
      [{ flow: 'a' }, 'b'],
      {},
      kept('0', 'task a', 'done', 'flow a'),
    ],
    [
      'is the handler of the flow',
      failing(),
      ['a', 'b'],
      { error: 'i' },
      kept('error', 'h', 'running', 'i'),
    ],
    [
      'is the handler of the flow, which has a branch',
      failing(),
      ['a', 'b'],
      { error: ['h'] },
      kept('error', 'h', 'running', 'sequence'),
    ],
    [
      'undoes a step',
      undoing(),
      [{ task: 'a', undo: 'ub' }, 'b'],
      {},
      kept('0.undo', 'ua', 'running', 'ub'),
    ],
    [
      'follows a cancel',
      cancelled(),
      ['a'],
      { cancel: ['m', 'l'] },
      kept('cancel.sequence.0', 'k', 'running', 'm'),
    ],
    [
      'is done after a cancel',
      cancelled().did('k'),
      ['a'],
      { cancel: ['m', 'l'] },
      kept('cancel.sequence.0', 'k', 'done', 'm'),
    ],
  ])('refuses where something that %s', (_title, it, steps, more, sentence) => {
    expect(why(stored(it, steps, more))).toBe(sentence);
  });

  it.each<[string, Story, WrittenNode[], FlowOptions]>([
    ['what has not begun', started(['a', 'b', 'c']), ['a', { parallel: ['x', 'y'] }], {}],
    ['names of steps', started([{ task: 'a', name: 'n' }]), [{ task: 'a', name: 'm' }], {}],
    ['parameters and limits', started(['a']), [{ task: 'a', params: { n: 1 }, timeout: 9 }], {}],
    ['the handler of a step that has not failed', started([{ task: 'a', error: 'h' }]), ['a'], {}],
    ['the undoing of what is done', undoing().did('ua'), [{ task: 'a', undo: 'ub' }, 'b'], {}],
    [
      'cases that were not chosen',
      choosing(),
      [
        {
          choice: [
            { when: 'u', then: 'x' },
            { when: 'v', then: 'b' },
          ],
        },
      ],
      {},
    ],
  ])('lets %s differ', (_title, it, steps, more) => {
    // What was undone ended the job; only the rule is asked.
    if (!isLiveJob(it.job)) {
      const next = liveJob(flow(steps, more));
      expect(obstacleTo({ ...it.job, state: 'a-0' } as unknown as LiveJob, next)).toBeUndefined();
    } else expect(why(stored(it, steps, more))).toBeUndefined();
  });

  it('binds a job to what was left out', () => {
    const it = started(['a', 'b', 'c']);
    it.ask('skip', { step: 'b' });
    expect(why(stored(it, ['a', 'x', 'c']))).toBe(kept('1', 'b', 'left out', 'x'));
  });

  it('lets what failed in an earlier run of the flow differ', () => {
    const it = started(['a', 'b'], { flow: { retry: { limit: 1, delay: 900 } } });
    it.did('a').broke('b');
    expect(it.liveJob.run).toBe(2);
    expect(why(stored(it, ['a', 'x']))).toBeUndefined();
    const passed = started([{ task: 'a', optional: true }, 'b'], {
      flow: { retry: { limit: 1, delay: 900 } },
    });
    passed.broke('a').broke('b');
    expect(why(stored(passed, ['x', 'b']))).toBe(kept('0', 'a', 'done', 'x'));
  });

  it('lets differ what an earlier run was to try again', () => {
    const it = started([{ task: 'a', retry: { limit: 1, delay: 500 } }, 'b']).broke('a');
    it.write({ run: 2 });
    expect(why(stored(it, ['x', 'b']))).toBeUndefined();
  });

  it('is bound by the last attempt at a place, not by those before', () => {
    const it = started([{ task: 'a', retry: 1 }, 'b']);
    it.broke('a').go();
    expect(it.trail).toEqual(['a#1 $$error', 'a#2 $$active']);
    expect(why(stored(it, ['x', 'b']))).toBe(kept('0', 'a', 'running', 'x'));
    expect(why(stored(it, ['a', 'x']))).toBeUndefined();
  });

  it('lets a structure that failed differ', () => {
    const it = choosing();
    const [mark] = it.steps as [Step];
    const next = liveJob(flow(['x']));
    const failed = { ...mark, state: '$$error', exit: 1 } as unknown as Step;
    expect(obstacleTo({ ...it.liveJob, steps: [mark] }, next)).toMatchObject({ path: '0' });
    expect(obstacleTo({ ...it.liveJob, steps: [failed] }, next)).toBeUndefined();
  });

  it('goes by what is on record where the copy in the job has lost it', () => {
    const it = started(['a', 'b']).did('a');
    it.write({ tasks: flow([]).tasks });
    expect(why(stored(it, ['x', 'b']))).toBe(kept('0', 'a', 'done', 'x'));
    const marked = choosing();
    marked.write({ tasks: flow([]).tasks });
    expect(why(stored(marked, ['x']))).toBe(kept('0', 'choice', 'done', 'x'));
    const next = liveJob(flow([{ choice: [w, w] }]));
    const [mark] = marked.steps as [Step];
    expect(obstacleTo({ ...marked.liveJob, steps: [mark] }, next)).toBeUndefined();
  });

  it('says where the root of the tasks differs', () => {
    const it = started(['a']);
    const tasks = { structure: 'choice', choice: [{ when: 'w', then: { task: 'a' } }] };
    const place = { index: 0, path: '', name: 'choice', task: 'choice', attempt: 1, run: 1 };
    const mark = {
      ...place,
      phase: 'main',
      structure: 'choice',
      state: '$$complete',
      end: t0,
      exit: 0,
      result: { chosen: null },
    };
    stored(it, ['x']).write({ tasks, steps: [mark] });
    expect(why(it)).toBe(
      'Job j stays where it is: the root of its tasks (choice) is done, and flow "f" version "2" has sequence there. Keep choice at that place in the flow, or let the job end.',
    );
  });
});

describe('a copy of the definition that somebody has changed', () => {
  it('binds nothing by what it has lost', () => {
    const it = started(['a', 'b'], { flow: { retry: { limit: 1, delay: 900 } } });
    it.did('a')
      .broke('b')
      .write({ tasks: flow(['a']).tasks });
    expect(why(stored(it, ['a', 'x']))).toBeUndefined();
    const runs = started(['a', 'b']).write({ definitions: {} });
    expect(why(stored(runs, ['a', 'x']))).toBeUndefined();
    const caught = started([{ try: 'a', catch: [{ do: 'b' }] }]).broke('a');
    caught.write({ tasks: flow(['c']).tasks, steps: caught.steps.slice(1) });
    expect(why(stored(caught, [{ try: 'a', catch: [{ do: 'b' }] }]))).toContain('0.catch.0');
  });
});

describe('MV2: what is under way is done by the same plugin or flow in both', () => {
  it.each<[string, Task, Task, string]>([
    ['plugin', task('a'), task('a', { plugin: 'p' }), kept('0', 'plugin a', 'running', 'plugin p')],
    ['flow', task('a', { flow: 'g' }), task('a'), kept('0', 'flow g', 'waiting', 'plugin a')],
  ])('refuses where the task has another %s', (_title, before, after, sentence) => {
    const it = started(['a', 'b'], { tasks: [before] });
    expect(why(stored(it, ['a', 'b'], {}, [after]))).toBe(sentence);
  });

  it('lets the plugin of what is done differ', () => {
    const it = started(['a', 'b']).did('a');
    expect(why(stored(it, ['a', 'b'], {}, [task('a', { plugin: 'p' })]))).toBeUndefined();
  });
});

describe('MV3: a way that was taken is there in both', () => {
  it('refuses where the case is gone', () => {
    const w = { when: 'w', then: 'b' };
    const it = started([{ choice: [{ when: 'v', then: 'a' }, w] }]);
    it.answering({ '0.choice[0].when': false, '0.choice[1].when': true });
    it.go();
    expect(why(stored(it, [{ choice: [w] }]))).toBe(kept('0.choice.1', 'b', 'chosen', 'nothing'));
  });

  it('lets cases differ of which none was taken', () => {
    const it = started([{ choice: [{ when: 'v', then: 'a' }] }, 'b']);
    it.answering({ '0.choice[0].when': false }).go();
    expect(it.running).toEqual(['b']);
    expect(why(stored(it, [{ choice: [{ when: 'u', then: 'x' }] }, 'b']))).toBeUndefined();
  });

  const caught = (errors: string): WrittenNode => ({
    ...{ try: 'a', catch: [{ errors: [errors], do: ['b', 'c'] }] },
  });
  it.each<[string, WrittenNode, string | undefined]>([
    [
      'refuses a branch that catches other failures',
      caught('Other'),
      'Job j stays where it is: step 0.catch.0 was begun for a failure, and flow "f" version "2" has other "errors" in that catch. Keep them as they are up to that branch, or let the job end.',
    ],
    [
      'lets the rest of the branch differ',
      { try: 'a', catch: [{ errors: ['Broken'], do: ['b'] }] },
      undefined,
    ],
  ])('%s', (_title, next, sentence) => {
    const it = started([caught('Broken')]).broke('a');
    expect(it.running).toEqual(['b']);
    expect(why(stored(it, [next]))).toBe(sentence);
  });

  it('looks at every catch around a branch, also at the root', () => {
    const inner = (errors: string): WrittenNode => ({ try: 'b', catch: [{ errors, do: 'c' }] });
    const tree = (outer: string, errors: string): WrittenNode[] => [
      { try: 'a', catch: [{ errors: [outer], do: inner(errors) }] },
    ];
    const it = started(tree('Broken', '*')).broke('a').broke('b');
    expect(it.running).toEqual(['c']);
    expect(why(stored(it, tree('Broken', '*')))).toBeUndefined();
    expect(why(stored(it, tree('Other', '*')))).toContain('step 0.catch.0 was begun');
    const root = (errors: string) =>
      flow([caught(errors)]).tasks as unknown as { sequence: [LiveJob['tasks']] };
    const at = { index: 1, path: 'catch.0.sequence.0', name: 'b', task: 'b', attempt: 1, run: 1 };
    const step = { ...at, phase: 'main', state: '$$complete', end: t0, exit: 0 } as Step;
    const job = { ...liveJob(flow(['a', 'b'])), tasks: root('Broken').sequence[0], steps: [step] };
    expect(obstacleTo(job, { ...job, tasks: root('Other').sequence[0] })).toMatchObject({
      path: 'catch.0',
    });
  });
});

describe('a job that cannot move', () => {
  const waiting = { wait: { signal: 'go' } };
  it.each<[string, Job, string]>([
    [
      'has ended',
      { ...newJob(), state: '$$complete' },
      'Job j has ended. "tws retry --latest" lets it go on by the flow as it is stored now.',
    ],
    [
      'has tasks of its own',
      { ...liveJob(flow(['a'])), flow_definition: { ...flow(['a']), name: '' } },
      'Job j has tasks of its own and goes by no stored flow. Submit a new job for the flow instead.',
    ],
    [
      'has tasks of its own under the name of a flow',
      without(liveJob(flow(['a'])), 'flow_rev'),
      'Job j has tasks of its own and goes by no stored flow. Submit a new job for the flow instead.',
    ],
    [
      'has tasks of its own, and has not begun',
      newJob({ tasks: flow(['a']).tasks }),
      'Job j has tasks of its own and goes by no stored flow. Submit a new job for the flow instead.',
    ],
    [
      'is a slice',
      {
        ...liveJob(flow(['a'])),
        slice: { path: '0', total: 1, before: [] },
        parent: { job: 'p', step: '0' },
      },
      'Job j goes over items of a map of job p. Move that job when the map is done.',
    ],
    [
      'has not begun, for a version that is not stored',
      newJob(),
      'Flow "f" of owner "DEFAULT" has no version "2"; its document has none. Store that version, or correct "flow_version" of the job.',
    ],
    [
      'goes by a flow that is not stored',
      { ...liveJob(flow(['a'])), flow_definition: { ...flow(['a']), name: 'g' } },
      'There is no flow "g" of owner "DEFAULT" or DEFAULT.',
    ],
  ])('says so when it %s', (_title, job, sentence) => {
    const found = migrated(job, '2', world({ flows: [flow(['a'])] }));
    expect(found).toMatchObject({ kind: 'stays' });
    expect('because' in found && found.because).toContain(sentence.slice(0, 25));
    if (!sentence.startsWith('There')) expect(found).toMatchObject({ because: sentence });
  });

  it('says so when it is there already', () => {
    const it = started(['a', 'b']);
    const at = {
      kind: 'there',
      because: 'Job j goes by flow "f" version "1" as it is stored now already.',
    };
    const around = world({ flows: [it.flow], tasks: it.tasks });
    expect(migrated(it.job, '1', around)).toEqual(at);
    expect(migrated(it.job, undefined, around)).toEqual(at);
    const asked = { _id: 'r', type: 'request', job: 'j', action: 'migrate', to: '1' } as const;
    expect(command(it.job, asked, t0, around)).toEqual({ kind: 'refused', because: at.because });
    const revised = it.tasks.map((one) => ({ ...one, _rev: '2-t' }));
    expect(migrated(it.job, '1', world({ flows: [it.flow], tasks: revised }))).toMatchObject({
      kind: 'moves',
    });
    const plain = without(liveJob(flow(['a'])), 'owner');
    const same = { flows: [flow(['a'])], tasks: tasksOf(flow(['a'])) };
    expect(migrated(plain, undefined, world(same))).toEqual({
      kind: 'there',
      because: 'Job j goes by flow "f" as it is stored now already.',
    });
    const fresh = newJob({ flow_version: '1' });
    expect(migrated(fresh, '1', around)).toEqual({
      kind: 'there',
      because: 'Job j begins by version "1" already.',
    });
    expect(migrated(newJob(), undefined, around)).toMatchObject({ kind: 'there' });
  });

  it('says so when the version is disabled, or of no use to it', () => {
    const it = started(['a', waiting]).did('a');
    expect(why(stored(it, ['a', waiting], { enabled: false }))).toBe(
      'Job j stays where it is: flow "f" version "2" is disabled. Enable it, or name another version.',
    );
    const schema = { type: 'object', required: ['n'] };
    expect(why(stored(it, ['a', waiting], { schema }))).toMatch(
      /^Job j stays where it is: The job's parameters do not suit/,
    );
    expect(why(stored(it, ['a', waiting]).with({ task: () => ({ kind: 'absent' }) }))).toMatch(
      /^Job j stays where it is: .*"a"/,
    );
  });

  it('MV4: goes over the items of a map in child jobs', () => {
    const map = { over: 'o', slice: 2, do: 'a' };
    const it = started([{ map }, 'b']).answering({ '0.map.over': [1, 2, 3] });
    it.go();
    expect(it.open[0]).toContain('slice');
    expect(why(stored(it, [{ map }, 'x']))).toBe(
      'Job j stays where it is: child jobs go over the map at step 0 and have copies of its definition. Move the job when the map is done.',
    );
  });

  it('keeps the refusal on record in the request alone', () => {
    const it = started(['a', 'b']);
    const asked = { _id: 'r', type: 'request', job: 'j', action: 'migrate', to: '2' } as const;
    const around = (more: WorldOptions) => world({ flows: [it.flow], tasks: it.tasks, ...more });
    expect(command(it.job, asked, t0, around({}))).toMatchObject({
      kind: 'refused',
      because: expect.stringContaining('has no version "2"') as string,
    });
    expect(command(it.job, asked, t0)).toMatchObject({ kind: 'look_up', flows: [{ name: 'f' }] });
    const two = flow(['a', 'x'], { version: '2' });
    const unknown = around({ flows: [two], task: () => ({ kind: 'unknown' }) });
    expect(command(it.job, asked, t0, unknown)).toMatchObject({
      kind: 'look_up',
      tasks: [{ name: 'a' }, { name: 'x' }],
    });
  });
});

it('a move of a job that had no stored flow names what is known', () => {
  const job = liveJob(flow(['a']));
  expect(movement(without(job, 'flow_rev'), job)).toEqual({ from: {}, to: { rev: '3-flow' } });
});

it('a retry with the latest definitions keeps on record from which to which it went', () => {
  const it = story({ steps: ['a', 'b'], flow: { version: '1' } });
  it.go();
  it.did('a').broke('b');
  const two = { ...flow(['a', 'x'], { version: '2', current: true }), _rev: '1-two' };
  it.with({ flows: [flow(['a', 'b'], { version: '1' }), two], tasks: tasksOf(two) });
  it.ask('retry', { latest: true });
  expect(it.liveJob.requests?.[0]).toMatchObject({
    action: 'retry',
    moved: { from: { version: '1', rev: '3-flow' }, to: { version: '2', rev: '1-two' } },
  });
});
