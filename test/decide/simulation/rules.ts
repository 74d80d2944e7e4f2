import { expect } from 'vitest';
import { readDesign } from '../../../src/store/design-source.js';
import {
  isFinal,
  isLiveJob,
  type FinalJob,
  type FlowSettings,
  type Job,
  type LiveJob,
} from '../../../src/model/job.js';
import { parseDocument } from '../../../src/reading/parse.js';
import { isFrom } from '../../../src/reading/order.js';
import { isOfPeople } from '../../../src/reading/people.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { toRetryPolicy } from '../../../src/model/retry.js';
import { isFailed, isLive, isOpen, type Step } from '../../../src/model/step.js';
import { leavesOf } from '../../../src/structures/tree.js';
import { isWithin } from '../../../src/model/tree.js';
import { compileDesign } from '../../store/design-function.js';
import { stepsOf, type Revision, type Run, type Scenario } from '../simulator.js';
import { oracleOf } from './oracle.js';

type Validate = (newDoc: object, oldDoc: object | null, user: object, security: object) => void;
const guard = await readDesign('guard');
const validate = compileDesign<Validate>(guard.validate_doc_update ?? '');

/** What must hold in every run of every flow; each rule throws where it is broken. */
export function checkRun(given: Scenario, run: Run): void {
  const { revisions } = run;
  revisions.forEach((revision, i) => {
    const before = revisions[i - 1];
    checkHistory(before, revision);
    checkPaths(stepsOf(revision.job));
    checkSlots(given, revision);
    checkTimers(before, revision);
    if (revision.by !== 'user') checkBegun(before, revision);
    if (i % 4 === 0 || isFinal(revision.job)) checkDocument(before, revision);
  });
  checkStarts(run);
  const last = revisions.at(-1)?.job as FinalJob;
  checkEnd(last);
  checkRetries(given, run);
  checkCallbacks(last);
  checkRepeated(run);
  checkRedone(last);
  checkUndo(given, last);
  checkOutcome(given, last);
}

/** What has ended stays as it is, nothing is taken away, attempts are numbered through. */
function checkHistory(before: Revision | undefined, { job }: Revision): void {
  expect(job).toMatchObject({ mine: { kept: true } });
  const old = before === undefined ? [] : stepsOf(before.job);
  const steps = stepsOf(job);
  old.forEach((step, i) => {
    const now = steps[i];
    if (now === step) return;
    if (!isOpen(step)) expect(now).toEqual(step);
    else
      expect([now?.path, now?.attempt, now?.['claim']]).toEqual([
        step.path,
        step.attempt,
        step['claim'],
      ]);
  });
  const counts = new Map<string, number>();
  for (const { path, attempt } of steps) {
    counts.set(path, (counts.get(path) ?? 0) + 1);
    expect(attempt).toBe(counts.get(path));
  }
}

/** One step has one attempt at a time. */
function checkPaths(steps: readonly Step[]): void {
  const open = steps.filter(isOpen).map(({ path }) => path);
  expect(open).toEqual([...new Set(open)]);
}

function checkSlots({ slots }: Scenario, { job, by }: Revision): void {
  const own = stepsOf(job).filter((step) => isLive(step) && step.engine === by);
  expect(own.length).toBeLessThanOrEqual(slots);
}

/** The engine reads what it writes, and the database takes it. */
function checkDocument(before: Revision | undefined, { job }: Revision): void {
  const stored = JSON.parse(JSON.stringify(job)) as StoredDocument;
  const parsed = parseDocument(stored);
  if (!isFinal(job)) expect(parsed).toEqual({ kind: 'job', ok: true, value: job });
  try {
    validate(
      stored,
      before === undefined ? null : (JSON.parse(JSON.stringify(before.job)) as object),
      {},
      {},
    );
  } catch (thrown) {
    throw new Error(`The database refuses it: ${JSON.stringify(thrown)}`, { cause: thrown });
  }
}

/** Whether a step has finished the flow in that run. */
function isFinishedEarly(job: Job, run: number | undefined): boolean {
  return stepsOf(job).some((step) => step['finishes'] === true && step.run === run);
}

