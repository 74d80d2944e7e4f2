import { describe, expect, it } from 'vitest';
import { tellInvalid } from '../../../src/decide/schedules/decide-schedule.js';
import { slotJobId, type Schedule } from '../../../src/model/schedule.js';
import { decideOnce, emptyStore, look, progressIn, scheduleDoc, written } from './simulated.js';

const t0 = Date.UTC(2026, 0, 1);
const second = 1_000;
const minute = 60_000;
const hour = 3_600_000;
const at = (slot: number): string => slotJobId('schedule:me:s', slot);

/** A schedule that an engine has taken up at `now`, and what is stored then. */
function taken(more: object, now = t0) {
  const stored = emptyStore();
  const { schedule } = look(scheduleDoc(more), now, stored);
  return { schedule, stored };
}

/** Looks at it at each of these times, one after the other. */
function looked({ schedule, stored }: ReturnType<typeof taken>, ...times: readonly number[]) {
  let current = schedule;
  for (const time of times) current = look(current, time, stored).schedule;
  return { schedule: current, stored };
}

const kindsOf = (schedule: Schedule) =>
  progressIn(schedule).recent.map(({ slot, kind }) => [slot - t0, kind]);

describe('a new schedule', () => {
  it('is due at its next slot, and nothing before it was missed', () => {
    const { schedule, stored } = taken({ every: hour }, t0 + 5);
    expect(schedule.next_due).toBe(t0 + hour);
    expect(progressIn(schedule)).toMatchObject({ edition: 2, slot: t0 + hour, missed: 0 });
    expect(stored.jobs.size).toBe(0);
  });

  it('says until when it waits, and why', () => {
    const { schedule, stored } = taken({ every: hour });
    expect(look(schedule, t0, stored).end).toEqual({
      ...{ kind: 'wait', until: t0 + hour },
      because: 'It is due at 2026-01-01T01:00:00.000Z.',
    });
  });

  it.each([
    ['just passed', t0 - minute + second, 1],
    ['passed long ago', t0 - minute - 1, 0],
  ])('with a time of "at" that has %s starts %3$s jobs', (_title, time, count) => {
    const { schedule, stored } = taken({ at: [time] });
    expect(stored.jobs.size).toBe(count);
    expect(look(schedule, t0, stored).end).toEqual({
      ...{ kind: 'rest', because: 'It has no further slot.' },
    });
  });
});

describe('a slot that is due', () => {
  it('Z1, Z2: is decided by a write, then its job is made, then that is written', () => {
    const { schedule } = taken({ every: hour, params: { a: 1 }, priority: 3 });
    const first = decideOnce(schedule, t0 + hour);
    if (first.kind !== 'write') throw new Error(first.kind);
    expect(first.schedule.progress).toMatchObject({ starting: [t0 + hour], started: 1 });
    expect(first.schedule.next_due).toBe(t0 + hour);
    const begun = written(first.schedule);
    const second = decideOnce(begun, t0 + hour);
    expect(second).toEqual({
      kind: 'make',
      jobs: [
        {
          ...{ _id: 'schedule-run:me:s:2026-01-01T01:00:00Z', type: 'job', flow: 'f', owner: 'me' },
          ...{ params: { a: 1 }, priority: 3 },
          schedule: {
            ...{ id: 'schedule:me:s', name: 's', slot: t0 + hour },
            time: '2026-01-01T01:00:00Z',
          },
        },
      ],
      cancels: [],
    });
    const third = decideOnce(begun, t0 + hour, { made: () => ({ kind: 'made' }) });
    if (third.kind !== 'write') throw new Error(third.kind);
    expect(third.schedule.progress?.starting).toBeUndefined();
    expect(third.schedule.next_due).toBe(t0 + 2 * hour);
  });

  it('Z3: is decided once, also by an engine whose clock is behind', () => {
    const { schedule, stored } = looked(taken({ every: hour }), t0 + hour);
    expect(look(schedule, t0 + hour - 2 * second, stored).schedule).toBe(schedule);
  });

  it('starts later by its jitter, which is the same every time', () => {
    const { schedule, stored } = taken({ every: hour, jitter: 'PT5M' });
    const due = schedule.next_due ?? 0;
    expect(due - t0 - hour).toBeGreaterThanOrEqual(0);
    expect(due - t0 - hour).toBeLessThanOrEqual(5 * minute);
    expect(look(schedule, due - 1, stored).schedule).toBe(schedule);
    expect(look(schedule, due, stored).effects).toBeGreaterThan(0);
    expect(stored.jobs.has(at(t0 + hour))).toBe(true);
  });

  it('whose job the store refuses is told with the reason, and the next one goes on', () => {
    const before = taken({ every: hour, overlap: 'all' });
    before.stored.refused.set(at(t0 + 2 * hour), 'too large');
    const times = [t0 + hour, t0 + 2 * hour, t0 + 3 * hour];
    const { schedule, stored } = looked(before, ...times);
    expect(progressIn(schedule)).toMatchObject({ started: 2, skipped: 1 });
    expect(progressIn(schedule).recent[1]).toEqual({
      ...{ slot: t0 + 2 * hour, at: t0 + 2 * hour, kind: 'refused', because: 'too large' },
    });
    expect([...stored.jobs.keys()]).toEqual([at(t0 + hour), at(t0 + 3 * hour)]);
  });

  it('ends a schedule that has started as many jobs as it may', () => {
    const { schedule, stored } = looked(
      taken({ every: hour, count: 2, overlap: 'all' }),
      ...[1, 2, 3, 4].map((count) => t0 + count * hour),
    );
    expect(stored.jobs.size).toBe(2);
    expect(schedule.next_due).toBeUndefined();
  });

  it('ends a schedule at its "until"', () => {
    const { stored } = looked(
      taken({ every: hour, until: t0 + 2 * hour }),
      t0 + hour,
      t0 + 2 * hour,
    );
    expect([...stored.jobs.keys()]).toEqual([at(t0 + hour)]);
  });
});

