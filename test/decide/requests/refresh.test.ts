import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/decide/intent.js';
import { difference } from '../../../src/decide/start/params.js';
import { refreshMove } from '../../../src/decide/requests/refresh.js';
import { without } from '../../../src/model/record.js';
import type { LiveJob } from '../../../src/model/job.js';
import type { Step } from '../../../src/model/step.js';
import type { Task } from '../../../src/model/task.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import {
  flow,
  liveJob,
  t0,
  task,
  tasksOf,
  world,
  type FlowOptions,
  type WorldOptions,
} from '../../support/builders.js';
import { story, type Setting, type Story } from '../story.js';

/** A job that has begun. */
function begun(steps: WrittenNode[], more: Partial<Setting> = {}): Story {
  const it = story({ steps, world: { freeSlots: 9 }, ...more });
  it.go();
  return it;
}

/** `a` is done, `b` failed. */
const failing = (more: Partial<Setting> = {}): Story =>
  begun(['a', 'b'], more).did('a', 'ra').broke('b');

/** What the library answers from now on. */
function changed(
  it: Story,
  steps: WrittenNode[],
  tasks: Task[] = [],
  more: FlowOptions = {},
): Story {
  const latest = flow(steps, more);
  return it.with({ flows: [latest], tasks: tasksOf(latest, tasks) });
}

/** Retries the job with the latest definitions. */
function retry(it: Story, wish: object = {}): Intent {
  it.edit({ retry: { latest: true, ...wish } }).go();
  return it.go();
}

