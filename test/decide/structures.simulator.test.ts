import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/model/job.js';
import { minutes, runs } from '../support/properties.js';
import { simulate, stepsOf, type Scenario } from './simulator.js';
import { anyScenario, calmScenario } from './simulation/flows.js';
import { checkRun } from './simulation/rules.js';

describe('any flow of any structures, run by any engines in any trouble,', () => {
  it('ends, and keeps the rules on its way', minutes, () => {
    const property = fc.property(anyScenario, (given) => checkRun(given, simulate(given)));
    fc.assert(property, runs(100));
  });
});

describe('any flow of any structures without trouble', () => {
  it('ends alike, whichever engine acts and in whatever order writes race', minutes, () => {
    const property = fc.property(calmScenario, fc.nat(), fc.nat(), (given, one, other) => {
      const alone = outcomeOf({ ...given, engines: 1, order: one });
      expect(outcomeOf({ ...given, engines: 3, order: other })).toEqual(alone);
    });
    fc.assert(property, runs(25));
  });
});

/** The final document without what tells who did it, and which of two steps of one moment was first. */
function outcomeOf(given: Scenario): unknown {
  const last = simulate(given).revisions.at(-1)?.job as Job;
  const steps = stepsOf(last)
    .map(({ engine: _e, pid: _p, claim: _c, ...step }) => step)
    .toSorted((a, b) => momentOf(a) - momentOf(b) || (placeOf(a) < placeOf(b) ? -1 : 1));
  const { _rev, ...job } = last as Job & Readonly<Record<string, unknown>>;
  return { ...job, steps };
}

type Entered = Readonly<Record<string, unknown>>;

function momentOf({ accepted, start, end }: Entered): number {
  return Number(accepted ?? start ?? end);
}

function placeOf({ path, attempt }: Entered): string {
  return `${String(path)} ${String(attempt).padStart(6, '0')}`;
}