/** Steps begin where the structures allow it, not in a pause, nor after a cancel. */
function checkBegun(before: Revision | undefined, { job, began }: Revision): void {
  if (!isLiveJob(job)) return;
  const old = before === undefined ? 0 : stepsOf(before.job).length;
  const fresh = job.steps.slice(old).filter((step) => 'start' in step);
  const { cancel } = job.flow_definition;
  const wasFinished = before !== undefined && isFinishedEarly(before.job, job.run);
  if (wasFinished && !(job.cancel ?? false)) expect(fresh).toEqual([]);
  const tasks = job.definitions;
  const oracle = oracleOf(job.steps, tasks);
  for (const step of fresh) {
    const { path, phase } = step;
    const isCancel = path === 'cancel' || path.startsWith('cancel.');
    if (isCancel) expect(job.cancel ?? false).toBeTruthy();
    else if (phase === 'main' || phase === 'callback') {
      expect([job.cancel ?? false, began.includes(step as never) && job.paused]).toEqual([
        false,
        began.includes(step as never) ? (job.paused === true ? 'never' : job.paused) : false,
      ]);
    }
    const isJudged =
      (job.redo ?? []).length === 0 && isOpen(step) && phase !== 'error' && phase !== 'undo';
    if (!isJudged) continue;
    const objection = isCancel
      ? cancel && oracle.objection(cancel, 'cancel', path)
      : oracle.objection(job.tasks, '', path);
    if (objection !== undefined) throw new Error(`Step ${path} must not begin: ${objection}`);
  }
  if (fresh.some(({ path, phase }) => /^error(\.|$)/.test(path) || phase === 'undo')) {
    const open = job.steps.filter((step) => isOpen(step) && /^(main|callback)$/.test(step.phase));
    expect(open.map(({ path }) => path)).toEqual([]);
  }
}

/** No attempt is begun twice, whoever raced for it. */
export function checkStarts({ revisions }: Run): void {
  const starts = revisions.flatMap(({ began }) =>
    began.map(({ path, attempt }) => `${path}#${attempt}`),
  );
  expect(starts).toEqual([...new Set(starts)]);
  const claims = revisions.flatMap(({ began }) => began.map(({ claim }) => claim));
  expect(claims).toEqual([...new Set(claims)]);
}

/** A final job tells how it ended, and nothing in it is open. */
function checkEnd(job: FinalJob): void {
  const { state, exit, failure, end } = job;
  expect(typeof end).toBe('number');
  expect(stepsOf(job).filter(isOpen)).toEqual([]);
  expect(state === '$$cancelled').toBe(
    exit === 130 && failure?.name === 'Cancelled' && 'cancel' in job,
  );
  if (exit === 0) expect(failure).toBeUndefined();
  else expect(typeof failure?.message).toBe('string');
  for (const key of ['next_due', 'resume_at', 'held_since']) expect(job).not.toHaveProperty(key);
}

/** Attempts that failed by themselves are no more than the policy allows, in each run of the flow. */
function checkRetries({ tasks }: Scenario, { revisions }: Run): void {
  const job = revisions.findLast((revision) => isLiveJob(revision.job))?.job as LiveJob | undefined;
  if (job === undefined) return;
  const byRun = new Map<string, Step[]>();
  for (const step of stepsOf(revisions.at(-1)?.job as Job)) {
    const key = `${step.path}#${step.run}`;
    if (isOwnFailure(step)) byRun.set(key, [...(byRun.get(key) ?? []), step]);
  }
  const entries = new Map(leavesOf(job.tasks).map((leaf) => [leaf.path, leaf.entry]));
  for (const [, [first, ...others]] of byRun) {
    const { path = '', task = '' } = first ?? {};
    const defined = path.replace(/(^|\.)(map|loop)\.\d+(?=\.|$)/g, '$1$2.*');
    const decider = entries.get(defined.replace(/\.decision\.\d+$/, ''));
    if (!entries.has(defined) && /\.(activity|child|timer)\./.test(path)) continue;
    const written =
      entries.get(defined)?.retry ??
      decider?.retry ??
      tasks.find(({ name }) => name === task)?.retry;
    expect(others.length).toBeLessThanOrEqual(toRetryPolicy(written).limit);
  }
}

