import type { LiveJob } from '../model/job.js';
import type { Step, StepIn } from '../model/step.js';
import type { Entry, Leaf, Structure } from '../model/tree.js';
import { leavesIn, pathsAbove } from './leaves.js';
import { isFrom } from './order.js';
import { leafBelow } from './structure/decider.js';
import { without } from './record.js';

/** All attempts of the step at a path, oldest first. */
export function attemptsOf(job: LiveJob, path: string): readonly Step[] {
  return index(job).all.get(path) ?? [];
}

/** Those of them that count: not the ones from before a retry that asked for the step anew. */
export function countedAt(job: LiveJob, path: string): readonly Step[] {
  return index(job).counted.get(path) ?? [];
}

/** The last attempt of the step at a path that counts. */
export function lastAttempt(job: LiveJob, path: string): Step | undefined {
  return index(job).counted.get(path)?.at(-1);
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

/** The attempt that completed the step at a path, or the handler's that recovered it. */
export function completionOn(job: LiveJob, path: string): StepIn<'$$complete'> | undefined {
  const last = index(job).line.get(path);
  return last?.state === '$$complete' ? last : undefined;
}

/** The paths of a step and of what it handles: `0.error.error`, `0.error`, `0`. */
export function lineOf(path: string): readonly string[] {
  const line = [path];
  for (let at = path; at.endsWith('.error'); line.push(at)) at = at.slice(0, -'.error'.length);
  return line;
}

/** Some step is at a path or below it. */
export function hasStepsBelow(job: LiveJob, path: string): boolean {
  return index(job).above.has(path);
}

/**
 * Steps by path. Attempts are numbered through, but those from before a retry that asked for their
 * step anew count no more: not by themselves, nor for a line (a path and its handlers), nor
 * as something at or below a path.
 */
type Index = {
  readonly all: ReadonlyMap<string, readonly Step[]>;
  readonly counted: ReadonlyMap<string, readonly Step[]>;
  readonly line: ReadonlyMap<string, Step>;
  readonly above: ReadonlySet<string>;
};

/**
 * Every leaf of a tree asks for its steps; one pass answers them all. The answer is kept as long as
 * the list itself: lists of steps are replaced, never changed, and so are the wishes to redo.
 */
const indexes = new WeakMap<readonly Step[], Index & { readonly redo: LiveJob['redo'] }>();

function index({ steps, redo, tasks, first_run: firstRun = 1 }: LiveJob): Index {
  const before = indexes.get(steps);
  if (before !== undefined && before.redo === redo) return before;
  const all = new Map<string, Step[]>();
  const counted = new Map<string, Step[]>();
  const line = new Map<string, Step>();
  const above = new Set<string>();
  for (const step of steps) {
    // A job that began anew does not look at what it did before.
    const { path, run } = step;
    put(all, step);
    if (run < firstRun) continue;
    if (redo !== undefined && isOutdated(step, redo, tasks)) continue;
    put(counted, step);
    for (const at of lineOf(path)) line.set(at, step);
    for (const at of pathsAbove(path)) above.add(at);
  }
  const made = { all, counted, line, above, redo };
  indexes.set(steps, made);
  return made;
}

function put(byPath: Map<string, Step[]>, step: Step): void {
  const there = byPath.get(step.path);
  if (there === undefined) byPath.set(step.path, [step]);
  else there.push(step);
}

/** A later retry asked for this step, or for one before it, to be done again. */
function isOutdated(step: Step, redo: NonNullable<LiveJob['redo']>, tasks: Structure): boolean {
  return redo.some(({ from, run }) => step.run < run && isFrom(step.path, from, tasks));
}

/** The entry at a path of the flow or of its cancel branch; handlers have none. */
export function entryOf(job: LiveJob, path: string): Entry | undefined {
  return leafAt(job, path)?.entry;
}

/** The leaf at a path of the flow or of its cancel branch, also of what a decider began. */
export function leafAt(job: LiveJob, path: string): Leaf | undefined {
  const written = writtenLeaf(job, path);
  if (written !== undefined) return written;
  const above = /^(.*)\.(?:continue|(?:decision|activity|timer|child)\.[^.]+)$/.exec(path)?.[1];
  const decider = above === undefined ? undefined : writtenLeaf(job, above);
  return decider?.entry.decider === undefined ? undefined : leafBelow(job, decider, path);
}

function writtenLeaf(job: LiveJob, path: string): Leaf | undefined {
  const { cancel } = job.flow_definition;
  return leavesIn(job.tasks).at(path) ?? (cancel && leavesIn(cancel, 'cancel').at(path));
}
