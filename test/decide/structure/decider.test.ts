import { describe, expect, it } from 'vitest';
import { story, type Story } from '../story.js';

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

  it('goes on as a new job', () => {
    const it = deciding({ job: { _id: 'j' } });
    it.did('boss', [{ continue_as_new: { n: 2 } }]);
    expect(it.children).toMatchObject([
      { _id: 'j~2', flow: 'f', params: { n: 2 }, continued_from: 'j' },
    ]);
    it.with({ children: { 'j~2': { kind: 'live' } } }).go();
    expect(it.job).toMatchObject({ state: '$$complete', exit: 0, continued_to: 'j~2' });
  });
});
