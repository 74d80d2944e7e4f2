import type { LiveJob } from '../model/job.js';
import { isFailed, type Step, type StepIn } from '../model/step.js';
import type { Entry } from '../model/tree.js';
import { leavesIn } from './leaves.js';
import { without } from './record.js';

/** All attempts of the step at a path, oldest first. */
export function attemptsOf(job: LiveJob, path: string): readonly Step[] {
  return job.steps.filter((step) => step.path === path);
}

/** The last attempt of the step at a path. */
export function lastAttempt(job: LiveJob, path: string): Step | undefined {
  return latestOf(job).attempt.get(path);
}

/** Some attempt was started or a child job was made; skipped steps and refused ones do not count. */
export function hasBegun(job: LiveJob): boolean {
  return job.steps.some((step) => 'start' in step);
}

/** A copy of the job in which one step is replaced. */
export function withStep(job: LiveJob, old: Step, next: Step): LiveJob {
  return { ...job, steps: job.steps.map((step) => (step === old ? next : step)) };
}

/** A copy of the job with one more step. */
export function withNewStep(job: LiveJob, step: Step): LiveJob {
  return { ...job, steps: [...job.steps, step] };
}

/**
 * A copy of the job with a step that begins now. What came before the first one does not count as
 * time of the flow.
 */
export function withBegun(job: LiveJob, step: Step, now: number): LiveJob {
  const first = !hasBegun(job) && now > job.start ? { held_ms: now - job.start } : {};
  const state = `${step.task}-${step.index}`;
  return withNewStep(without({ ...job, ...first, state }, 'next_due', 'resume_at'), step);
}

/** Results as later steps see them. */
export type Results = {
  /** By step name and by `<task>-<n>`. */
  readonly results: Readonly<Record<string, unknown>>;
  /** By `<n>`. */
  readonly parent_results: Readonly<Record<string, unknown>>;
  /** What ended last before `upTo`. */
  readonly previous: unknown;
};

/** Results of the main steps before position `upTo`; a recovered step has its handler's result. */
export function resultsBefore(job: LiveJob, upTo = Infinity): Results {
  const results: Record<string, unknown> = {};
  const parentResults: Record<string, unknown> = {};
  let previous: unknown;
  for (const leaf of leavesIn(job.tasks).list) {
    if (leaf.index >= upTo) break;
    const ended = completionOn(job, leaf.path);
    if (ended === undefined) continue;
    const result: unknown = ended.result ?? null;
    results[leaf.name] = result;
    results[leaf.label] = result;
    parentResults[String(leaf.index)] = result;
    previous = result;
  }
  return { results, parent_results: parentResults, previous };
}

/** The attempt that completed the step at a path, or the handler's that recovered it. */
export function completionOn(job: LiveJob, path: string): StepIn<'$$complete'> | undefined {
  const last = latestOf(job).line.get(path);
  return last?.state === '$$complete' ? last : undefined;
}

/** The paths of a step and of what it handles: `0.error.error`, `0.error`, `0`. */
export function lineOf(path: string): readonly string[] {
  const line = [path];
  for (let at = path; at.endsWith('.error'); line.push(at)) at = at.slice(0, -'.error'.length);
  return line;
}

/** The latest steps by path: of the path itself, and of its line (the path and its handlers). */
type Latest = {
  readonly attempt: ReadonlyMap<string, Step>;
  readonly line: ReadonlyMap<string, Step>;
};

/**
 * Every leaf of a tree asks for its latest steps; one pass answers them all. The answer is kept as
 * long as the list itself: lists of steps are replaced, never changed.
 */
const known = new WeakMap<readonly Step[], Latest>();

function latestOf({ steps, first_run: firstRun = 1 }: LiveJob): Latest {
  const before = known.get(steps);
  if (before !== undefined) return before;
  const attempt = new Map<string, Step>();
  const line = new Map<string, Step>();
  for (const step of steps) {
    // A job that began anew does not look at what it did before.
    if (step.run < firstRun) continue;
    attempt.set(step.path, step);
    for (const path of lineOf(step.path)) line.set(path, step);
  }
  const latest = { attempt, line };
  known.set(steps, latest);
  return latest;
}

/** When the job came to the boundary where it stands now (epoch ms). */
export function boundaryAt(job: LiveJob): number {
  const times = job.steps.flatMap((step) => {
    if (isFailed(step)) return [step.due ?? step.end];
    return 'end' in step ? [step.end as number] : [];
  });
  const held = job.steps.length === 0 ? (job.held_ms ?? 0) : 0;
  return Math.max(job.start + held, job.resume_at ?? 0, ...times);
}

/** The entry at a path of the flow or of its cancel branch; handlers have none. */
export function entryOf(job: LiveJob, path: string): Entry | undefined {
  const { cancel } = job.flow_definition;
  const main = leavesIn(job.tasks).byPath.get(path);
  const leaf = main ?? (cancel && leavesIn(cancel, 'cancel').byPath.get(path));
  return leaf?.entry;
}
