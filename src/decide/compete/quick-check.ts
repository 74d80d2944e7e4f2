import { mostSteps } from '../start/effort.js';
import { hasLateEdit, isAsked } from '../requests/edits.js';
import { hasAddedStep, hasItsEnd } from '../requests/hand-edits.js';
import type { Peer, World } from '../world.js';
import { rankAmongAble, turnMs } from './ranks.js';

/** What a job document shows before it is parsed. */
export type QuickCheck =
  /** It is final: nothing is to be done (D2). */
  | { readonly kind: 'final' }
  /** All that runs of it runs on engines that are alive; `engine` is the first of them. */
  | { readonly kind: 'elsewhere'; readonly engine: string }
  /** All that is left to do before anything else is this attempt, which runs in this process. */
  | { readonly kind: 'here'; readonly claim: string }
  /** Nobody has begun it, and another engine goes first: to be looked at again then (epoch ms). */
  | { readonly kind: 'later'; readonly until: number }
  /** The same, and this engine has no free slot: to be looked at again when it has one. */
  | { readonly kind: 'no_slot'; readonly rank: number }
  /** It has to be read. */
  | { readonly kind: 'unclear' };

/** The part of the world that a quick check needs. */
export type QuickCheckWorld = Pick<World, 'peers' | 'seenAt'> & {
  readonly me: Peer & Pick<World['me'], 'freeSlots' | 'running'>;
};

type JobDocument = Readonly<Record<string, unknown>> & { readonly _id: string };

const unclear: QuickCheck = { kind: 'unclear' };

/**
 * Tells whether a decision about a job can be skipped: every engine sees every revision of every
 * job, but for most of them only one engine has anything to do. A document that no engine wrote in
 * this form is left to `decide`; one that was damaged is read by the engine that runs it, or that
 * comes first.
 */
export function quickCheck(job: JobDocument, now: number, world: QuickCheckWorld): QuickCheck {
  const { state, retry } = job;
  if (state === '$$complete' || state === '$$cancelled') {
    const isOpen = isAsked(retry) || hasLateEdit(job) || !hasItsEnd(job) || hasAddedStep(job);
    return isOpen ? unclear : { kind: 'final' };
  }
  if (state !== undefined) return checkLive(job, world);
  return world.peers.length === 0 ? unclear : checkNew(job, now, world);
}

/**
 * Only engines that can do all that this one can are taken for being first: whatever it would claim
 * or write, they would, too. The delay is the one that `staggered` gives (D6). When the first one dies,
 * or leaves the job lying, a sweep or that death brings the job up again.
 */
function checkNew(
  job: JobDocument,
  now: number,
  { me, peers, seenAt }: QuickCheckWorld,
): QuickCheck {
  const rank = rankAmongAble(job._id, me, peers);
  const until = seenAt + turnMs(rank);
  if (rank === 0 || now >= until) return unclear;
  return me.freeSlots === 0 ? { kind: 'no_slot', rank } : { kind: 'later', until };
}

/** Where steps only follow one another nothing begins while one runs. */
function checkLive(job: JobDocument, world: QuickCheckWorld): QuickCheck {
  const { state, steps, tasks, flow_definition, paused, cancel, retry, requests } = job;
  const flow = (flow_definition ?? {}) as Readonly<Record<string, unknown>>;
  const ends = [flow['error'], flow['cancel']].filter((tree) => tree !== undefined);
  const trees = [tasks, ...ends];
  if (!Array.isArray(steps) || !trees.every(isPlain) || hasTimeOfItsOwn(flow)) return unclear;
  // What was asked for by editing the job is put on record first.
  if ([paused, cancel, retry, requests].some((edit) => edit !== undefined)) return unclear;
  const list: readonly unknown[] = steps;
  const running = list.filter(isRunning);
  const [first] = running;
  if (first === undefined || list.length > fewSteps) return unclear;
  const { me, peers } = world;
  const isHere = first.engine === me.id && me.running.has(first.claim) && state !== '$$paused';
  if (isHere && list.every((step) => step === first || isComplete(step))) {
    return { kind: 'here', claim: first.claim };
  }
  if (!running.every(({ engine }) => peers.some(({ id }) => id === engine))) return unclear;
  return { kind: 'elsewhere', engine: first.engine };
}

/** Something happens to its jobs at a time, whatever runs. */
function hasTimeOfItsOwn(flow: Readonly<Record<string, unknown>>): boolean {
  return flow['timeout_mode'] === 'hard' || flow['expected'] !== undefined;
}

/** With more steps a job may have too many, whatever runs. */
const fewSteps = mostSteps / 4;

function isPlain(tasks: unknown): boolean {
  const node = (tasks ?? {}) as Readonly<Record<string, unknown>>;
  const { task, structure, sequence } = node;
  // A handler of the flow is written {name, params}.
  const named = task ?? node['name'];
  if (structure === undefined) return typeof named === 'string' && node['decider'] === undefined;
  return structure === 'sequence' && Array.isArray(sequence) && sequence.every(isPlain);
}

type Running = { readonly engine: string; readonly claim: string };

function isRunning(step: unknown): step is Running {
  const { state } = (step ?? {}) as { readonly state?: unknown };
  return state === '$$ready' || state === '$$active';
}

function isComplete(step: unknown): boolean {
  return ((step ?? {}) as { readonly state?: unknown }).state === '$$complete';
}
