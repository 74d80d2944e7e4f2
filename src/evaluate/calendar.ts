import { Cron } from 'croner';
import type { Calendar, ReadCalendar } from '../decide/schedules/schedule-world.js';
import { createMemo } from '../memo.js';
import { show, type Problem } from '../model/problems.js';
import { neverDue, toEpochMs } from '../model/scalars.js';
import { longestCron, type Schedule } from '../model/schedule.js';
import { longestSpanMs, writtenSpanMs } from '../model/span.js';

/** The fields of a schedule that say when it is due, but for `jitter`. */
export type Timing = Pick<
  Schedule,
  'cron' | 'every' | 'offset' | 'at' | 'time_zone' | 'from' | 'until'
>;

const known = createMemo<ReadCalendar>(1_000);

/**
 * Reads the timing of a schedule. Slots fall on whole seconds.
 *
 * Cron expressions are those of croner (https://github.com/hexagon/croner): 5 or 6 fields, `L`, `#`,
 * `@daily`. Where daylight saving begins, a time that does not exist that day becomes the first moment
 * after the gap. Where it ends, a fixed time comes once, the first time. With a `*` in the seconds, minutes
 * or hours it is no fixed time: nothing comes for the gap, and both hours count.
 */
export function calendarOf(timing: Timing): ReadCalendar {
  const { cron, every, offset, at, time_zone: zone, from, until } = timing;
  const key = JSON.stringify([cron, every, offset, at, zone, from, until]);
  return known(key, () => read(timing));
}

function read({ cron, every, offset, at, time_zone: zone, from, until }: Timing): ReadCalendar {
  const start = from === undefined ? undefined : ceilSecond(toEpochMs(from));
  const end = until === undefined ? undefined : toEpochMs(until);
  const [first, ...others] = timingProblems({ cron, time_zone: zone });
  if (first !== undefined) return { ok: false, problems: [first, ...others] };
  if (cron !== undefined) return bounded(cronSlots(cron, zone ?? 'UTC') as Slots, start, end);
  const slots =
    every === undefined
      ? listSlots(at ?? [])
      : evenSlots(writtenSpanMs(every), (start ?? 0) + writtenSpanMs(offset ?? 0));
  return bounded(slots, start, end);
}

/** Returns what shows only when a time zone and a cron expression are read, of any schedule. */
export function timingProblems(schedule: Readonly<Record<string, unknown>>): readonly Problem[] {
  const { cron, time_zone: zone } = schedule;
  const problems: Problem[] = [];
  const isZone = typeof zone !== 'string' || isTimeZone(zone);
  if (!isZone) {
    const message = `time_zone must be an IANA time zone ("Europe/Berlin"); it is ${show(zone)}.`;
    problems.push({ path: 'time_zone', message });
  }
  // Longer ones are refused without being read.
  if (typeof cron !== 'string' || cron.length > longestCron) return problems;
  const slots = cronSlots(cron, typeof zone === 'string' && isZone ? zone : 'UTC');
  return typeof slots === 'string'
    ? [...problems, { path: 'cron', message: `cron ${slots}` }]
    : problems;
}

/** A slot so late that its jitter is still a time that a document may hold. */
const lastSlot = neverDue - 2 * longestSpanMs;

/** Slots without bounds. */
type Slots = Calendar;

function bounded(slots: Slots, start: number | undefined, end: number | undefined): ReadCalendar {
  const isWithin = (slot: number): boolean =>
    slot >= 0 &&
    slot <= lastSlot &&
    (start === undefined || slot >= start) &&
    (end === undefined || slot < end);
  const only = (slot: number | undefined): number | undefined =>
    slot !== undefined && isWithin(slot) ? slot : undefined;
  return {
    ok: true,
    calendar: {
      next: (after) => only(slots.next(Math.max(after, (start ?? 0) - 1))),
      last: (upTo) => only(slots.last(end === undefined ? upTo : Math.min(upTo, end - 1))),
      text: slots.text,
    },
  };
}

/** Returns the slots of a cron expression, or what is wrong with it, as the end of a sentence. */
function cronSlots(expression: string, zone: string): Slots | string {
  const fields = expression.trim().split(/\s+/).length;
  if (!/^@\w+$/.test(expression.trim()) && fields !== 5 && fields !== 6) {
    return `must have 5 or 6 fields, or be @daily and the like; it has ${fields}.`;
  }
  let cron: Cron;
  try {
    cron = new Cron(expression, {
      ...{ paused: true, timezone: zone, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' },
    });
    if (cron.nextRun(new Date(0)) === null) return 'names a date that never comes.';
  } catch (error) {
    return `is no cron expression: ${cronFault((error as Error).message, expression)}`;
  }
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    last: (upTo) => cron.previousRuns(1, new Date(floorSecond(upTo) + 1_000))[0]?.getTime(),
    text: (slot) => localText(slot, zone),
  };
}

/** As the parser counts them, also where the seconds are left out. */
const cronFields = ['second', 'minute', 'hour', 'day', 'month', 'weekday'];

/** What is wrong with a cron expression, where the sentence of its parser speaks of the parser. */
function cronFault(message: string, expression: string): string {
  const [, entry, text] = /configuration entry (\d) \((.*)\) contains illegal/.exec(message) ?? [];
  if (entry !== undefined) return `its ${cronFields[Number(entry)]} cannot be "${text}".`;
  if (message.includes('invalid configuration format')) {
    return `there is no ${expression.trim()}, only @hourly, @daily, @weekly, @monthly and @yearly.`;
  }
  return message.replace(/^(?:Cron\w*|Error): /, '').replace(/\.?$/, '.');
}

function evenSlots(ms: number, anchor: number): Slots {
  const at = (count: number): number => anchor + count * ms;
  return {
    next: (after) => at(Math.floor((after - anchor) / ms) + 1),
    last: (upTo) => at(Math.floor((upTo - anchor) / ms)),
    text: utcText,
  };
}

function listSlots(times: readonly (number | string)[]): Slots {
  const sorted = [...new Set(times.map((time) => floorSecond(toEpochMs(time))))].sort(
    (a, b) => a - b,
  );
  return {
    next: (after) => sorted.find((slot) => slot > after),
    last: (upTo) => sorted.findLast((slot) => slot <= upTo),
    text: utcText,
  };
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

function utcText(slot: number): string {
  return new Date(slot).toISOString().replace('.000Z', 'Z');
}

const clocks = createMemo<Intl.DateTimeFormat>(100);

/** ISO 8601 with the offset that the zone has at that moment. */
function localText(slot: number, zone: string): string {
  if (zone === 'UTC') return utcText(slot);
  const clock = clocks(zone, () => {
    const two = '2-digit';
    const fields = { year: 'numeric', month: two, day: two, hour: two, minute: two, second: two };
    return new Intl.DateTimeFormat('en-US', {
      ...(fields as Intl.DateTimeFormatOptions),
      hourCycle: 'h23',
      timeZone: zone,
    });
  });
  const parts = new Map(clock.formatToParts(slot).map(({ type, value }) => [type, value]));
  const of = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  const local = `${of('year').padStart(4, '0')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}:${of('second')}`;
  const minutes = Math.round((Date.parse(`${local}Z`) - slot) / 60_000);
  const two = (count: number): string => String(count).padStart(2, '0');
  const ahead = Math.abs(minutes);
  return `${local}${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
}

function floorSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

function ceilSecond(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000;
}
