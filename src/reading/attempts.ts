import { addTo } from '../model/grouped.js';
import type { LiveJob } from '../model/job.js';
import { isOpen, type Step, type StepIn } from '../model/step.js';
import { catchAround, definedPath, deciderOf, isBelowTry, isUndoing } from '../structures/paths.js';
import { type Node, isWithin, pathsAbove } from '../model/tree.js';
import { isFrom } from './order.js';
import type { JobSteps, Numbers } from '../structures/steps.js';

/** All attempts of the step at a path, oldest first. */
export function attemptsOf(job: LiveJob, path: string): readonly Step[] {
  return index(job).all.get(path) ?? [];
}

/** Those of them that count. */
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

/**
 * The steps of a job as its structures ask for them. They are indexed once: it is for one reading of
 * the job, and not kept while steps are added.
 */
export function jobSteps(job: LiveJob): JobSteps {
  const { counted, below, busy, numbers } = index(job);
  return {
    run: job.run,
    at: (path) => counted.get(path) ?? [],
    last: (path) => counted.get(path)?.at(-1),
    lastRunBelow: (path) => below.get(path),
    isBusyBelow: (path) => busy.has(path),
    numbersBelow: (path) => numbers.get(path),
    wasBegun: (path, run) => wasBegun(job, path, run),
    isRepeated: (path) => {
      const asked = job.redo ?? [];
      return asked.some(({ from }) => isWithin(definedPath(from), definedPath(path)));
    },
  };
}

/** Something there was begun in that run or later; a step that somebody left out was not. */
function wasBegun(job: LiveJob, path: string, run: number): boolean {
  if ((lastRunBelow(job, path) ?? 0) < run) return false;
  return job.steps.some(
    (step) =>
      step.run >= run &&
      step.state !== '$$skipped' &&
      isWithin(step.path, path) &&
      !isUndoing(step.path),
  );
}

/** Which attempt of a job it is. Tips that were merged may both have had one of that number: the runs differ. */
export type AttemptOf = Pick<Step, 'path' | 'attempt' | 'run'>;

/** Whether both are the same attempt, whichever copies of it they are. */
export function isSameAttempt(one: AttemptOf, other: AttemptOf): boolean {
  return one.path === other.path && one.attempt === other.attempt && one.run === other.run;
}

/** The attempt as it stands in the job. */
export function ownStep(job: LiveJob, attempt: AttemptOf): Step {
  return job.steps.find((one) => isSameAttempt(one, attempt)) as Step;
}

/** The attempt that completed the step at a path, or the handler's that recovered it. */
export function completionOn(job: LiveJob, path: string): StepIn<'$$complete'> | undefined {
  const last = index(job).line.get(path);
  return last?.state === '$$complete' ? last : undefined;
}

/** The step that has finished the flow early in this run, if one has. */
export function finishingStep({
  steps,
  run,
}: Pick<LiveJob, 'steps' | 'run'>): StepIn<'$$complete'> | undefined {
  return steps.find(
    (step): step is StepIn<'$$complete'> =>
      step.state === '$$complete' && step.finishes === true && step.run === run,
  );
}

/** The paths of a step and of what it handles: `0.error.error`, `0.error`, `0`. */
export function lineOf(path: string): readonly string[] {
  const line = [path];
  for (let at = path; at.endsWith('.error'); line.push(at)) at = at.slice(0, -'.error'.length);
  return line;
}

/** The last run in which something was done at a path or below it; undefined: nothing ever was. */
export function lastRunBelow(job: LiveJob, path: string): number | undefined {
  return index(job).below.get(path);
}

/** Something at a path or below it runs or waits. */
export function isBusyBelow(job: LiveJob, path: string): boolean {
  return index(job).busy.has(path);
}

/** Steps by path. All of them are numbered through, but not all count; see `counts`. */
type Index = {
  readonly all: Map<string, Step[]>;
  readonly counted: Map<string, Step[]>;
  /** The last one of a step and its handlers. */
  readonly line: Map<string, Step>;
  readonly below: Map<string, number>;
  readonly numbers: Map<string, Numbers>;
  readonly busy: Set<string>;
  /** What stems of paths are below of. */
  readonly above: Map<string, readonly string[]>;
};

