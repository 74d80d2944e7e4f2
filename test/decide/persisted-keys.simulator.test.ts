import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finalJobSchema } from '../../src/model/job.js';
import { liveJobSchema, newJobSchema } from '../../src/reading/documents.js';
import { stepSchema } from '../../src/model/step.js';
import { minutes, runs } from '../support/properties.js';
import { anyScenario } from './simulation/flows.js';
import { simulate, stepsOf } from './simulator.js';

const keysOf = (schema: { readonly shape: object }): readonly string[] => Object.keys(schema.shape);
/** Of the document store, and what people write into a simulated job. */
const ofOthers = ['_id', '_rev', 'mine'];
const ofJobs = [newJobSchema, liveJobSchema, finalJobSchema].flatMap(keysOf);
const inJobs = new Set([...ofOthers, ...ofJobs]);
const inSteps = new Set(stepSchema.options.flatMap(keysOf));

describe('every key that decisions write', () => {
  it('is in the schema of jobs, or of the attempts in them', minutes, () => {
    const property = fc.property(anyScenario, (given) => {
      const stray = simulate(given).revisions.flatMap(({ job }) => [
        ...unknown(job, inJobs),
        ...stepsOf(job).flatMap((step) => unknown(step, inSteps)),
      ]);
      expect([...new Set(stray)]).toEqual([]);
    });
    fc.assert(property, runs(100));
  });
});

function unknown(written: object, known: ReadonlySet<string>): readonly string[] {
  return Object.keys(written).filter((key) => !known.has(key));
}
