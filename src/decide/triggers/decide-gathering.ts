import type { GatheredJob, Gathering } from '../../model/gathering.js';
import { isObject } from '../../model/object.js';
import type { Made } from '../schedules/schedule-world.js';
import type { Answer } from '../world.js';
import { seenOf, type StoredEvent, type TriggeredJob, type TriggerQuestion } from './events.js';
import { gatheringDue, nextMembers, withDue } from './gathered-events.js';
import { waitsIn } from './joined-event.js';

/** What one engine does about events that are gathered. */
export type GatheringIntent =
  /** Nothing before `until` (epoch ms). */
  | { readonly kind: 'wait'; readonly until: number }
  /** Reads these events, and decides again. */
  | { readonly kind: 'look_up'; readonly events: readonly string[] }
  | { readonly kind: 'evaluate'; readonly questions: readonly TriggerQuestion[] }
  /** Makes sure that no other revision takes the place of this one, and decides again. */
  | { readonly kind: 'confirm' }
  /** Stores this job, which may be there already, and decides again. */
  | { readonly kind: 'make'; readonly job: TriggeredJob }
  /** Stores in the events which job they have started, and decides again. */
  | { readonly kind: 'settle'; readonly starting: GatheredJob; readonly made: Made }
  | { readonly kind: 'write'; readonly gathering: Gathering; readonly because: string }
  /** Removes the document: it gathers nothing any more. */
  | { readonly kind: 'remove' };

/** What a decision about gathered events may know beside the document and the time. */
export type GatheringWorld = {
  /** An event as it is stored; null: there is none; undefined: nobody has looked yet. */
  readonly event: (id: string) => StoredEvent | null | undefined;
  readonly answer: (question: string) => Answer | undefined;
  /** What became of a job that was to be made; undefined: nobody has tried yet. */
  readonly made: (id: string) => Made | undefined;
  /** Whether the events of a job say that it is started. */
  readonly settled: (job: string) => boolean;
  /** Why the store does not take the gathering with the job; undefined: nobody has tried yet. */
  readonly refusal: string | undefined;
  /** How long writes may be under way where a document has several copies, ms; undefined: it has one. */
  readonly graceMs: number | undefined;
  /** Whether it was seen, since the revision is that old, that no other one takes its place. */
  readonly isConfirmed: boolean;
  readonly hash: (text: string) => string;
};

/**
 * Says what an engine does about gathered events: a pure function of the document, the time (epoch ms)
 * and what was looked up.
 *
 * T31 An event names the gatherings that are to take it (`gathering`) until they have; then `gathered` names
 *    them until a job starts, then `started` the job. So an event that no job has is in a list of events.
 * T32 Which events a job starts for is decided by one write of the gathering, a compare-and-set: `starting`
 *    holds them, with the parameters. The job is made after it, then its events name it, then `starting`
 *    is cleared. Meanwhile other events join, and no other job of the gathering starts.
 * T33 A job starts only for events that are there and wait for it: one that is removed before, or has its
 *    job already, is left out.
 * T34 No job has more than `size` events. It starts when there are so many, else, with `batch`, `period`
 *    after the first one; with `debounce` `period` after the last one, at the latest `max` after the first.
 * T35 The id of a job follows from the gathering, its events and when they came, and its content from
 *    `starting`: every engine makes the same one, it exists once, and no job is taken for one of other events.
 * T36 Where a document has several copies, a job is made only when writes that were on their way together
 *    with that of `starting` have ended, and `starting` was then stored anew (`sure`) upon the one revision
 *    that was left. Revisions in conflict become one with the events of all of them.
 * T37 An event that says that it is `gathered` in a document which does not have it is gathered anew: the
 *    document was deleted or edited by hand.
 * T38 … unless a job was made for it before: then it names that job, and no other one starts for it.
 */