function isOwnFailure(step: Step): boolean {
  return isFailed(step) && step.state !== '$$cancelled' && step.exit !== 4;
}

/** A callback that did its work is not called again, unless somebody asked for that. */
function checkCallbacks(job: FinalJob): void {
  if (Array.isArray(job['redo'])) return;
  // What finishes the flow does so in each run that comes to it.
  const calls = stepsOf(job).filter(
    ({ phase, state, finishes }) =>
      phase === 'callback' && state === '$$complete' && finishes === undefined,
  );
  const undone = new Set(
    stepsOf(job)
      .filter(({ phase }) => phase === 'undo')
      .map(({ path }) => path),
  );
  const paths = calls.filter(({ structure }) => structure === undefined).map(({ path }) => path);
  // A decider of which something was undone begins anew, with all that it decides.
  const isUndone = (path: string): boolean => {
    const decider = /^(.+)\.(?:decision|activity|timer|child)\.[^.]+$/.exec(path)?.[1];
    const ofDecider =
      decider !== undefined && [...undone].some((at) => at.startsWith(`${decider}.`));
    return ofDecider || undone.has(`${path}.undo`);
  };
  const twice = paths.filter((path, i) => paths.indexOf(path) !== i && !isUndone(path));
  expect(twice).toEqual([]);
}

/**
 * RF1: What is done does not begin again in a later run, unless it was undone, somebody asked for it again,
 * or a step began the flow anew.
 */
function checkRepeated({ revisions }: Run): void {
  const { job } = revisions.findLast((revision) => isLiveJob(revision.job)) ?? {};
  if (job === undefined || !isLiveJob(job)) return;
  const { redo = [], first_run: first = 1, tasks } = job;
  const undone = new Set(job.steps.flatMap(({ phase, path }) => (phase === 'undo' ? path : [])));
  const isExcused = ({ path, run }: Step, later: Step): boolean =>
    run < first ||
    run === later.run ||
    undone.has(`${path}.undo`) ||
    // Their own rules say when these count: handlers, branches for what failed, what a decider began.
    /(^|\.)(error|cancel|undo|catch|decision|activity|timer|child)(\.|$)/.test(path) ||
    redo.some((one) => run < one.run && one.run <= later.run && isFrom(path, one.from, tasks));
  const last = new Map<string, Step>();
  const twice = stepsOf(revisions.at(-1)?.job as Job).filter((step) => {
    const before = last.get(step.path);
    last.set(step.path, step);
    return (
      before?.state === '$$complete' &&
      before['finishes'] !== true &&
      before.structure === undefined &&
      !isExcused(before, step)
    );
  });
  expect(twice.map(({ path, run }) => [path, run])).toEqual([]);
}

/** RF2: Where a retry asked for a part of the flow again, a job that then succeeds has looked at it anew. */
function checkRedone(job: FinalJob): void {
  const { exit, run = 1 } = job as FinalJob & { readonly run?: number };
  const steps = stepsOf(job);
  if (exit !== 0 || isFinishedEarly(job, run) || steps.some(({ path }) => /^error/.test(path)))
    return;
  const redo = (job['redo'] ?? []) as readonly { readonly from: string; readonly run: number }[];
  const left = redo.filter(
    ({ from, run: asked }) =>
      // What is deeper may be beside the way that the flow takes now.
      /^\d+$/.test(from) &&
      steps.some((step) => isWithin(step.path, from)) &&
      !steps.some((step) => step.run >= asked && isWithin(step.path, from)),
  );
  expect(left).toEqual([]);
}

function timersIn(step: Step | undefined) {
  return (step !== undefined && isOfPeople(step) ? step.form.timers : undefined) ?? [];
}

