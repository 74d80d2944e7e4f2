import { isObject } from '../model/object.js';
import type { Origin } from '../model/summary.js';
import { texts } from './step-reading.js';

/** Returns what started a job, as far as its document can be trusted; undefined: a submit. */
export function originOf(job: Readonly<Record<string, unknown>>): Origin | undefined {
  const { schedule, started_by: by } = job;
  if (isObject(schedule)) return bySchedule(schedule);
  if (!isObject(by)) return undefined;
  for (const kind of ['event', 'signal', 'hook'] as const) {
    const id = by[kind];
    if (typeof id === 'string') return { kind, id, ...texts(by, ['delivery', 'problem']) };
  }
  return byGathered(by);
}

/** A job that was started for several events is called by the last one. */
function byGathered(by: Readonly<Record<string, unknown>>): Origin | undefined {
  const { events } = by;
  const id: unknown = Array.isArray(events) ? events.at(-1) : undefined;
  if (!Array.isArray(events) || typeof id !== 'string') return undefined;
  const others = events.length === 1 ? {} : { others: events.length - 1 };
  return { kind: 'event', id, ...others, ...texts(by, ['problem']) };
}

function bySchedule(schedule: Readonly<Record<string, unknown>>): Origin | undefined {
  const { id, slot, cause } = schedule;
  if (typeof id !== 'string') return undefined;
  // Slots fall on whole seconds; a job that is run by hand does not.
  const isRun = cause === 'run' || (typeof slot === 'number' && slot % 1_000 !== 0);
  return {
    ...{ kind: 'schedule', id, ...texts(schedule, ['name', 'time', 'by']) },
    ...(isRun ? { cause: 'run' as const } : {}),
    ...(cause === 'backfill' ? { cause } : {}),
  };
}

/** Says what started a job. */
export function originSentence(origin: Origin): string {
  const { kind, id, name = id, time, cause, by, delivery, problem, others } = origin;
  const asked = by === undefined ? '' : ` by ${by}`;
  const refused = problem === undefined ? '' : ` It could not be followed: ${problem}`;
  const beside = others === undefined ? '' : ` and ${others} ${others === 1 ? 'other' : 'others'}`;
  const slot = time === undefined ? '' : ` for ${time}`;
  switch (kind) {
    case 'schedule':
      if (cause === 'run') return `Schedule ${name} was run${asked}, beside its slots.`;
      if (cause === 'backfill') return `Started by a backfill${asked} of schedule ${name}${slot}.`;
      return `Started by schedule ${name}${slot}.`;
    case 'hook': {
      const of = delivery === undefined ? 'a delivery' : `delivery ${delivery}`;
      return `Started by ${of} to hook ${id}.${refused}`;
    }
    case 'event':
    case 'signal':
      return `Started by ${kind} ${id}${beside}.${refused}`;
  }
}
