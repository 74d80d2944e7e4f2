import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Flow } from '../../src/model/flow.js';
import { isLiveJob, type LiveJob } from '../../src/model/job.js';
import { isOpen, type Step } from '../../src/model/step.js';
import { treeAt, nodeAt } from '../../src/reading/entries.js';
import { decisionMaker, isOfDecider, slicedMap } from '../../src/structures/paths.js';
import { minutes, runs } from '../support/properties.js';
import { simulate, stepsOf, type Revision, type Run, type Scenario } from './simulator.js';
import { checkRun } from './simulation/rules.js';
import { movingScenario } from './simulation/versions.js';

/**
 * Jobs that move between two versions of their flow while engines compete, die and stop, and people pause, cancel, skip
 * and retry.
 */
describe('a job that moves between versions of its flow', () => {
  // Shows X-28.
  it('ends by the rules of any job, and is never half moved', minutes, () => {
    let moved = 0;
    const property = fc.property(movingScenario, (given) => {
      const run = simulate(given);
      checkRun(given, run);
      checkVersions(given, run);
      moved += checkMoves(run);
    });
    fc.assert(property, runs(25));
    expect(moved).toBeGreaterThan(0);
  });
});

/** The definition of a job is one version with its revision, never a mixture. */
function checkVersions({ flow, versions = [] }: Scenario, { revisions }: Run): void {
  const all = new Map([flow, ...versions].map((one) => [one.version, one]));
  for (const { job } of revisions) {
    if (!isLiveJob(job)) continue;
    const { tasks, _rev, ...settings } = all.get(job.flow_version) as Flow & { _rev: string };
    expect(job.tasks).toEqual(tasks);
    expect(job.flow_rev).toBe(_rev);
    const { _rev: _own, ...definition } = job.flow_definition as Flow & { _rev?: string };
    expect(definition).toEqual(settings);
  }
}

/** Every step that is done or open has its place by the other version; none that is done in it runs again. */
function checkMoves({ revisions }: Run): number {
  let moved = 0;
  revisions.forEach(({ job }, i) => {
    const before = revisions[i - 1]?.job;
    if (before === undefined || !isLiveJob(before) || !isLiveJob(job)) return;
    if (before.flow_version === job.flow_version) return;
    moved += 1;
    expect(job.steps).toEqual(before.steps);
    for (const step of job.steps) {
      if (isOpen(step) || (step.state === '$$complete' && step.run === job.run)) {
        checkPlace(job, step);
      }
    }
    checkDone(job, revisions.slice(i));
  });
  return moved;
}

function checkPlace(job: LiveJob, step: Step): void {
  const path = slicedMap(decisionMaker(step.path));
  if (/(^|\.)(error|undo)$/.test(path) || isOfDecider(path)) return;
  const branch = treeAt(job, path);
  const node = branch && nodeAt(branch.tree, path, branch.prefix);
  expect([path, node === undefined]).toEqual([path, false]);
  const { structure, task } = node as unknown as Record<string, unknown>;
  expect([path, structure ?? task]).toEqual([path, step['structure'] ?? step.task]);
}

/** What was done when the job moved begins no further attempt in the same run. */
function checkDone(job: LiveJob, later: readonly Revision[]): void {
  const done = job.steps.filter(
    (step) =>
      step.state === '$$complete' && step.run === job.run && step['structure'] === undefined,
  );
  const last = stepsOf(later.at(-1)?.job ?? job);
  for (const { path, run, attempt } of done) {
    const again = last.filter((one) => one.path === path && one.run === run);
    expect([path, ...again.filter((one) => one.attempt > attempt)]).toEqual([path]);
  }
}