/**
 * Every leaf of a tree asks for its steps; one pass answers them all. The answer is kept as long as
 * the list itself and what it is read by: all of these are replaced, never changed.
 */
const indexes = new WeakMap<readonly Step[], { readonly of: LiveJob; readonly index: Index }>();

/** The steps of a job as they were indexed last, by its tree. */
const latest = new WeakMap<Node, readonly Step[]>();

function index(job: LiveJob): Index {
  const { steps } = job;
  if (steps.length === 0 && job.slice === undefined) return noSteps;
  const known = indexes.get(steps);
  if (known?.of === job || (known !== undefined && isReadAlike(known.of, job))) return known.index;
  const before = latest.get(job.tasks) ?? [];
  const mayExtend = 0 < before.length && before.length < steps.length;
  const made = (mayExtend ? extendedIndex(before, job) : undefined) ?? makeIndex(job);
  indexes.set(steps, { of: job, index: made });
  // What earlier runs did is looked at beside all steps: that list does not grow.
  if (steps.at(-1)?.run === job.run) latest.set(job.tasks, steps);
  return made;
}

function isReadAlike(one: LiveJob, other: LiveJob): boolean {
  return (
    one.redo === other.redo &&
    one.tasks === other.tasks &&
    one.run === other.run &&
    one.first_run === other.first_run &&
    one.slice === other.slice
  );
}

/**
 * A decision may add many steps, one after the other: the index of the list before is taken over, and
 * made anew should that list be asked for again. Undefined: steps were replaced, or are read otherwise.
 */
function extendedIndex(before: readonly Step[], job: LiveJob): Index | undefined {
  const { steps, run } = job;
  const known = indexes.get(before);
  if (known === undefined || !isReadAlike(known.of, job)) return undefined;
  const more = steps.slice(before.length);
  if (more.some((step) => step.run !== run)) return undefined;
  if (run > 1 && more.some(({ path }) => isBelowTry(path))) return undefined;
  if (!before.every((step, i) => step === steps[i])) return undefined;
  indexes.delete(before);
  const { all, counted } = known.index;
  for (const step of more) {
    // Lists that were handed out do not change.
    for (const byPath of [all, counted]) byPath.set(step.path, [...(byPath.get(step.path) ?? [])]);
    addTo(all, step.path, step);
    take(known.index, step);
  }
  return known.index;
}

function makeIndex(job: LiveJob): Index {
  const made = emptyIndex();
  // What was done before a slice is not for the slice to do again: it counts in any case.
  for (const step of job.slice?.before ?? []) take(made, step);
  const undone = job.run === 1 ? new Map<string, number>() : undoneDeciders(job);
  const tried = triedIn(job);
  for (const step of job.steps) {
    addTo(made.all, step.path, step);
    if (step.run === job.run || counts(step, job, { undone, tried })) take(made, step);
  }
  return made;
}

function emptyIndex(): Index {
  const byPath = { all: new Map(), counted: new Map(), line: new Map(), below: new Map() };
  return { ...byPath, numbers: new Map(), busy: new Set(), above: new Map() };
}

/** Never written to. */
const noSteps = emptyIndex();

/** Enters a step that counts. */
function take(index: Index, step: Step): void {
  const { counted, line, below, numbers, busy } = index;
  addTo(counted, step.path, step);
  if (step.path.endsWith('.error')) for (const at of lineOf(step.path)) line.set(at, step);
  else line.set(step.path, step);
  // An undo task has its path below structures that have ended: it does not make them go on.
  if (step.phase !== 'main' && isUndoing(step.path)) return;
  const isBusy = isOpen(step);
  for (const at of pathsTo(step.path, index)) {
    const number = below.has(at) ? null : numbered.exec(at);
    if (number !== null) putNumber(numbers, number);
    below.set(at, step.run);
    if (isBusy) busy.add(at);
  }
}

/** The paths that a path is below of, and itself: most steps are below the same few. */
function pathsTo(path: string, { above: known }: Index): readonly string[] {
  const stem = path.slice(0, Math.max(0, path.lastIndexOf('.')));
  const above = known.get(stem) ?? pathsAbove(stem);
  known.set(stem, above);
  return path === '' ? above : [path, ...above];
}

const numbered = /^((?:.*\.)?(?:map|slice|loop))\.(\d+)$/;

