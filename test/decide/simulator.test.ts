import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFinal, type Job, type LiveJob } from '../../src/model/job.js';
import { parseDocument } from '../../src/reading/parse.js';
import type { StoredDocument } from '../../src/model/document.js';
import { toRetryPolicy } from '../../src/model/retry.js';
import { isFailed, isLive, isOpen, type Step } from '../../src/model/step.js';
import { leavesOf } from '../../src/structures/tree.js';
import type { Leaf } from '../../src/model/tree.js';
import { flow, t0, task } from '../support/builders.js';
import { minutes, runs } from '../support/properties.js';
import { simulate, stepsOf, type Revision, type Scenario } from './simulator.js';
import { checkStarts } from './simulation/rules.js';

/** A value once in `odds` times, otherwise none. */
const some = <T>(arbitrary: fc.Arbitrary<T>, odds = 3): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: odds - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
/** An object of those keys that were drawn. */
const sparse = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
  fc
    .record(model)
    .map((drawn) =>
      Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)),
    );

const retry = fc.oneof(
  fc.nat(2),
  sparse({
    limit: fc.nat(3),
    delay: some(fc.nat(4_000)),
    factor: some(fc.integer({ min: 1, max: 3 })),
    jitter: some(fc.boolean()),
    total: some(fc.integer({ min: 1, max: 20_000 }), 4),
    never: some(fc.constantFrom(['EngineLost'], ['Broken'], ['StepTimeout'])),
  }),
);
const entry = fc.record({ task: fc.constantFrom('t0', 't1', 't2', 't3') }).chain((named) =>
  sparse({
    retry: some(retry),
    error: some(fc.constantFrom('h0', 'h1')),
    optional: some(fc.boolean(), 5),
    when: some(fc.constant('x')),
  }).map((more) => ({ ...named, ...more })),
);
const tree = fc
  .array(fc.oneof({ weight: 3, arbitrary: entry }, fc.array(entry, { maxLength: 3 })), {
    minLength: 1,
    maxLength: 5,
  })
  .filter((nodes) => nodes.flat().length <= 6);
const flowOptions = sparse({
  retry: some(retry),
  error: some(fc.constant('h0')),
  cancel: some(fc.constantFrom('t0', { sequence: ['t1', { task: 't2', error: 'h0', retry: 1 }] })),
  timeout: some(fc.constantFrom(0, 3_000, 20_000)),
  timeout_mode: some(fc.constantFrom('start' as const, 'hard' as const)),
});
const taskOptions = sparse({
  retry: some(fc.nat(1)),
  accept_timeout: some(fc.integer({ min: 500, max: 5_000 }), 6),
  total_timeout: some(fc.integer({ min: 500, max: 20_000 }), 6),
});
const span = fc
  .tuple(fc.nat(20_000), fc.nat(20_000))
  .map(([from, ms]) => ({ from, to: from + ms }));
const pauses = fc.array(span, { maxLength: 2 }).map((spans) =>
  spans.flatMap(({ from, to }) => [
    { at: from, change: { paused: true } },
    { at: to, change: { paused: false } },
  ]),
);
/** Whoever pauses goes on in the end: a job that stays paused is not meant to end. */
const resume = { at: 60_000, change: { paused: false } };

const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    nodes: tree,
    options: flowOptions,
    ofTasks: fc.array(taskOptions, { minLength: 4, maxLength: 4 }),
    unserved: some(fc.nat(3), 8),
    job: sparse({
      exec_after: some(fc.nat(5_000).map((ms) => t0 + ms)),
      expires: some(
        fc.nat(9_000).map((ms) => t0 + ms),
        6,
      ),
      paused: some(fc.constant(true), 6),
      cancel: some(fc.constant(true), 12),
    }),
    engines: fc.integer({ min: 1, max: 3 }),
    slots: fc.integer({ min: 1, max: 2 }),
    busy: fc.array(span, { maxLength: 2 }),
    losses: fc.nat(5),
    stops: fc.nat(2),
    pauses,
    cancelAt: some(fc.nat(15_000), 5),
    seed: fc.nat(1_000_000),
  })
  .map(({ nodes, options, ofTasks, unserved, pauses: edits, cancelAt, job, ...rest }): Scenario => {
    const cancel =
      cancelAt === undefined ? [] : [{ at: cancelAt, change: { cancel: { by: 'user' } } }];
    const plain = ofTasks.map((more, i) =>
      task(`t${i}`, { plugin: i === unserved ? 'nobody' : 'p', ...more }),
    );
    const handlers = [
      task('h0', { plugin: 'q', error: 'h1', retry: 1 }),
      task('h1', { plugin: 'q' }),
    ];
    // Without a timeout a job that nobody can serve waits for ever, as it should.
    const endless = unserved === undefined ? {} : { timeout: 3_000 };
    return {
      ...rest,
      detours: true,
      job: { ...job },
      flow: flow(nodes, { ...options, ...endless }),
      tasks: [...plain, ...handlers],
      edits: [...edits, resume, ...cancel],
    };
  });