/** PF2: timers of waits for people go off once, in their order and not too early. */
function checkTimers(last: Revision | undefined, { job }: Revision): void {
  const old = last === undefined ? [] : stepsOf(last.job);
  stepsOf(job).forEach((step, i) => {
    const timers = timersIn(step);
    const before = timersIn(old[i]);
    timers.forEach(({ at, told = Infinity }, n) => {
      expect(told).toBeGreaterThanOrEqual(at);
      const known = before[n]?.told;
      if (known !== undefined) expect(told).toBe(known);
    });
    const open = timers.findIndex(({ told }) => told === undefined);
    if (open >= 0) expect(timers.slice(open).every(({ told }) => told === undefined)).toBe(true);
  });
}

/** After a failure or a cancel everything that can be undone was, what was done last first. */
function checkUndo({ tasks }: Scenario, job: FinalJob): void {
  const steps = stepsOf(job);
  const { exit, failure, run } = job as FinalJob & { readonly run?: number };
  const flow = job['flow_definition'] as { timeout_mode?: string } | undefined;
  const isCut = flow?.timeout_mode === 'hard' && failure?.name === 'FlowTimeout';
  if (exit === 0 || flow === undefined || isCut || Array.isArray(job['redo'])) return;
  if (isFinishedEarly(job, run) && exit !== 130) return;
  if (exit === 3 && failure?.step === undefined) return;
  const entries = new Map(
    leavesOf(job['tasks'] as LiveJob['tasks']).map(({ path, entry }) => [path, entry]),
  );
  const undoOf = ({ path, task }: Step): string | undefined => {
    const entry = entries.get(path.replace(/(^|\.)(map|loop)\.\d+(?=\.|$)/g, '$1$2.*'));
    const isTask =
      entry === undefined ||
      (entry.wait ?? entry.approve ?? entry.delay ?? entry.flow ?? entry.decider) === undefined;
    return entry?.undo ?? (isTask ? tasks.find(({ name }) => name === task)?.undo : undefined);
  };
  const last = (path: string): Step | undefined => steps.findLast((step) => step.path === path);
  const done = steps.filter(
    (step) =>
      step.state === '$$complete' &&
      /^(main|callback)$/.test(step.phase) &&
      step.structure === undefined &&
      last(step.path) === step &&
      undoOf(step) !== undefined,
  );
  const missing = done.filter(({ path }) => last(`${path}.undo`) === undefined);
  expect(missing.map(({ path }) => path)).toEqual([]);
  const undoing = done
    .map(({ path, end }) => ({
      end: end as number,
      first: steps.find((step) => step.path === `${path}.undo` && step.run === run),
    }))
    .flatMap(({ end, first }) =>
      first === undefined ? [] : [{ end, at: Number(first['accepted']) }],
    )
    .toSorted((a, b) => a.at - b.at);
  undoing.forEach(({ end, at }, i) => {
    const next = undoing[i + 1];
    if (next !== undefined && next.at > at) expect(next.end).toBeLessThanOrEqual(end);
  });
}

/** Of the flow and of its database, not of a step. */
const others = ['FlowTimeout', 'Cancelled', 'Expired', 'RefreshRefused', 'OutputError'];

/** A job succeeds when its structure is done, and fails because it failed. */
function checkOutcome({ tasks }: Scenario, job: FinalJob): void {
  const { exit, failure } = job;
  const tree = job['tasks'] as LiveJob['tasks'] | undefined;
  if (tree === undefined || Array.isArray(job['redo'])) return;
  if (isFinishedEarly(job, job['run'] as number | undefined)) return;
  const definitions = Object.fromEntries(tasks.map((one) => [one.name, one]));
  const end = oracleOf(stepsOf(job), definitions).endOf(tree, '');
  if (exit === 0) {
    const ofHandler = stepsOf(job).filter(({ path }) => /^error(\.|$)/.test(path));
    const isItsEnd = (job['flow_definition'] as FlowSettings).error_result === 'handler';
    const isRecovered =
      ofHandler.some((step) => step['sets_exit'] === 0) || (isItsEnd && ofHandler.length > 0);
    if (!isRecovered) expect(end).toBe('done');
  } else if (!others.includes(failure?.name ?? '')) expect(end).toBe('failed');
}
