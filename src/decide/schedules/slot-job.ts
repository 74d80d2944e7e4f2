import {
  slotJobId,
  type JobCause,
  type JobSchedule,
  type Schedule,
  type ScheduleProgress,
} from '../../model/schedule.js';
import type { Calendar, ScheduleWorld } from './schedule-world.js';
import { withEntries } from './standing.js';

/** The job of a slot, as it is submitted. */
export type SlotJob = {
  readonly _id: string;
  readonly type: 'job';
  readonly flow: string;
  readonly schedule: JobSchedule;
  readonly [key: string]: unknown;
};

/** A request to a job of the schedule that makes way for the next one. */
export type CancelRequest = {
  readonly _id: string;
  readonly type: 'request';
  readonly job: string;
  readonly action: 'cancel';
  readonly by: string;
  readonly reason: string;
};

/** Returns the job of a slot: the same whichever engine makes it. */
export function slotJob(
  schedule: Schedule,
  slot: number,
  { text }: Calendar,
  cause: JobCause = {},
): SlotJob {
  const { _id, name, flow, flow_version, owner, params, priority, queue, tags, keys } = schedule;
  const given = { flow_version, owner, params, priority, queue, tags, keys };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    _id: slotJobId(_id, slot),
    type: 'job',
    flow,
    ...Object.fromEntries(set),
    schedule: { id: _id, name, slot, time: text(slot), ...cause },
  };
}

/** The documents that were decided and are not known to be stored. */
export function unmade(
  schedule: Schedule,
  calendar: Calendar,
  world: ScheduleWorld,
): { readonly jobs: readonly SlotJob[]; readonly cancels: readonly CancelRequest[] } {
  const { starting = [], cancelling = [], waiting = 0, backfill } = schedule.progress ?? {};
  const ofBackfill = new Set(backfill?.running);
  const { by } = schedule.backfill ?? {};
  const asked: JobCause = { cause: 'backfill', ...(by === undefined ? {} : { by }) };
  const isOpen = ({ _id }: { readonly _id: string }): boolean => world.made(_id) === undefined;
  return {
    jobs: starting
      .map((slot) => {
        const isAsked = ofBackfill.has(slotJobId(schedule._id, slot));
        return slotJob(schedule, slot, calendar, isAsked ? asked : {});
      })
      .filter(isOpen),
    cancels: cancelling.map((job) => cancelRequest(schedule, job, waiting)).filter(isOpen),
  };
}

/** `slot`: the one that waits for it; another one asks again. */
function cancelRequest({ _id, name }: Schedule, job: string, slot: number): CancelRequest {
  return {
    ...{ _id: `request:cancel:${job}:${slot}`, type: 'request', job, action: 'cancel', by: _id },
    reason: `The next slot of schedule ${name} was due.`,
  };
}

/** The progress when everything that was decided is stored, or refused. */
export function withMade(
  progress: ScheduleProgress,
  id: string,
  { made }: ScheduleWorld,
): ScheduleProgress {
  const { starting = [], cancelling = [] } = progress;
  if (starting.length + cancelling.length === 0) return progress;
  const settled = withEntries(withEntries(progress, 'starting', []), 'cancelling', []);
  return starting.reduce<ScheduleProgress>((before, slot) => {
    const job = slotJobId(id, slot);
    const what = made(job);
    return what?.kind === 'refused'
      ? withRefused(before, { slot, job, reason: what.reason })
      : before;
  }, settled);
}

type Refused = { readonly slot: number; readonly job: string; readonly reason: string };

function withRefused(progress: ScheduleProgress, { slot, job, reason }: Refused): ScheduleProgress {
  const { running = [], recent, started, skipped, backfill } = progress;
  const without = withEntries(
    progress,
    'running',
    running.filter((it) => it !== job),
  );
  const ofBackfill = backfill?.running ?? [];
  return {
    ...without,
    ...(backfill !== undefined && ofBackfill.includes(job)
      ? { backfill: { ...backfill, running: ofBackfill.filter((it) => it !== job) } }
      : { started: started - 1, skipped: skipped + 1 }),
    recent: recent.map((record) =>
      record.job === job
        ? { slot, at: record.at, kind: 'refused' as const, because: reason }
        : record,
    ),
  };
}