export function decideGathering(
  gathering: Gathering,
  now: number,
  world: GatheringWorld,
): GatheringIntent {
  const { starting, events } = gathering;
  if (starting !== undefined) return aboutJob(gathering, starting, { now, world });
  const due = gatheringDue(gathering);
  if (due === undefined) return { kind: 'remove' };
  if (due > now) {
    // Where somebody has edited it: the view that lists what is due goes by what is stored.
    if (gathering.next_due !== due) return written(gathering, 'The time of its job is put right.');
    return { kind: 'wait', until: due };
  }
  const members = nextMembers(gathering);
  const unread = members.filter(({ id }) => world.event(id) === undefined).map(({ id }) => id);
  if (unread.length > 0) return { kind: 'look_up', events: unread };
  const found = members.flatMap(({ id }) => {
    const event = world.event(id);
    return event && waitsIn(event, gathering._id) ? [event] : [];
  });
  const waiting = new Set(found.map(({ _id }) => _id));
  const others = members.filter(({ id }) => !waiting.has(id));
  if (others.length > 0) {
    const left = events.filter((one) => !others.includes(one));
    if (left.length === 0) return { kind: 'remove' };
    return written({ ...gathering, events: left }, 'Some of its events wait no more.');
  }
  const answer = paramsOf(gathering, found, world);
  if ('kind' in answer) return answer;
  const next = {
    ...gathering,
    events: events.filter((one) => !members.includes(one)),
    starting: {
      job: gatheredJobId(gathering, members, world),
      ...{ at: now, events: [...members] },
      ...answer,
    },
  };
  return written(next, 'Its events start a job.');
}

type Standing = { readonly now: number; readonly world: GatheringWorld };

/** Makes the job that is decided, and tells its events. */
function aboutJob(
  gathering: Gathering,
  starting: GatheredJob,
  { now, world }: Standing,
): GatheringIntent {
  const { graceMs, isConfirmed } = world;
  if (graceMs !== undefined && starting.sure !== true) {
    if (now < starting.at + graceMs) return { kind: 'wait', until: starting.at + graceMs };
    if (!isConfirmed) return { kind: 'confirm' };
    return written({ ...gathering, starting: { ...starting, sure: true } }, 'Its job is decided.');
  }
  const made = world.made(starting.job);
  if (made === undefined) return { kind: 'make', job: jobOf(gathering, starting) };
  if (!world.settled(starting.job)) return { kind: 'settle', starting, made };
  const { starting: _made, ...rest } = gathering;
  return rest.events.length === 0 ? { kind: 'remove' } : written(rest, 'Its job is made.');
}

function written(gathering: Gathering, because: string): GatheringIntent {
  return { kind: 'write', gathering: withDue(gathering), because };
}

type Answered = Pick<GatheredJob, 'params' | 'problem'>;

/** The parameters of the job, or a question first. */
function paramsOf(
  { _id, entry, params }: Gathering,
  found: readonly StoredEvent[],
  { answer, refusal }: GatheringWorld,
): Answered | GatheringIntent {
  if (refusal !== undefined)
    return { problem: `The parameters of the job cannot be stored: ${refusal}` };
  if (params === undefined) return {};
  const events = found.map(seenOf);
  const id = `${_id} params`;
  const context = { event: events.at(-1), events };
  const given = answer(id);
  if (given === undefined)
    return { kind: 'evaluate', questions: [{ id, expression: params, context }] };
  if (!given.ok) return { problem: `on[${entry}].params cannot be evaluated: ${given.reason}` };
  if (isObject(given.value)) return { params: given.value };
  return { problem: `on[${entry}].params gives no object of parameters.` };
}

/** Returns the id of the job that starts for these gathered events. */
export function gatheredJobId(
  { _id, flow, owner }: Pick<Gathering, '_id' | 'flow' | 'owner'>,
  events: Gathering['events'],
  { hash }: Pick<GatheringWorld, 'hash'>,
): string {
  return `event-run:${flow}:${owner}:${hash(JSON.stringify([_id, ...events.map(({ id, at }) => [id, at])]))}`;
}

function jobOf(
  { _id, flow, owner, entry, key }: Gathering,
  { job, events, params, problem }: GatheredJob,
): TriggeredJob {
  return {
    ...{ _id: job, type: 'job', flow, owner },
    ...(params === undefined ? {} : { params }),
    started_by: {
      ...{ gathering: _id, entry, events: events.map(({ id }) => id) },
      ...(key === undefined ? {} : { key }),
      ...(problem === undefined ? {} : { problem }),
    },
  };
}