describe('any job, run by any engines,', () => {
  // Shows D-05.
  it('ends, and keeps the rules on its way', minutes, () => {
    const property = fc.property(scenario, (given) => {
      const run = simulate(given);
      const last = run.revisions.at(-1);
      expect(last !== undefined && isFinal(last.job)).toBe(true);
      run.revisions.forEach((revision, i) => checkRevision(run.revisions[i - 1], revision));
      checkStarts(run);
      run.revisions.forEach(({ job }) => checkStored(job));
      checkLast(last?.job as Job);
      checkRetries(given, last?.job as Job);
    });
    fc.assert(property, runs(250));
  });

  it('that meets no trouble takes one revision per step and one more', () => {
    const nodes = fc.array(fc.constantFrom('t0', 't1'), { maxLength: 6 });
    const property = fc.property(nodes, fc.nat(), (steps, seed) => {
      const given = { steps, seed, flow: flow(steps, { retry: 0 }) };
      const calm = {
        job: {},
        engines: 1,
        slots: 1,
        losses: 0,
        stops: 0,
        edits: [],
        busy: [],
        detours: false,
      };
      const tasks = ['t0', 't1'].map((name) => task(name, { plugin: 'p', optional: true }));
      const { revisions } = simulate({ ...given, ...calm, tasks });
      expect(revisions.length).toBe(steps.length + 1);
    });
    fc.assert(property, runs(25));
  });
});

/** An engine need not read what it wrote itself: it would read the same. */
function checkStored(job: Job): void {
  const stored = parseDocument(JSON.parse(JSON.stringify(job)) as StoredDocument);
  expect(stored).toEqual({ kind: 'job', ok: true, value: job });
}

/** What must hold between a revision and the one before. */
function checkRevision(before: Revision | undefined, { job, by, began }: Revision): void {
  expect(job).toMatchObject({ mine: { kept: true } });
  const old = before === undefined ? [] : stepsOf(before.job);
  const steps = stepsOf(job);
  // Ended steps are never altered, and none is ever taken away.
  old.forEach((step, i) => {
    if (isOpen(step)) expect(steps[i]).toMatchObject({ path: step.path, attempt: step.attempt });
    else expect(steps[i]).toEqual(step);
  });
  // A sequence has one attempt at a time.
  expect(steps.filter(isLive).length).toBeLessThanOrEqual(1);
  if (by === 'user' || isFinal(job)) return;
  const live = job as LiveJob;
  for (const step of steps.slice(old.length)) {
    if (step.phase === 'main') checkMayBegin(live, step, old);
    if (step.path.startsWith('cancel')) expect(live.cancel).toBeTruthy();
  }
  for (const step of began) {
    if (!step.path.startsWith('cancel'))
      expect([live.paused ?? false, live.cancel ?? false]).toEqual([false, false]);
  }
}

/** A step of the flow begins when everything before it is done, skipped, recovered or may fail. */
function checkMayBegin(job: LiveJob, begun: Step, old: readonly Step[]): void {
  const { steps } = job;
  const isDone = (leaf: Leaf): boolean => {
    const line = steps.filter(({ path }) => path === leaf.path || path.startsWith(`${leaf.path}.`));
    const last = line.at(-1);
    if (last?.state === '$$complete' || last?.state === '$$skipped') return true;
    return leaf.entry.optional === true && last !== undefined && isFailed(last) && !('due' in last);
  };
  const leaves = leavesOf(job.tasks);
  const behind = leaves.filter(({ index }) => index < begun.index);
  expect(behind.filter((leaf) => !isDone(leaf))).toEqual([]);
  const earlier = old.filter(({ path }) => path === begun.path);
  expect(begun.attempt).toBeGreaterThan(earlier.length);
}

/** A final job tells how it ended, and nothing in it is open. */
function checkLast(job: Job): void {
  const { state, exit, failure, end } = job as Extract<Job, { end?: number }>;
  const steps = stepsOf(job);
  expect(typeof end).toBe('number');
  expect(steps.filter((step) => isLive(step) || step.state === '$$waiting')).toEqual([]);
  expect(
    (state === '$$cancelled') ===
      (exit === 130 && failure?.['name'] === 'Cancelled' && 'cancel' in job),
  ).toBe(true);
  if (exit === 0) expect(failure).toBeUndefined();
  else
    expect(failure).toMatchObject({
      name: expect.any(String) as string,
      message: expect.any(String) as string,
    });
  for (const key of ['next_due', 'resume_at', 'held_since']) expect(job).not.toHaveProperty(key);
}

/** Attempts that failed by themselves are no more than the policy allows, in each run of the flow. */
function checkRetries({ flow: defined, tasks }: Scenario, job: Job): void {
  const limitOfFlow = toRetryPolicy(defined.retry).limit;
  for (const leaf of leavesOf(defined.tasks)) {
    const written = leaf.entry.retry ?? tasks.find(({ name }) => name === leaf.entry.task)?.retry;
    const own = stepsOf(job).filter((step) => step.path === leaf.path && isOwnFailure(step));
    for (let run = 1; run <= limitOfFlow + 1; run += 1) {
      const failed = own.filter((step) => step.run === run).length;
      expect(failed).toBeLessThanOrEqual(toRetryPolicy(written).limit + 1);
    }
    expect(own.every((step) => step.run <= limitOfFlow + 1)).toBe(true);
  }
}

function isOwnFailure(step: Step): boolean {
  return isFailed(step) && step.state !== '$$cancelled' && step.exit !== 4;
}