it('ends within one revision when more slots are due than it may start', () => {
  const more = { every: second, count: 2, overlap: 'all' };
  const { schedule, stored } = looked(taken(more), t0 + 5 * second);
  expect(stored.jobs.size).toBe(2);
  expect(schedule.next_due).toBeUndefined();
});

describe('a slot that is due while a job of the schedule goes on', () => {
  const times = [t0 + hour, t0 + 2 * hour, t0 + 3 * hour];

  // Shows X-16.
  it('is skipped by default, with the reason', () => {
    const { schedule } = looked(taken({ every: hour }), ...times);
    expect(kindsOf(schedule)).toEqual([
      [hour, 'started'],
      [2 * hour, 'skipped'],
    ]);
    expect(progressIn(schedule).skipped).toBe(2);
    expect(progressIn(schedule).recent[1]).toEqual({
      ...{ slot: t0 + 2 * hour, until: t0 + 3 * hour, count: 2, at: t0 + 3 * hour },
      ...{ kind: 'skipped', because: `Job ${at(t0 + hour)} had not ended.` },
    });
  });

  it('starts all the same with "all"', () => {
    const { schedule, stored } = looked(taken({ every: hour, overlap: 'all' }), ...times);
    expect(stored.jobs.size).toBe(3);
    expect(progressIn(schedule).running).toBeUndefined();
  });

  it('waits with "one", and starts when the job has ended; a further one is skipped', () => {
    const waiting = looked(taken({ every: hour, overlap: 'one' }), ...times);
    expect(progressIn(waiting.schedule)).toMatchObject({ waiting: t0 + 2 * hour, skipped: 1 });
    // It stays due, so that each sweep finds it.
    expect(waiting.schedule.next_due).toBe(t0 + 2 * hour);
    expect(look(waiting.schedule, t0 + 3 * hour, waiting.stored).end).toMatchObject({
      ...{ kind: 'wait', until: t0 + 4 * hour },
    });
    waiting.stored.live.clear();
    const { schedule, stored } = looked(waiting, t0 + 3 * hour + 5);
    expect(progressIn(schedule).waiting).toBeUndefined();
    expect([...stored.jobs.keys()]).toEqual([at(t0 + hour), at(t0 + 2 * hour)]);
  });

  it('that waits is the last when the count is reached, and says for what it waits', () => {
    const { schedule, stored } = looked(taken({ every: hour, overlap: 'one', count: 2 }), ...times);
    expect(look(schedule, t0 + 4 * hour, stored).end).toEqual({
      ...{ kind: 'rest', because: `A slot waits for job ${at(t0 + hour)} to end.` },
    });
  });

  it('cancels the job with "cancel_running", and the latest slot starts after it', () => {
    const cancelled = looked(taken({ every: hour, overlap: 'cancel_running' }), ...times);
    expect([...cancelled.stored.cancels]).toEqual([at(t0 + hour)]);
    expect(progressIn(cancelled.schedule)).toMatchObject({ waiting: t0 + 3 * hour, skipped: 1 });
    cancelled.stored.live.clear();
    const { stored } = looked(cancelled, t0 + 3 * hour + 5);
    expect([...stored.jobs.keys()]).toEqual([at(t0 + hour), at(t0 + 3 * hour)]);
  });
});

