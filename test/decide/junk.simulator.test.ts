import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/decide/decide.js';
import { endInvalid, endRefused } from '../../src/decide/finish/finish.js';
import { hasItsEnd } from '../../src/decide/requests/hand-edits.js';
import { quickCheck } from '../../src/decide/compete/quick-check.js';
import type { Intent } from '../../src/decide/intent.js';
import { finalJobSchema, isFinal, isFinalState } from '../../src/model/job.js';
import { liveJobSchema, newJobSchema } from '../../src/reading/documents.js';
import type { StoredDocument } from '../../src/model/document.js';
import { parseDocument } from '../../src/reading/parse.js';
import { json } from '../model/arbitraries.js';
import { flow, newJob, t0, task, world } from '../support/builders.js';
import { minutes, runs } from '../support/properties.js';
import { begun, story } from './story.js';

/**
 * Users, scripts and former versions may have written anything into any field of a job. Whatever it
 * is: reading and deciding never throw, they come to rest, and the job ends, is marked, or goes on.
 */

const steps = [
  'pick',
  { task: 'pack', error: 'sweep' },
  { wait: { signal: 'go', timeout: 5_000 } },
];
const flows = [flow(steps, { error: 'sweep', retry: 1, notify: [{ task: 'sweep' }] })];
const tasks = [task('pick'), task('pack', { retry: 2 }), task('sweep')];
const surroundings = world({ flows, tasks, dead: ['gone'], peers: [] });

const stored = (doc: unknown): StoredDocument => JSON.parse(JSON.stringify(doc)) as StoredDocument;

const live = begun(steps).did('pick').job;
const waiting = begun(steps).did('pick').did('pack').job;
const failed = story({ steps, tasks });
failed.go();
failed.did('pick').broke('pack').broke('pack').broke('pack').broke('sweep');
const decided = begun([{ decider: 'd' }, { map: { over: [1, 2, 3], slice: 2, do: 'pick' } }]).job;
const bases = [newJob(), live, waiting, decided, failed.job, { ...newJob(), state: '$$complete' }];

/** Every key that means something in a job, whoever writes it. */
const keys = [
  ...new Set([
    ...Object.keys(newJobSchema.shape),
    ...Object.keys(liveJobSchema.shape),
    ...Object.keys(finalJobSchema.shape),
    ...['end', 'exit', 'failure', 'result', 'notes', 'retry_refused', 'child_run'],
    ...['continued_from', 'continued_start', 'continued_to', 'sets_exit', 'webhook'],
  ]),
].filter((key) => key !== 'type');

const junk = fc.oneof(json, fc.constantFrom<unknown>({}, [], [null], [{}], 'x', 5, -1, true));

const spoilt = fc
  .tuple(
    fc.constantFrom(...bases),
    fc.uniqueArray(fc.tuple(fc.constantFrom(...keys), junk), {
      minLength: 1,
      maxLength: 3,
      selector: ([key]) => key,
    }),
  )
  .map(([base, changes]) => stored({ ...base, ...Object.fromEntries(changes) }));

type Settled = {
  readonly doc: StoredDocument;
  readonly last?: Intent;
  /** A retry was accepted, even if the job has ended again since. */
  readonly reopened: boolean;
};

/** Decides until the job rests, as an engine does: what it cannot read it ends. */
function settle(given: StoredDocument, now: number): Settled {
  let doc = given;
  let reopened = false;
  for (let writes = 0; writes <= 20; writes += 1) {
    quickCheck(doc, now, surroundings);
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'job') throw new Error('It is no job any more.');
    if (!parsed.ok) {
      expect(isFinalState(doc['state'])).toBe(false);
      doc = stored(endInvalid(doc, parsed.problems, now));
      continue;
    }
    const intent = decide(parsed.value, now, surroundings);
    if (!('job' in intent)) return { doc, last: intent, reopened };
    reopened ||= isFinalState(doc['state']) && !isFinalState(intent.job.state);
    doc = stored(intent.job);
    if (intent.kind === 'claim') return { doc, last: intent, reopened };
  }
  throw new Error('It comes to no rest.');
}

describe('a job with anything in its fields', () => {
  it.each(keys)('is decided about without a surprise, whatever stands in "%s"', minutes, (key) => {
    fc.assert(
      fc.property(fc.constantFrom(...bases), junk, (base, value) => {
        settle(stored({ ...base, [key]: value }), t0 + 100);
      }),
      runs(60),
    );
  });

  it('comes to rest, and a final one keeps its end', minutes, () => {
    fc.assert(
      fc.property(spoilt, fc.integer({ min: 0, max: 120_000 }), (doc, later) => {
        const { doc: rest, last, reopened } = settle(doc, t0 + later);
        if (last?.kind === 'wait' && last.until !== undefined) {
          expect(last.until).toBeGreaterThan(t0 + later);
        }
        if (reopened || !isFinalState(doc['state'])) return;
        expect(isFinalState(rest['state'])).toBe(true);
        expect(hasItsEnd(rest)).toBe(true);
        // One that no engine can have ended is given what it lacks.
        const kept = hasItsEnd(doc)
          ? ['state', 'exit', 'end', 'result', 'failure']
          : ['state', 'end', 'result'];
        for (const key of kept) expect(rest[key]).toEqual(doc[key]);
      }),
      runs(800),
    );
  });

  it('can always be ended', minutes, () => {
    const why = { name: 'DecisionFault', message: 'No.' };
    fc.assert(
      fc.property(spoilt, (doc) => {
        const ended = parseDocument(stored(endRefused(doc, why, t0)));
        expect(ended.kind === 'job' && ended.ok && isFinal(ended.value)).toBe(true);
      }),
      runs(120),
    );
  });
});
