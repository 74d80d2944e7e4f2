import { referenceTo } from '../../model/big-result.js';
import { failure } from '../../model/failures.js';
import type { FinalJob, LiveJob, Slice, SliceJob } from '../../model/job.js';
import { exits, isStopped, type FailedStep, type StepIn } from '../../model/step.js';
import { childPath, isStructure } from '../../model/tree.js';
import type { MapOver, SliceResult } from '../../structures/map-slices.js';
import { newAttempt, withAttached, withBegun, withStep } from '../steps.js';
import { ResultCollector } from '../../reading/results.js';
import { withChildRemade } from './child-remade.js';
import { underOwnId, type ParentStep } from './child-step.js';
import { finish } from '../finish/finish.js';
import { paramsFor, pastOf, settingsFor } from './handing-down.js';
import { jobSteps, lastAttempt, ownStep } from '../../reading/attempts.js';
import { lookUp } from '../queries.js';
import type { Begun, ChildJob, Move } from '../intent.js';
import type { Child, World } from '../world.js';
import { failureOfFlow } from '../../reading/failed-items.js';
import { nodeAt } from '../../reading/entries.js';
import { markAt } from '../../structures/marks.js';
import { childId, depthOf, parentLinkOf } from '../../reading/parent.js';
import { slicedMap } from '../../structures/paths.js';
import { without } from '../../model/record.js';
import { progressAt } from '../../reading/progress.js';
import type { Beginning } from '../../structures/progress.js';
import { firstOf } from '../../structures/siblings.js';

/**
 * Slices of a map: child jobs that each go over some of its items. A slice is a job like any other
 * that is begun already: it has the snapshot, the parameters and what its parent had done before, so
 * that everything in it is as it would be in one job, with the same paths.
 */

/**
 * Begins a slice. A slice of which some items failed in an earlier run of the flow continues in its
 * own job; what it has done stays done.
 */
export function beginSlice(job: LiveJob, beginning: Beginning, now: number, world: World): Begun {
  const { path } = beginning.leaf;
  const attempt = newAttempt(job, beginning);
  const begun = (child: string, more: object = {}): ParentStep => ({
    ...attempt,
    ...{ state: '$$waiting', child, accepted: now, start: now },
    ...more,
  });
  const last = lastAttempt(job, path) as Partial<ParentStep> | undefined;
  const before = last?.child;
  const known: Child = before === undefined ? { kind: 'absent' } : world.child(before);
  // One that was given up before it was made has nothing to go on with.
  const isUnmade = known.kind === 'final' && known.job['slice'] === undefined;
  const there: Child = isUnmade ? { kind: 'absent' } : known;
  switch (there.kind) {
    case 'unknown':
      return lookUp({ children: [String(before)] });
    case 'live': {
      // Given up, it may still be ending; the run after that is ours.
      const step = begun(String(before), { child_run: (last?.child_run ?? 1) + 1 });
      return { kind: 'change', job: withBegun(job, step, now) };
    }
    case 'final': {
      const { job: child } = there;
      if (isWell(child)) return { kind: 'change', job: withBegun(job, begun(child._id), now) };
      const step = begun(child._id, { child_run: runOf(child) + 1 });
      return { kind: 'spawn', job: withBegun(job, step, now), children: [goingOn(job, child)] };
    }
    case 'foreign':
    case 'absent': {
      const step = begun(childId(job, attempt));
      const made = sliceJob(job, step, now, world);
      return made.kind === 'look_up' ? made : { ...made, job: withBegun(job, step, now) };
    }
  }
}

function runOf({ run }: FinalJob): number {
  return Number(run);
}

/** Whether none of its items failed. */
function isWell({ exit, slice }: FinalJob): boolean {
  return exit === exits.success && (slice as Slice).failed === undefined;
}

/**
 * Returns the job of a slice with a request to continue, by the current definitions and parameters.
 */
function goingOn(job: LiveJob, child: FinalJob): ChildJob {
  const { tasks, definitions } = job;
  const { path } = child['slice'] as Slice;
  const settings = settingsFor(job);
  const given = { tasks, definitions, flow_definition: settings, ...paramsFor(job, path) };
  const slice = { ...without(child['slice'] as Slice, 'permits'), ...heldBy(job) };
  return { ...child, ...given, slice, retry: true as const };
}

/** The permits of limits that a job holds until it ends, for its slices, too. */
function heldBy({ slice, locked }: LiveJob): { readonly permits?: string[] } {
  const permits = slice?.permits ?? locked?.permits;
  return permits === undefined ? {} : { permits };
}

/** Keys of a job that do not go down to its slices. */
const own = [
  ...(['_rev', '_attachments', 'steps', 'requests', 'notes', 'signals', 'problems'] as const),
  ...([
    'next_due',
    'resume_at',
    'held_since',
    'held_ms',
    'timed_from',
    'first_run',
    'stuck_since',
  ] as const),
  ...(['redo', 'refresh', 'refreshed', 'restarts', 'locked', 'relock'] as const),
  ...([
    'target',
    'locks',
    'unique',
    'exec_after',
    'expires',
    'paused',
    'cancel',
    'external_id',
    'parent',
  ] as const),
  ...(['notify', 'notifies', 'notifications'] as const),
  ...(['continued_from', 'continued_start', 'continued_to'] as const),
] as const;