describe('slots that were due while no engine ran', () => {
  it('start only the latest by default, however old; the others are missed', () => {
    const { schedule, stored } = looked(taken({ every: hour }), t0 + 50 * hour + 30 * minute);
    expect([...stored.jobs.keys()]).toEqual([at(t0 + 50 * hour)]);
    expect(progressIn(schedule).missed).toBe(49);
    expect(progressIn(schedule).recent[0]).toEqual({
      ...{ slot: t0 + hour, until: t0 + 49 * hour, at: t0 + 50 * hour + 30 * minute },
      ...{ kind: 'missed', count: 49, because: 'No engine acted on 49 slots in time.' },
    });
  });

  it('start the only one that was due', () => {
    const { schedule, stored } = looked(taken({ every: hour }), t0 + hour + 30 * minute);
    expect([...stored.jobs.keys()]).toEqual([at(t0 + hour)]);
    expect(progressIn(schedule).missed).toBe(0);
  });

  it('are made up as far as "catch_up" says, one after the other', () => {
    const late = t0 + 10 * hour + 30 * minute;
    const { schedule, stored } = looked(
      taken({ every: hour, overlap: 'all', catch_up: 'PT3H' }),
      late,
    );
    expect([...stored.jobs.keys()]).toEqual([8, 9, 10].map((count) => at(t0 + count * hour)));
    expect(progressIn(schedule).missed).toBe(7);
  });

  it('and are older than "catch_up" start nothing', () => {
    const { schedule, stored } = looked(
      taken({ every: hour, catch_up: 0 }),
      t0 + hour + 2 * minute,
    );
    expect(stored.jobs.size).toBe(0);
    expect(progressIn(schedule).recent[0]).toMatchObject({
      ...{ kind: 'missed', count: 1, because: 'No engine acted on this slot in time.' },
    });
    expect(progressIn(schedule).recent[0]?.until).toBeUndefined();
  });

  it('and are at most a minute old all start', () => {
    const { stored } = looked(taken({ every: 10 * second, overlap: 'all' }), t0 + minute);
    expect(stored.jobs.size).toBe(6);
  });

  it('are counted up to a thousand', () => {
    const { schedule } = looked(taken({ every: second }), t0 + 5 * hour);
    expect(progressIn(schedule).recent[0]).toMatchObject({
      because: 'No engine acted on 1000 slots or more in time.',
    });
  });

  it('start over several revisions when there are many', () => {
    const before = taken({ every: second, overlap: 'all', catch_up: 'PT10M' });
    const { schedule, stored } = looked(before, t0 + 2 * minute);
    expect(stored.jobs.size).toBe(120);
    expect(progressIn(schedule).started).toBe(120);
  });

  it('count as on time while their jitter is not over', () => {
    const { schedule, stored } = looked(
      taken({ every: hour, jitter: 'PT30M', catch_up: 0 }),
      t0 + hour + 30 * minute,
    );
    expect(progressIn(schedule).missed).toBe(0);
    expect(stored.jobs.size).toBe(1);
  });
});

