import { describe, expect, it } from 'vitest';
import { leafAt } from '../../src/reading/entries.js';
import { allResults } from '../../src/reading/results.js';
import { toTree } from '../../src/structures/to-tree.js';
import { t0, task } from '../support/builders.js';
import { story, type Story } from '../decide/story.js';

/** A job whose only step is a decider. */
function deciding(more: object = {}): Story {
  const it = story({
    steps: [{ decider: 'boss', name: 'plan' }, 'after'],
    tasks: [
      { type: 'task', name: 'a' },
      { type: 'task', name: 'b' },
    ],
    world: { freeSlots: 10, plugins: ['boss', 'a', 'b', 'after'] },
    ...more,
  });
  it.go();
  return it;
}

const paths = (it: Story): readonly string[] =>
  it.steps.map(({ path, state }) => `${path} ${state}`);

describe('a decider', () => {
  it('is asked first, and again whenever something that it began has ended', () => {
    const it = deciding();
    expect(it.running).toEqual(['boss']);
    it.did('boss', [
      { schedule: 'a', id: 'one', params: { n: 1 } },
      { schedule: 'b', id: 'two' },
    ]);
    expect(paths(it)).toEqual([
      '0.decision.0 $$complete',
      '0.activity.one $$active',
      '0.activity.two $$active',
    ]);
    expect(it.liveAt('a').params).toEqual({ n: 1 });
    it.did('a', 'ra');
    expect(it.running).toEqual(['b', 'boss']);
    it.did('b', 'rb');
    expect(it.running).toEqual(['boss']);
    it.did('boss', []);
    expect(it.running).toEqual(['boss']);
    it.did('boss', { complete: { sum: 3 } });
    expect(it.running).toEqual(['after']);
    it.did('after');
    expect(it.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('hears of failures and decides what they mean', () => {
    const it = deciding();
    it.did('boss', [{ schedule: 'a', id: 'x' }]).broke('a');
    expect(it.running).toEqual(['boss']);
    it.did('boss', { fail: { name: 'Given', message: 'It is given up.' } });
    expect(it.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Given' });
  });

  it('gives up with a sentence alone', () => {
    const it = deciding();
    it.did('boss', { fail: 'It is given up.' });
    expect(it.job).toMatchObject({
      failure: { name: 'DeciderFailed', message: 'It is given up.' },
    });
  });

  it('begins jobs of other flows, and notes what leads to nothing', () => {
    const it = deciding();
    it.did('boss', [{ record_marker: 'why' }, { start_child: 'inner', params: { n: 1 } }]);
    expect(it.steps.at(-1)).toMatchObject({ path: '0.child.0', state: '$$waiting' });
    expect(it.children).toMatchObject([{ flow: 'inner' }]);
  });

  it('goes on when it cancels what it has not begun', () => {
    const it = deciding();
    it.did('boss', [{ cancel: 'nobody' }, { schedule: 'a' }]);
    expect(paths(it)).toContain('0.activity.0 $$active');
  });

  it('races a timer against an activity and cancels the loser', () => {
    const it = deciding();
    it.did('boss', [
      { schedule: 'a', id: 'work' },
      { start_timer: 1000, id: 'late' },
    ]);
    it.at(500)
      .did('a')
      .did('boss', [{ cancel: 'late' }, { complete: true }]);
    expect(paths(it)).toEqual([
      '0.decision.0 $$complete',
      '0.timer.late $$cancelled',
      '0.activity.work $$complete',
      '0.decision.1 $$complete',
      '1 $$active',
    ]);
  });

  // Shows H-02.
  it('waits for signals when nothing else goes on', () => {
    const it = deciding();
    it.did('boss', []);
    expect(it.decide()).toMatchObject({ kind: 'wait' });
    it.edit({ signals: [{ id: 's', name: 'hey', at: 1 }] }).go();
    expect(it.running).toEqual(['boss']);
  });

  it('is told by failing when its answer cannot be read', () => {
    const it = deciding();
    it.did('boss', [{ shedule: 'a' }]);
    expect(it.ending).toMatchObject({ exit: 2, failure: 'DecisionInvalid' });
  });

  it.each(['undo', 'error', 'continue'])('may not give the id %s, which paths have', (id) => {
    const it = deciding();
    it.did('boss', [{ schedule: 'b' }, { schedule: 'a', id }]);
    expect(it.ending).toMatchObject({ exit: 2, failure: 'DecisionInvalid' });
    const message = `The decider did not answer with decisions: decision 1 has the id "${id}", a word of the engine; choose another id.`;
    expect(it.job).toMatchObject({ failure: { message } });
  });

  it.each([
    ['before', [{ schedule: 'a', id: '1' }, { schedule: 'b' }], ['1', '2']],
    ['after', [{ schedule: 'b' }, { schedule: 'a', id: '0' }], ['1', '0']],
    ['of another kind', [{ start_timer: 9, id: '1' }, { schedule: 'b' }], ['1', '2']],
    ['of two', [{ schedule: 'a' }, { schedule: 'b' }], ['0', '1']],
  ])('gives what has no id a number that is free: %s', (_title, decisions, ids) => {
    const it = deciding();
    it.did('boss', decisions);
    const begun = it.steps.slice(1).map(({ path }) => path.split('.')[2]);
    expect(begun).toEqual(ids);
  });

  it.each([
    ['a~b', 'a~b~2'],
    ['a~b~2', 'a~b~3'],
    ['a~9', 'a~10'],
    ['a~', 'a~~2'],
  ])('goes on after job %s as %s', (_id, next) => {
    const it = deciding({ job: { _id } });
    it.did('boss', [{ continue_as_new: true }]);
    expect(it.children).toMatchObject([{ _id: next, continued_from: _id }]);
  });

  // Shows K-04.
  it('goes on as a new job', () => {
    const data = { seen: 1 };
    const it = deciding({ job: { _id: 'j', data } });
    it.did('boss', [{ continue_as_new: { n: 2 } }]);
    expect(it.children).toMatchObject([
      { _id: 'j~2', flow: 'f', params: { n: 2 }, data, continued_from: 'j' },
    ]);
    it.with({ children: { 'j~2': { kind: 'live' } } }).go();
    expect(it.job).toMatchObject({ state: '$$complete', exit: 0, continued_to: 'j~2' });
  });
});

describe('a decider that ends otherwise than by its decisions', () => {
  const world = { plugins: ['d', 'a', 'h', 'z'], freeSlots: 9 };
  const given = { world, tasks: [task('a')] };

  it('is skipped when its condition does not hold, which is asked once', () => {
    const node = { decider: 'd', when: 'w' };
    const skipped = story({ steps: [node, 'z'], ...given }).answering({
      '0.decision.0.when': false,
    });
    skipped.go();
    expect(skipped.running).toEqual(['z']);
    const asked = story({ steps: [node, 'z'], ...given }).answering({ '0.decision.0.when': true });
    asked.go();
    asked.did('d', { schedule: 'a', id: 'a' }).did('a');
    expect(asked.open).toEqual(['0.decision.1']);
  });

  it('is done when its handler recovers it, with the result of the handler', () => {
    const steps = [
      { decider: 'd', error: 'h' },
      { task: 'z', params: { x: '{{results.d}}' } },
    ];
    const told = story({ steps, ...given });
    told.go();
    told.did('d', { schedule: 'a', id: 'a' }).did('a').broke('d');
    expect(told.running).toEqual(['h']);
    told.did('h', 'saved');
    expect(told.live).toMatchObject({ task: 'z', params: { x: 'saved' } });
  });

  it('goes on without it when it is optional, and what it began is given up', () => {
    const told = story({ steps: [{ decider: 'd', optional: true }, 'z'], ...given });
    told.go();
    const begun = [
      { schedule: 'a', id: 'a' },
      { start_timer: 5, id: 't' },
    ];
    told.did('d', begun).at(5).go();
    told.broke('d').stopped();
    expect(told.trail).toEqual([
      'd#1 $$complete',
      'delay#1 $$complete',
      'a#1 $$cancelled',
      'd#1 $$error',
      'z#1 $$active',
    ]);
  });

  it('may be skipped by somebody, with all that it began', () => {
    const told = story({ steps: [{ decider: 'd' }, 'z'], ...given });
    told.go();
    told.did('d', [{ start_timer: 500, id: 't' }]).ask('skip', { step: '0' });
    expect(told.trail).toEqual([
      'd#1 $$complete',
      'delay#1 $$cancelled',
      'd#1 $$skipped',
      'z#1 $$active',
    ]);
  });

  it('begins anew when something that it began was undone', () => {
    const tasks = [task('a', { undo: 'u' })];
    const told = story({
      steps: [{ decider: 'd' }, 'z'],
      tasks,
      world: { plugins: [...world.plugins, 'u'] },
    });
    told.go();
    told
      .did('d', { schedule: 'a', id: 'a' })
      .did('a')
      .did('d', { complete: true })
      .broke('z')
      .did('u');
    expect(told.ending).toMatchObject({ exit: 2 });
    told.ask('retry');
    expect(told.open).toEqual(['0.decision.0']);
    told.did('d', { complete: 'at once' });
    expect(told.running).toEqual(['z']);
  });

  it('keeps its first attempt in mind when it fails in one run and succeeds in the next', () => {
    const told = story({ steps: [{ decider: 'd' }, 'z'], flow: { retry: 1 }, ...given });
    told.go();
    told.did('d', { schedule: 'a', id: 'a' }).did('a').broke('d');
    expect(told.open).toEqual(['0.decision.1']);
    told.did('d', { complete: 1 });
    expect(told.running).toEqual(['z']);
  });

  it('ends with the flow in mode hard, also when nothing goes on', () => {
    const told = story({
      steps: [{ decider: 'd' }],
      flow: { timeout: 100, timeout_mode: 'hard' },
      world,
    });
    told.go();
    told.did('d', []);
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 100 });
    told.at(100).go();
    expect(told.ending).toMatchObject({ exit: 1, failure: 'FlowTimeout' });
  });
});

describe('decisions', () => {
  it('need no id, and may limit what they begin', () => {
    const it = deciding();
    const policy = { limit: 2 };
    it.did('boss', [{ schedule: 'a', retry: policy, timeout: 70 }, { schedule: 'b' }]);
    expect(paths(it)).toEqual([
      '0.decision.0 $$complete',
      '0.activity.0 $$active',
      '0.activity.1 $$active',
    ]);
    it.broke('a');
    expect(it.steps.at(1)).toMatchObject({ state: '$$error', due: t0 });
  });

  it('that cannot be carried out are told to the decider, also the same id twice', () => {
    const it = deciding();
    it.did('boss', [
      { start_timer: 900, id: 'x' },
      { start_timer: 500, id: 'x' },
      { record_marker: 'note', details: { n: 1 } },
    ]);
    expect(paths(it)).toEqual([
      '0.decision.0 $$complete',
      '0.timer.x $$waiting',
      '0.decision.1 $$active',
    ]);
  });

  it('changed by hand into what cannot be read decide nothing', () => {
    const it = deciding();
    it.did('boss', { complete: 1 });
    const [first] = it.steps;
    it.edit({ steps: [{ ...first, result: 'nonsense', seen: undefined }] });
    it.go();
    expect(it.last).toMatchObject({ path: '0.news.1', state: '$$waiting' });
    it.edit({ signals: [{ id: 's', name: 'hey', at: 1 }] }).go();
    expect(it.running).toEqual(['boss']);
  });

  it('may complete with nothing, or by going on as a new job', () => {
    const it = deciding();
    it.did('boss', { complete: null });
    expect(it.running).toEqual(['after']);
    expect(allResults(it.liveJob, new Map()).results).toMatchObject({ plan: null });
    const anew = deciding();
    anew.did('boss', [{ continue_as_new: true }]);
    expect(anew.children).toMatchObject([{ _id: 'j~2', params: {} }]);
    expect(allResults(anew.liveJob, new Map()).results).toEqual({});
  });

  it('name tasks that are looked up first, by the owner of the flow when the job has none', () => {
    const it = deciding();
    it.with({ task: () => ({ kind: 'unknown' }) }).edit({ owner: undefined });
    it.did('boss', { schedule: 'late', id: 'l' });
    expect(it.decide()).toMatchObject({
      kind: 'look_up',
      tasks: [{ name: 'late', owner: 'DEFAULT' }],
    });
  });
});

describe('a decider that goes on as a new job', () => {
  const next = (it: Story, child: object) => it.with({ children: { 'j~2': child as never } }).go();

  it('has the new job made again when it got lost, and is done when that has ended', () => {
    const it = deciding({ job: { _id: 'j' } });
    it.did('boss', [{ continue_as_new: { n: 2 } }]);
    const { children } = it;
    expect(next(it, { kind: 'absent' })).toMatchObject({ kind: 'spawn', children });
    const job = { _id: 'j~2', _rev: '1-x', type: 'job', state: '$$complete', exit: 0 };
    next(it, { kind: 'final', job });
    expect(it.job).toMatchObject({ state: '$$complete', exit: 0, continued_to: 'j~2' });
  });

  it('hands its tasks on when they stand in the job itself', () => {
    const steps = [{ decider: 'boss', name: 'plan' }];
    const it = deciding({ steps, job: { flow: undefined, tasks: toTree(steps) } });
    it.did('boss', [{ continue_as_new: {} }]);
    expect(it.children).toMatchObject([{ _id: 'j~2', tasks: it.liveJob.tasks }]);
    expect(it.children[0]).not.toHaveProperty('flow');
  });

  it('gives no parameters when its flow was changed by hand meanwhile', () => {
    const it = deciding();
    it.did('boss', [{ continue_as_new: { n: 2 } }]);
    it.edit({ tasks: toTree([['after']]) });
    expect(next(it, { kind: 'absent' })).toMatchObject({ children: [{ _id: 'j~2', params: {} }] });
  });
});

describe('a decider that asks for nothing while nothing is open', () => {
  it('waits for a signal, which is news for its next decision', () => {
    const it = deciding();
    it.did('boss', []);
    expect(paths(it)).toEqual(['0.decision.0 $$complete', '0.news.1 $$waiting']);
    expect(it.last).toMatchObject({ name: 'plan', task: 'news', news: 0 });
    expect(leafAt(it.liveJob, '0.news.1')).toMatchObject({ name: 'plan', entry: { news: true } });
    expect(it.decide()).toEqual({
      rule: 'structure',
      kind: 'wait',
      because: 'Step plan waits for any signal: its decider asked for nothing else.',
      asleep: true,
    });
    expect(it.liveJob).toHaveProperty('next_due');
    it.at(50).signal('go', 1);
    expect(paths(it)).toEqual([
      '0.decision.0 $$complete',
      '0.news.1 $$complete',
      '0.decision.1 $$active',
    ]);
    it.did('boss', []);
    expect(it.last).toMatchObject({ path: '0.news.2', state: '$$waiting', news: 1 });
    it.signal('go', 2).did('boss', { complete: 1 }).did('after');
    expect(it.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('does not count the wait for the time of the flow, and ends at a hard limit', () => {
    const patient = deciding({ flow: { timeout: 5_000 } });
    patient.did('boss', []);
    patient.at(60_000).go();
    expect(patient.last).toMatchObject({ state: '$$waiting' });
    patient.signal('go').did('boss', { complete: 1 });
    expect(patient.running).toEqual(['after']);
    const strict = deciding({ flow: { timeout: 5_000, timeout_mode: 'hard' } });
    strict.did('boss', []);
    expect(strict.decide()).toMatchObject({ kind: 'wait', until: t0 + 5_000 });
    strict.at(5_000).go();
    expect(strict.ending).toMatchObject({ exit: 1, failure: 'FlowTimeout' });
  });

  it('ends as cancelled when its job is cancelled', () => {
    const it = deciding();
    it.did('boss', []).edit({ cancel: true }).go();
    expect(it.ending).toMatchObject({ state: '$$cancelled' });
  });
});