/** What was found out about a map that has slices, and about the same map in one of them. */
type Sliced = { readonly items: readonly unknown[]; readonly slice: number };
type OfSlice = { readonly items: readonly unknown[]; readonly from: number };

type Made = Extract<Begun, { kind: 'look_up' | 'spawn' }>;

/** Creates the document of a slice: a copy of its parent with the items that it works on. */
function sliceJob(job: LiveJob, step: ParentStep, now: number, world: World): Made {
  const path = slicedMap(step.path);
  const past = pastOf(job, path, world);
  if (past.kind === 'unknown') return lookUp({ attachments: past.names });
  const found = lastAttempt(job, path) as StepIn<'$$complete'>;
  const { items: all, slice: most } = markAt(jobSteps(job), path) as Sliced;
  const from = Number(step.path.slice(step.path.lastIndexOf('.') + 1)) * most;
  const items = all.slice(from, from + most);
  const before = [...past.before, { ...found, result: { items, from, count: items.length } }];
  const child = {
    ...without(job as LiveJob & Readonly<Record<string, unknown>>, ...own),
    ...{ _id: step.child, state: '$$ready', start: now, run: 1, steps: [] },
    parent: parentLinkOf(job, step, depthOf(job)),
    flow_definition: settingsFor(job),
    ...paramsFor(job, path),
    slice: { path, total: all.length, before, ...heldBy(job) },
    ...(Object.keys(past.attachments).length === 0 ? {} : { _attachments: past.attachments }),
  };
  return { kind: 'spawn', job, children: [child] };
}

/** Advances a step that waits for its slice; undefined: it keeps waiting. */
export function sliceMove(
  job: LiveJob,
  step: ParentStep,
  now: number,
  world: World,
): Move | undefined {
  const child = world.child(step.child);
  switch (child.kind) {
    case 'unknown':
      return lookUp({ children: [step.child] });
    case 'live':
      return undefined;
    case 'absent':
      return sliceJob(withChildRemade(job, step, child, now), step, now, world);
    case 'foreign':
      return underOwnId(job, step, now, (next, own) => sliceJob(next, own, now, world));
    case 'final': {
      const { retry, retry_refused: refused } = child.job as Readonly<Record<string, unknown>>;
      const isBefore = runOf(child.job) < (step.child_run ?? 1) && refused === undefined;
      if (!isBefore) return { kind: 'change', job: settleSlice(job, step, child, now) };
      if (retry !== undefined) return undefined;
      return { kind: 'spawn', job, children: [goingOn(job, child.job)] };
    }
  }
}

/** Ends the step of a slice with its results and the number of items that failed. */
function settleSlice(
  job: LiveJob,
  step: ParentStep,
  { job: child, big }: Extract<Child, { kind: 'final' }>,
  now: number,
): LiveJob {
  const { exit = exits.failed, result: whole } = child;
  const { failed, stopped, failure: why } = (child['slice'] ?? {}) as Partial<Slice>;
  const result = big === undefined ? whole : referenceTo(step, big);
  const ended = {
    ...step,
    ...{ end: now, exit },
    ...(result === undefined ? {} : { result }),
    ...(failed === undefined ? {} : { failed }),
    ...(stopped === undefined ? {} : { stopped }),
  };
  const reason = `exit ${exit}`;
  const bad = child.failure ?? failure('ChildFailed', { child: step.child, reason });
  const next =
    exit === exits.success
      ? { ...ended, state: '$$complete' as const, ...(why === undefined ? {} : { warning: why }) }
      : { ...ended, state: '$$error' as const, failure: bad };
  const holder = big === undefined ? job : withAttached(job, step, big);
  return withStep(holder, ownStep(job, step), next);
}

/**
 * Ends a job that is a slice. It succeeds unless more of its items failed than the whole map
 * tolerates.
 */
export function endSlice(
  job: SliceJob,
  ending: FailedStep | undefined,
  now: number,
  { contents }: World,
): Move {
  const { slice } = job;
  const { path } = slice;
  const map = nodeAt(job.tasks, path) as MapOver;
  const { do: each } = map.map;
  const collector = new ResultCollector(job, contents);
  collector.add(map, path);
  if (collector.missing.size > 0) return lookUp({ attachments: [...collector.missing] });
  // A damaged list has no entry to report.
  const { from, items } = (markAt(jobSteps(job), path) ?? { from: 0, items: [] }) as OfSlice;
  const failures = items.flatMap((_, i) => {
    const progress = progressAt(job, each, childPath(path, 'map', from + i));
    return progress.kind === 'failed' ? [progress.step] : [];
  });
  const stopped = failures.filter(isStopped).length;
  const failureFields =
    failures.length === 0
      ? {}
      : {
          ...{ failed: failures.length, failure: failureOfFlow(job, firstOf(failures)) },
          ...(stopped === 0 ? {} : { stopped }),
        };
  const result = {
    items: collector.previous,
    ...(isStructure(each) ? { results: without(collector.results, map.name ?? '') } : {}),
  } as SliceResult;
  const ended = {
    ...job,
    slice: { ...without(slice, 'failed', 'stopped', 'failure'), ...failureFields },
  };
  const { exit = exits.success } = ending ?? {};
  const failing = ending === undefined ? {} : { failure: failureOfFlow(job, ending) };
  return { kind: 'change', job: finish(ended, { exit, ...failing, result }, now) };
}