describe('Z4: a schedule that is edited', () => {
  const edited = (schedule: Schedule, more: object): Schedule => {
    const { paused: _paused, ...rest } = written(schedule);
    return { ...rest, ...more };
  };

  it('goes on from now when its timing is another', () => {
    const { schedule, stored } = taken({ every: hour });
    const after = look(edited(schedule, { every: minute }), t0 + 90 * minute, stored);
    expect(stored.jobs.size).toBe(0);
    expect(after.schedule.next_due).toBe(t0 + 91 * minute);
    expect(progressIn(after.schedule).missed).toBe(0);
  });

  it('keeps its place when anything else is', () => {
    const { schedule, stored } = taken({ every: hour });
    look(edited(schedule, { params: { b: 2 } }), t0 + hour + minute, stored);
    expect(stored.jobs.get(at(t0 + hour))).toMatchObject({ params: { b: 2 } });
  });

  it('starts nothing while it is paused; what waits is skipped', () => {
    const waiting = looked(taken({ every: hour, overlap: 'one' }), t0 + hour, t0 + 2 * hour);
    const paused = look(
      edited(waiting.schedule, { paused: true }),
      t0 + 2 * hour + 5,
      waiting.stored,
    );
    expect(paused.schedule.next_due).toBeUndefined();
    expect(paused.end).toEqual({ kind: 'rest', because: 'It is paused.' });
    expect(progressIn(paused.schedule).recent.at(-1)).toMatchObject({
      ...{ kind: 'skipped', because: 'The schedule was paused.' },
    });
  });

  it('makes up nothing of its pause', () => {
    const { schedule, stored } = taken({ every: hour, paused: true });
    const resumed = look(edited(schedule, {}), t0 + 5 * hour + minute, stored);
    expect(stored.jobs.size).toBe(0);
    expect(resumed.schedule.next_due).toBe(t0 + 6 * hour);
  });

  it('Z5: stays due while a slot waits, whatever was removed from it', () => {
    const waiting = looked(taken({ every: hour, overlap: 'one' }), t0 + hour, t0 + 2 * hour);
    const { next_due: _due, ...rest } = written(waiting.schedule);
    const after = look(rest, t0 + 2 * hour + 5, waiting.stored);
    expect(after.schedule.next_due).toBe(t0 + 2 * hour + 5);
  });

  it('goes on from now when it had ended', () => {
    const { schedule, stored } = looked(taken({ every: hour, count: 1 }), t0 + hour);
    stored.live.clear();
    const more = look(edited(schedule, { count: 2 }), t0 + 9 * hour + minute, stored);
    expect(stored.jobs.size).toBe(1);
    expect(progressIn(more.schedule).missed).toBe(0);
    expect(more.schedule.next_due).toBe(t0 + 10 * hour);
  });

  it('without a change of what counts only takes up the new revision', () => {
    const { schedule, stored } = taken({ every: hour });
    const after = look(written(schedule), t0, stored);
    expect(after.effects).toBe(1);
    expect(progressIn(after.schedule).edition).toBe(4);
  });
});

describe('a schedule that cannot be followed', () => {
  it('says why, once, and has no next time', () => {
    const { schedule, stored } = taken({ cron: '0 3 * * *' });
    const broken = look({ ...written(schedule), cron: 'never' }, t0, stored);
    expect(broken.schedule.next_due).toBeUndefined();
    expect(broken.schedule.problems).toMatchObject([{ path: 'cron' }]);
    expect(broken).toMatchObject({ effects: 1, end: { kind: 'rest' } });
    const mended = look({ ...written(broken.schedule), cron: '0 4 * * *' }, t0, stored);
    expect(mended.schedule.problems).toBeUndefined();
    expect(mended.schedule.next_due).toBe(t0 + 4 * hour);
  });

  it('by its form says so, too; a broken progress begins anew', () => {
    const problems = [{ path: 'name', message: 'name is missing.' }] as const;
    const doc = { ...scheduleDoc({ progress: 5 }), name: 7 };
    const told = tellInvalid(doc, t0, problems);
    if (told.kind !== 'write') throw new Error(told.kind);
    expect(told.schedule).toMatchObject({ problems, progress: { edition: 2, handled: t0 } });
    expect(tellInvalid(written(told.schedule), t0 + 5, problems)).toEqual({
      ...{ kind: 'rest', because: 'name is missing.' },
    });
  });
});

describe('Z6: a revision that an engine has dealt with', () => {
  const other = (next: number) => ({
    calendarOf: () => ({
      ok: true as const,
      calendar: { next: () => next, last: () => undefined, text: String },
    }),
  });

  it('is left as it is by one whose calendar differs, until it is due', () => {
    const { schedule } = taken({ every: hour });
    expect(decideOnce(schedule, t0 + 5, other(t0 + minute))).toMatchObject({
      ...{ kind: 'wait', until: t0 + hour },
    });
  });

  it('is left as it is by one that cannot read what the other could, and the other way round', () => {
    const { schedule, stored } = taken({ every: hour });
    const problems = [{ path: 'every', message: 'It is unknown.' }] as const;
    const unable = { calendarOf: () => ({ ok: false as const, problems }) };
    expect(decideOnce(schedule, t0 + 5, unable)).toEqual({
      ...{ kind: 'rest', because: 'It is unknown.' },
    });
    const told = decideOnce(written(schedule), t0 + 5, unable);
    if (told.kind !== 'write') throw new Error(told.kind);
    expect(look(written(told.schedule), t0 + 9, stored)).toMatchObject({ effects: 0 });
  });
});