function putNumber(numbers: Map<string, Numbers>, found: RegExpExecArray): void {
  const stem = String(found[1]);
  const number = Number(found[2]);
  const { least, most } = numbers.get(stem) ?? { least: number, most: number };
  numbers.set(stem, { least: Math.min(least, number), most: Math.max(most, number) });
}

/**
 * What a job did before it began anew counts no more, nor what a later retry asked to be done again,
 * nor how an earlier run ended: its handler and its cancel branch. A decider of which something was
 * undone begins anew, and so does what goes on for a failure of something that was tried again.
 */
function counts(step: Step, job: LiveJob, { undone, tried }: Earlier): boolean {
  const { path, run } = step;
  const { redo = [], first_run: firstRun = 1 } = job;
  if (run < firstRun) return false;
  if (run < job.run && (isWithin(path, 'error') || isWithin(path, 'cancel'))) return false;
  if (run < caughtSince(path, tried) || step['finishes'] === true) return false;
  for (const [decider, last] of undone) if (run <= last && isWithin(path, decider)) return false;
  const isAskedFor = redo.some(
    (one) => run < one.run && one.run <= job.run && isFrom(path, one.from, job.tasks),
  );
  return !isAskedFor;
}

/**
 * The run since which work at a path counts: what was done there before was undone, was asked for
 * again, or belongs to a job that began anew or to another end of it.
 */
export function countsSince(job: LiveJob, path: string): number {
  const { redo = [], first_run: firstRun = 1, run } = job;
  if (run === 1 && redo.length === 0) return firstRun;
  const isOfEnd = isWithin(path, 'error') || isWithin(path, 'cancel');
  const asked = redo.filter(({ from }) => isFrom(path, from, job.tasks)).map((one) => one.run);
  const undone = attemptsOf(job, `${path.replace(/(\.(undo|error))+$/, '')}.undo`)
    .filter((undo) => undo.state === '$$complete' && undo.run < run)
    .map((undo) => undo.run + 1);
  const deciders = [...undoneDeciders(job)]
    .filter(([decider]) => isWithin(path, decider))
    .map(([, last]) => last + 1);
  const caught = caughtSince(path, triedIn(job));
  return Math.max(firstRun, isOfEnd ? run : 1, caught, ...asked, ...undone, ...deciders);
}

/** What is known of earlier runs: of deciders what was undone, of what is tried when it last was. */
type Earlier = {
  readonly undone: ReadonlyMap<string, number>;
  readonly tried: ReadonlyMap<string, number>;
};

type Ran = Pick<LiveJob, 'steps' | 'run'>;

/** Paths of catches, with the last run in which something was done in what they try. */
function triedIn({ steps, run }: Ran): ReadonlyMap<string, number> {
  const tried = new Map<string, number>();
  for (const step of run === 1 ? [] : steps) {
    if (!isBelowTry(step.path) || isUndoing(step.path)) continue;
    for (const at of pathsAbove(step.path)) {
      const path = /^(?:(.*)\.)?try$/.exec(at);
      if (path !== null) tried.set(path[1] ?? '', step.run);
    }
  }
  return tried;
}

/** The run since which a branch of a catch counts, with all around it; 0: it is in none. */
function caughtSince(path: string, tried: ReadonlyMap<string, number>): number {
  const at = tried.size === 0 ? undefined : catchAround(path);
  return at === undefined ? 0 : Math.max(tried.get(at) ?? 0, caughtSince(at, tried));
}

/** Those of the steps that are in no branch of a catch, or in one for the last failure of what it tries. */
export function withoutStaleBranches(job: Ran, steps: readonly Step[]): readonly Step[] {
  const tried = triedIn(job);
  if (tried.size === 0) return steps;
  return steps.filter(({ path, run }) => run >= caughtSince(path, tried));
}

/** Paths of deciders, with the last run before this one in which something of theirs was undone. */
function undoneDeciders({ steps, run }: LiveJob): ReadonlyMap<string, number> {
  const undone = new Map<string, number>();
  for (const step of steps) {
    if (step.phase !== 'undo' || step.state !== '$$complete' || step.run >= run) continue;
    const decider = deciderOf(step.path.replace(/\.undo$/, ''));
    if (decider !== undefined) undone.set(decider, step.run);
  }
  return undone;
}