describe('a retry with the latest definitions', () => {
  it('goes on by the flow as it is now', () => {
    const it = changed(failing(), ['a', 'x', 'y']);
    retry(it);
    expect(it.trail).toEqual(['a#1 $$complete', 'b#1 $$error', 'x#2 $$active']);
    expect(it.job).not.toHaveProperty('refresh');
    it.did('x').did('y');
    expect(it.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('goes by the tasks and settings as they are now', () => {
    const it = changed(failing(), ['a', 'b'], [task('b', { plugin: 'other' })], { timeout: 9999 });
    retry(it);
    expect(it.live.plugin).toBe('other');
    expect(it.liveJob.flow_definition.timeout).toBe(9999);
  });

  it('goes by the old ones when it does not ask for the latest', () => {
    const it = changed(failing(), ['a', 'x']).with({ plugins: ['a', 'b', 'x'] });
    it.edit({ retry: true }).go();
    it.go();
    expect(it.running).toEqual(['b']);
  });

  it('keeps the revision of the flow when it was read from the store', () => {
    const it = failing();
    it.with({ flows: [{ ...flow(['a', 'b']), _rev: '4-next' } as ReturnType<typeof flow>] });
    retry(it);
    expect(it.liveJob.flow_rev).toBe('4-next');
    const { _rev, ...bare } = flow(['a', 'b']);
    it.broke('b').with({ flows: [bare] });
    retry(it);
    expect(_rev).toBe('3-flow');
    expect(it.liveJob.flow_rev).toBe('4-next');
  });

  it('keeps which edition of the flow it goes by now', () => {
    const it = changed(failing({ flow: { version: '1' } }), ['a', 'b'], [], { version: '2' });
    expect(it.job).toMatchObject({ flow_version: '1' });
    retry(it);
    expect(it.liveJob.flow_version).toBe('2');
    changed(it.broke('b'), ['a', 'b']);
    retry(it);
    expect(it.liveJob).not.toHaveProperty('flow_version');
  });

  // Shows X-28.
  it('stays with the version that it asked for; without one it goes by the current one', () => {
    const latest = [
      flow(['a', 'x'], { version: '1' }),
      flow(['a', 'y'], { version: '2', current: true }),
    ];
    const around = { flows: latest, tasks: tasksOf(flow(['a', 'b', 'x', 'y'])) };
    const after = (job: Record<string, unknown>): Story => {
      const it = failing({ flow: { version: '1' }, job }).with(around);
      retry(it);
      return it;
    };
    const asked = after({ flow_version: '1' });
    expect(asked.running).toEqual(['x']);
    expect(asked.liveJob).toMatchObject({ flow_version: '1', flow_pinned: true });
    expect(after({}).running).toEqual(['y']);
  });

  it('looks up the flow and its tasks when they are not known', () => {
    const it = failing().with({ flow: () => ({ kind: 'unknown' }) });
    expect(retry(it)).toMatchObject({ kind: 'look_up', flows: [{ name: 'f', owner: 'DEFAULT' }] });
    const latest = flow(['a', 'x']);
    it.with({
      flow: () => ({ kind: 'found', value: latest }),
      task: () => ({ kind: 'unknown' }),
    });
    expect(it.go()).toMatchObject({
      kind: 'look_up',
      tasks: [
        { name: 'a', owner: 'DEFAULT' },
        { name: 'x', owner: 'DEFAULT' },
      ],
    });
  });

  const problems = [{ path: 'tasks', message: 'It is wrong.' }];
  it.each<[string, WorldOptions, string]>([
    ['flow is gone', { flow: () => ({ kind: 'absent' }) }, 'FlowMissing'],
    [
      'flow is there twice',
      { flow: () => ({ kind: 'ambiguous', ids: ['1', '2'] }) },
      'FlowAmbiguous',
    ],
    ['flow is wrong', { flow: () => ({ kind: 'invalid', id: '1', problems }) }, 'InvalidFlow'],
    ['task is gone', { task: () => ({ kind: 'absent' }) }, 'TaskMissing'],
  ])('ends the job again when its %s', (_title, around, name) => {
    const it = failing().with(around);
    retry(it);
    expect(it.ending).toEqual({ state: '$$complete', exit: 3, failure: name });
    expect(it.job).not.toHaveProperty('refresh');
    expect(it.trail).toEqual(['a#1 $$complete', 'b#1 $$error']);
  });

  const latest = { refresh: true } as const;
  it('has nothing to go by when the job carries its own tasks', () => {
    const job = { ...liveJob(flow(['a'])), ...latest };
    const own = { ...job, flow_definition: { ...job.flow_definition, name: '' } };
    expect(refreshMove(own, t0, world())).toEqual({
      kind: 'change',
      job: without(own as LiveJob, 'refresh'),
    });
  });

  it('looks among the common definitions when the job has no owner and no parameters', () => {
    const bare = without(liveJob(flow(['a'])), 'owner', 'params');
    const now = flow(['a', 'b']);
    const around = world({ flows: [now], tasks: tasksOf(now, [task('b', { params: { n: 1 } })]) });
    expect(refreshMove({ ...bare, ...latest }, t0, around)).toMatchObject({
      kind: 'change',
      job: { params: { 'a-0': {}, 'b-1': { n: 1 } } },
    });
  });
});

describe('what is done already', () => {
  const refusal = (step: string, was: string, now: string): string =>
    `The flow has changed at step ${step}, which is done or chosen already (it was ${was}, it is ${now} now); retry without the latest definitions, or submit a new job.`;

  const mapping = (): Story => {
    const it = begun([{ map: { over: 'o', do: 'a' } }, 'b']).answering({ '0.map.over': [1] });
    it.go();
    return it.did('a').broke('b');
  };
  const looping = (): Story => {
    const it = begun([{ loop: { while: 'w', max: 2, do: 'a' } }, 'b']);
    it.answering({ '0.loop.0.while': true, '0.loop.1.while': false }).go();
    return it.did('a').broke('b');
  };
  it.each<[string, Story, WrittenNode[], string]>([
    ['has another task', failing(), ['x', 'b'], refusal('0', 'a', 'x')],
    [
      'is gone',
      begun(['a', 'b', 'c']).did('a').did('b').broke('c'),
      ['a'],
      refusal('1', 'b', 'gone'),
    ],
    ['is a structure', failing(), [['a'], 'b'], refusal('0', 'a', 'sequence')],
    [
      'is another structure',
      mapping(),
      [{ loop: { max: 1, do: 'a' } }, 'b'],
      refusal('0', 'map', 'loop'),
    ],
  ])('refuses a flow in which it %s', (_title, it, steps, message) => {
    retry(changed(it, steps));
    expect(it.job).toMatchObject({
      state: '$$complete',
      exit: 3,
      failure: { name: 'RefreshRefused', message },
    });
    expect(it.job).not.toHaveProperty('refresh');
  });

  const w = { when: 'w', then: 'a' };
  const v = { when: 'v', then: 'b' };
  /** A choice of which one case failed. */
  const choosing = (steps: WrittenNode[], at: string, v: boolean): Story => {
    const it = begun(steps).answering({
      [`${at}choice[0].when`]: false,
      [`${at}choice[1].when`]: v,
    });
    it.go();
    return it.broke(v ? 'b' : 'c');
  };
  const one: WrittenNode[] = [{ choice: [w, v], default: 'c' }];
  it.each<[string, Story, WrittenNode[], string]>([
    [
      'case',
      choosing(one, '0.', true),
      [{ choice: [w], default: 'c' }],
      refusal('0.choice.1', 'b', 'gone'),
    ],
    [
      'default',
      choosing(one, '0.', false),
      [{ choice: [w, v] }],
      refusal('0.default', 'c', 'gone'),
    ],
    [
      'case of one item of a map',
      choosing([{ map: { over: [1], do: { choice: [w, v] } } }], '0.map.0.', true),
      [{ map: { over: [1], do: { choice: [w] } } }],
      refusal('0.map.0.choice.1', 'b', 'gone'),
    ],
    [
      'case, itself a structure,',
      choosing([{ choice: [w, { when: 'v', then: ['b', 'c'] }] }], '0.', true),
      [{ choice: [w] }],
      refusal('0.choice.1', 'sequence', 'gone'),
    ],
  ])(
    'refuses a flow without the %s that was taken, and goes on by the old one',
    (_t, it, steps, message) => {
      const failed = it.steps.findLast(({ state }) => state === '$$error')?.task as string;
      retry(changed(it, steps).with({ plugins: ['a', 'b', 'c'] }));
      expect(it.job).toMatchObject({ exit: 3, failure: { name: 'RefreshRefused', message } });
      it.edit({ retry: true }).go();
      it.go();
      expect(it.running).toEqual([failed]);
    },
  );

  it.each<[string, WrittenNode[], string]>([
    ['has another task', [{ choice: [w, { when: 'v', then: 'x' }] }], 'x'],
    ['lies in a choice of other cases', [{ choice: [{ when: 'u', then: 'a' }, v, w] }], 'b'],
  ])('lets a case that was taken and failed go on when it %s', (_title, steps, next) => {
    const it = choosing(one, '0.', true);
    retry(changed(it, steps));
    expect(it.running).toEqual([next]);
  });

  it('leaves a record that names no case to those who look at it', () => {
    const it = choosing(one, '0.', true);
    const steps = it.steps.map((step) =>
      step.structure === undefined ? step : { ...step, result: { chosen: 7 } },
    );
    retry(changed(it.write({ steps }), [{ choice: [w] }]));
    expect(it.ending.failure).toBe('MarkUnfit');
  });

  it('asks nothing of the case when the choice is to be done again', () => {
    const it = begun(['p', { choice: [w, v] }]).answering({
      '1.choice[0].when': false,
      '1.choice[1].when': true,
    });
    it.did('p').go();
    it.broke('b').answering({ '1.choice[0].when': true });
    retry(changed(it, ['p', { choice: [w] }]), { from: 'p' });
    it.did('p').go();
    expect(it.running).toEqual(['a']);
  });

  it('stays done at its place, also a structure', () => {
    const it = changed(looping(), [{ loop: { while: 'w', max: 5, do: 'a' } }, 'x']);
    retry(it);
    expect(it.running).toEqual(['x']);
  });

  it('is only what counts: attempts that failed bind no flow', () => {
    const it = begun([{ task: 'a', retry: 1 }, 'b'])
      .broke('a')
      .did('a')
      .broke('b');
    retry(changed(it, ['a', 'x']));
    expect(it.running).toEqual(['x']);
  });

  it('is not what a handler or the undoing did', () => {
    const steps = [{ task: 'a', undo: 'ua' }, 'b'];
    const it = begun(steps, { flow: { error: 'h' } })
      .did('a')
      .broke('b');
    while (it.running[0] !== undefined) it.did(it.running[0]);
    expect(it.ending).toMatchObject({ exit: 2 });
    retry(changed(it, ['a', 'x']));
    expect(it.ending.failure).not.toBe('RefreshRefused');
  });

  it('is what a decider decided, not what it had others do', () => {
    const boss = { decider: 'boss', name: 'plan' };
    const world: WorldOptions = { freeSlots: 9, plugins: ['boss', 'a', 'b', 'x'] };
    const made = begun([boss, 'b'], { tasks: [task('a')], world });
    made
      .did('boss', [{ schedule: 'a', id: 'one' }])
      .did('a')
      .did('boss', { complete: 1 });
    const failed = made.broke('b').job;
    retry(changed(made, [boss, 'x'], [task('a')]));
    expect(made.running).toEqual(['x']);
    made.job = failed;
    retry(changed(made, ['x', 'b'], [task('a')]));
    expect(made.job).toMatchObject({
      failure: { message: refusal('0.decision.0', 'boss', 'x') },
    });
  });

  it('is no structure of which nothing could be found out', () => {
    const job = { ...liveJob(flow([{ map: { over: 'o', do: 'a' } }])), refresh: true };
    const failure = { name: 'OverInvalid', message: 'It is no list.' };
    const ended = { state: '$$error', end: t0, exit: 3, failure } as const;
    const place = { index: 0, path: '0', name: 'map', task: 'map', attempt: 1, run: 1 };
    const mark: Step = { ...place, phase: 'main', structure: 'map', ...ended };
    const now = flow(['b']);
    const around = world({ flows: [now], tasks: tasksOf(now) });
    expect(refreshMove({ ...job, steps: [mark] }, t0, around)).toMatchObject({
      job: { tasks: now.tasks },
    });
  });
});

describe('the parameters of a job with the latest definitions', () => {
  it('are the new ones, but for those that the user wrote', () => {
    const old = task('b', { params: { kept: 1, deep: { x: 1, y: 1 }, gone: 1 } });
    const it = failing({
      tasks: [old],
      job: { params: { b: { deep: { y: 9 } }, free: 'text', 'a-0': { mine: 1 } } },
    });
    const next = task('b', { params: { kept: 2, deep: { x: 2, y: 2, z: 2 }, fresh: 2 } });
    retry(changed(it, ['a', 'b'], [next]));
    expect(it.live.params).toEqual({ kept: 2, deep: { x: 2, y: 9, z: 2 }, fresh: 2 });
    expect(it.liveJob.params).toMatchObject({ free: 'text', 'a-0': { mine: 1 } });
  });

  it('are those that the retry changed', () => {
    const it = failing({ tasks: [task('b', { params: { n: 1, m: 1 } })] });
    changed(it, ['a', 'b'], [task('b', { params: { n: 2, m: 2 } })]);
    retry(it, { params: { b: { n: 7 } } });
    expect(it.live.params).toEqual({ n: 7, m: 2 });
  });

  it('are whatever the user put in their place', () => {
    const it = failing();
    it.edit({ params: { 'a-0': 'text' } });
    retry(changed(it, ['a', 'b']));
    expect(it.liveJob.params).toMatchObject({ 'a-0': 'text' });
  });
});

describe('difference', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, object]>([
    ['is empty between equals', { a: 1, b: [1, { c: 2 }] }, { a: 1, b: [1, { c: 2 }] }, {}],
    ['has what is another value', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 2 }],
    ['has what the defaults lack', { a: 1 }, {}, { a: 1 }],
    ['has nothing of what only the defaults have', {}, { a: 1 }, {}],
    [
      'goes into objects',
      { a: { b: 1, c: { d: 2 } } },
      { a: { b: 1, c: { d: 3 } } },
      { a: { c: { d: 2 } } },
    ],
    ['leaves out objects that are the same', { a: { b: 1 }, c: 1 }, { a: { b: 1 } }, { c: 1 }],
    ['has a list as a whole', { a: [1, 2] }, { a: [1, 3] }, { a: [1, 2] }],
    ['has an object where no other was', { a: { b: 1 } }, { a: 1 }, { a: { b: 1 } }],
    ['has a value where an object was', { a: 1 }, { a: { b: 1 } }, { a: 1 }],
    ['takes nothing that every object has for a default', { toString: 1 }, {}, { toString: 1 }],
  ])('%s', (_title, params, defaults, own) => {
    expect(difference(params, defaults)).toEqual(own);
  });
});
