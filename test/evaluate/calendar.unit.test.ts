import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Calendar } from '../../src/decide/schedules/schedule-world.js';
import { runs } from '../support/properties.js';
import { calendarOf, timingProblems, type Timing } from '../../src/evaluate/calendar.js';

function calendar(timing: Timing): Calendar {
  const read = calendarOf(timing);
  if (!read.ok) throw new Error(read.problems[0].message);
  return read.calendar;
}

/** The slots of a timing after a moment, as texts. */
function slots(timing: Timing, after: string, count: number): readonly string[] {
  const { next, text } = calendar(timing);
  const found: string[] = [];
  for (let slot = next(Date.parse(after)); slot !== undefined && found.length < count;) {
    found.push(text(slot));
    slot = next(slot);
  }
  return found;
}

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'];

const field = (least: number, most: number) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 3, arbitrary: fc.integer({ min: least, max: most }).map(String) },
    fc.integer({ min: 2, max: Math.min(20, most) }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc
      .array(fc.integer({ min: least, max: most }), { minLength: 2, maxLength: 4 })
      .map((list) => list.join(',')),
  );

const expression = fc
  .tuple(
    fc.option(field(0, 59), { nil: undefined }),
    ...([field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)] as const),
  )
  .map((fields) => fields.filter((it) => it !== undefined).join(' '));

const moment = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2035, 0, 1) });

describe('a calendar', () => {
  // Shows X-16.
  it('of a cron expression has the slots of croner', () => {
    const cases = fc.tuple(expression, fc.constantFrom(...zones), moment);
    fc.assert(
      fc.property(cases, ([cron, zone, after]) => {
        const options = { paused: true, timezone: zone, fixedTimeRule: 'no-wildcard' } as const;
        const wanted = new Cron(cron, options).nextRun(new Date(after))?.getTime();
        const { next, last } = calendar({ cron, time_zone: zone });
        expect(next(after)).toBe(wanted);
        if (wanted === undefined) return;
        expect(wanted).toBeGreaterThan(after);
        expect(last(wanted)).toBe(wanted);
        const before = last(wanted - 1);
        if (before !== undefined) expect(next(before)).toBe(wanted);
      }),
      runs(1_000),
    );
  });

  it('counts evenly from 1970, or from its "from", with an offset', () => {
    const hours = (count: number) => Date.UTC(2026, 0, 1, count);
    expect(slots({ every: 'PT6H' }, '2026-01-01T01:00:00Z', 2)).toEqual([
      '2026-01-01T06:00:00Z',
      '2026-01-01T12:00:00Z',
    ]);
    const moved = { every: 'PT45M', from: '2026-01-01T10:00:00Z', offset: 'PT5M' };
    expect(slots(moved, '2026-01-01T01:00:00Z', 2)).toEqual([
      '2026-01-01T10:05:00Z',
      '2026-01-01T10:50:00Z',
    ]);
    const { last } = calendar(moved);
    expect(last(hours(10))).toBeUndefined();
    expect(last(hours(11))).toBe(Date.UTC(2026, 0, 1, 10, 50));
  });

  it('of a list has each time once, in whole seconds', () => {
    const at = ['2026-01-01T00:00:02.900Z', Date.UTC(2026, 0, 1, 0, 0, 1), '2026-01-01T00:00:02Z'];
    expect(slots({ at }, '2026-01-01T00:00:00Z', 9)).toEqual([
      '2026-01-01T00:00:01Z',
      '2026-01-01T00:00:02Z',
    ]);
    expect(calendar({ at }).last(Date.UTC(2026, 0, 1, 0, 0, 1, 5))).toBe(
      Date.UTC(2026, 0, 1, 0, 0, 1),
    );
  });

  it('begins at "from" and ends before "until"', () => {
    const [from, until] = ['2026-01-01T01:00:00Z', '2026-01-01T03:00:00Z'];
    const hourly = { cron: '0 * * * *', from, until };
    expect(slots(hourly, '2025-01-01T00:00:00Z', 9)).toEqual([
      '2026-01-01T01:00:00Z',
      '2026-01-01T02:00:00Z',
    ]);
    expect(calendar(hourly).last(Date.UTC(2027, 0, 1))).toBe(Date.UTC(2026, 0, 1, 2));
    expect(calendar(hourly).last(Date.UTC(2026, 0, 1))).toBeUndefined();
  });
});