describe('a backfill', () => {
  const backfill = { from: t0 - 5 * hour, until: t0, at_once: 2 };

  it('runs its slots a few at a time, oldest first, and then is gone', () => {
    const begun = taken({ every: hour, backfill });
    expect([...begun.stored.jobs.keys()]).toEqual([at(t0 - 5 * hour), at(t0 - 4 * hour)]);
    expect(begun.schedule.next_due).toBe(t0);
    begun.stored.live.delete(at(t0 - 4 * hour));
    const more = looked(begun, t0 + 1);
    expect([...more.stored.jobs.keys()].at(-1)).toBe(at(t0 - 3 * hour));
    more.stored.live.clear();
    const next = looked(more, t0 + 2);
    next.stored.live.clear();
    const { schedule } = looked(next, t0 + 3);
    expect(schedule.backfill).toBeUndefined();
    expect(progressIn(schedule)).toMatchObject({ started: 0 });
    expect(progressIn(schedule).recent.at(-1)).toMatchObject({ kind: 'backfilled', count: 5 });
  });

  it('goes on while the schedule is paused', () => {
    const { stored } = taken({ every: hour, paused: true, backfill });
    expect(stored.jobs.size).toBe(2);
  });

  it('is named by its jobs, with who asked for it', () => {
    const causes = [{}, { by: 'ada' }].map((more) => {
      const { stored } = taken({ every: hour, backfill: { ...backfill, ...more } });
      return [...stored.jobs.values()].map(({ schedule: { cause, by } }) => [cause, by]);
    });
    expect(causes).toEqual([
      [
        ['backfill', undefined],
        ['backfill', undefined],
      ],
      [
        ['backfill', 'ada'],
        ['backfill', 'ada'],
      ],
    ]);
    const { stored } = taken({ every: hour }, t0 + hour);
    expect([...stored.jobs.values()].every(({ schedule }) => !('cause' in schedule))).toBe(true);
  });

  it('of a schedule without a further slot says what it waits for', () => {
    const { schedule, stored } = taken({ at: [t0 - hour], backfill });
    expect(look(schedule, t0, stored).end).toEqual({
      ...{ kind: 'rest', because: 'Its backfill waits for jobs to end.' },
    });
  });

  it('of a period without slots is over at once', () => {
    const { schedule } = taken({
      ...{ every: hour, from: t0 },
      backfill: { from: t0 - 10 * hour, until: t0 - hour },
    });
    expect(schedule.backfill).toBeUndefined();
    const [record] = progressIn(schedule).recent;
    expect(record).toMatchObject({ kind: 'backfilled' });
    expect(record?.count).toBeUndefined();
  });

  it('leaves what is yet to come to the schedule', () => {
    const { stored } = taken({ every: hour, backfill: { from: t0 - hour, until: t0 + 9 * hour } });
    expect([...stored.jobs.keys()]).toEqual([at(t0 - hour), at(t0)]);
  });

  it('that is changed begins anew, and one that is called off ends', () => {
    const begun = taken({ every: hour, backfill });
    const other = { from: t0 - 9 * hour, until: t0 - 8 * hour };
    const changed = look({ ...written(begun.schedule), backfill: other }, t0, begun.stored);
    expect(begun.stored.jobs.has(at(t0 - 9 * hour))).toBe(true);
    const { backfill: _off, ...rest } = written(changed.schedule);
    const off = look(rest, t0, begun.stored);
    expect(progressIn(off.schedule).backfill).toBeUndefined();
    expect(off.schedule.next_due).toBe(t0 + hour);
  });

  it('goes on without a job that the store refuses', () => {
    const stored = emptyStore();
    stored.refused.set(at(t0 - 5 * hour), 'forbidden');
    const { schedule } = look(scheduleDoc({ every: hour, backfill }), t0, stored);
    expect([...stored.jobs.keys()]).toEqual([at(t0 - 4 * hour), at(t0 - 3 * hour)]);
    expect(progressIn(schedule)).toMatchObject({ started: 0, skipped: 0 });
    stored.refused.set(at(t0 + hour), 'forbidden');
    const later = look(schedule, t0 + hour, stored);
    expect(progressIn(later.schedule)).toMatchObject({ started: 0, skipped: 1 });
  });
});