describe('when daylight saving begins (Berlin, 02:00 to 03:00 does not exist)', () => {
  const on = (cron: string, count: number) =>
    slots({ cron, time_zone: 'Europe/Berlin' }, '2026-03-28T22:00:00Z', count);

  it('a fixed time in the gap becomes the first moment after it', () => {
    expect(on('30 2 * * *', 2)).toEqual(['2026-03-29T03:00:00+02:00', '2026-03-30T02:30:00+02:00']);
  });

  it('an hourly schedule has no slot in the gap', () => {
    expect(on('0 * * * *', 4)).toEqual([
      ...['2026-03-29T00:00:00+01:00', '2026-03-29T01:00:00+01:00', '2026-03-29T03:00:00+02:00'],
      '2026-03-29T04:00:00+02:00',
    ]);
  });
});

describe('when daylight saving ends (Berlin, 02:00 to 03:00 comes twice)', () => {
  const on = (cron: string, count: number) =>
    slots({ cron, time_zone: 'Europe/Berlin' }, '2026-10-24T22:30:00Z', count);

  it('a fixed time comes once, the first time', () => {
    expect(on('30 2 * * *', 2)).toEqual(['2026-10-25T02:30:00+02:00', '2026-10-26T02:30:00+01:00']);
  });

  it('an hourly schedule has both hours', () => {
    expect(on('0 * * * *', 4)).toEqual([
      ...['2026-10-25T01:00:00+02:00', '2026-10-25T02:00:00+02:00', '2026-10-25T02:00:00+01:00'],
      '2026-10-25T03:00:00+01:00',
    ]);
  });
});

it('with slots that no document can hold has none of them', () => {
  const last = 4_320_000_000_000_000;
  expect(calendar({ at: [last] }).next(0)).toBeUndefined();
  expect(calendar({ every: 'PT1H', from: '1969-12-31T00:00:00Z' }).last(-1)).toBeUndefined();
});

it('counts both hours of a repeated time where the seconds have a star', () => {
  const timing = { cron: '*/30 30 2 * * *', time_zone: 'Europe/Berlin' };
  expect(slots(timing, '2026-10-24T22:30:00Z', 4)).toEqual([
    ...['2026-10-25T02:30:00+02:00', '2026-10-25T02:30:30+02:00'],
    ...['2026-10-25T02:30:00+01:00', '2026-10-25T02:30:30+01:00'],
  ]);
});

describe('a timing that cannot be read', () => {
  it.each<readonly [string, Timing, string, string]>([
    [
      'a cron expression of 7 fields',
      { cron: '0 0 3 * * * 2026' },
      'cron',
      'must have 5 or 6 fields',
    ],
    ['a value out of range', { cron: '99 * * * *' }, 'cron', 'Invalid value for minute: 99.'],
    [
      'no cron expression',
      { cron: 'a b c d e' },
      'cron',
      'cron is no cron expression: its minute cannot be "a".',
    ],
    ['a weekday that is none', { cron: '0 0 3 * * MOON' }, 'cron', 'its weekday cannot be "MOON".'],
    ['a name that is none', { cron: '@dayly' }, 'cron', 'there is no @dayly, only @hourly, @daily'],
    ['a date that never comes', { cron: '0 0 31 2 *' }, 'cron', 'names a date that never comes.'],
    ['a start of the system', { cron: '@reboot' }, 'cron', '@reboot is not supported'],
    [
      'a zone that is none',
      { cron: '0 3 * * *', time_zone: 'Mars/Olympus' },
      'time_zone',
      'time_zone must be an IANA time zone ("Europe/Berlin"); it is the string "Mars/Olympus".',
    ],
  ])('because of %s is told with its path', (_title, timing, path, sentence) => {
    const read = calendarOf(timing);
    expect(read).toMatchObject({ ok: false, problems: [{ path }] });
    if (!read.ok) expect(read.problems[0].message).toContain(sentence);
  });

  it('is told for the zone and the cron expression, whatever else is wrong', () => {
    const wrong = { cron: '0 0 0 0 0 0 0', time_zone: 'Mars/Olympus', every: 5, at: 'x' };
    expect(timingProblems(wrong).map(({ path }) => path)).toEqual(['time_zone', 'cron']);
    expect(timingProblems({ cron: 5, time_zone: {} })).toEqual([]);
    expect(timingProblems({ cron: '* '.repeat(1_000) })).toEqual([]);
  });
});
