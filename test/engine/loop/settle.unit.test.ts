import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/decide/finish/outcome.js';
import { settleAttempts } from '../../../src/engine/loop/settle.js';
import { writeReport } from '../../../src/engine/attempts/write-report.js';
import { decide } from '../../../src/decide/decide.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { LiveStep } from '../../../src/model/step.js';
import { flow, liveJob, task, t0, world } from '../../support/builders.js';
import { writeParts } from './write-parts.js';

/** A job of which the first of two steps runs. */
function runningJob(): { readonly doc: StoredDocument; readonly step: LiveStep } {
  const defined = flow(['a', 'b']);
  const around = world({ tasks: [task('a'), task('b')], flows: [defined] });
  const intent = decide(liveJob(defined), t0, around);
  if (intent.kind !== 'claim') throw new Error(intent.kind);
  const doc = { ...intent.job, _rev: '2-x' } as unknown as StoredDocument;
  return { doc, step: intent.steps[0] as LiveStep };
}
const { doc, step } = runningJob();
const done: Outcome = { kind: 'done', result: 'fine' };

/** The parts that settle attempts; nothing follows an outcome but that it is written. */
function settleParts() {
  const { parts, ...more } = writeParts({ docs: [doc] });
  const around = {
    decider: async () => ({ kind: 'ignore', because: 'for now' }),
    fail: () => undefined,
    waitQueue: { leave: () => undefined },
    events: { emit: () => undefined },
  };
  return { parts: { ...parts, ...around } as never, ...more };
}

const settled = (given: ReturnType<typeof settleParts>, outcome = done) =>
  settleAttempts(given.parts, 'j', [{ step, outcome, report: {} }]);

describe('the outcome of an attempt', () => {
  // Shows C-06.
  it('is written in one revision, and its slot is free', async () => {
    const given = settleParts();
    expect(await settled(given)).toMatchObject({ _rev: '3-1', steps: [{ result: 'fine' }] });
    expect(given.seen).toContain(`release ${step.claim}`);
    expect(given.store.writes).toHaveLength(1);
  });

  it('is checked in a thread where that may take long, once', async () => {
    const checked = (schema: Readonly<Record<string, unknown>>) => {
      const definitions = { a: task('a', { output_schema: schema }), b: task('b') };
      const given = settleParts();
      given.store.docs.set('j', { ...doc, definitions });
      return settled(given);
    };
    const text = { type: 'string', pattern: '^(f|fi)ne$' };
    expect(await checked(text)).toMatchObject({ steps: [{ result: 'fine' }] });
    expect(await checked({ ...text, pattern: 'x' })).toMatchObject({
      steps: [
        {
          state: '$$error',
          failure: {
            name: 'ResultUnfit',
            message: expect.stringContaining('result must match pattern') as string,
          },
        },
      ],
    });
  });

  it('is computed anew on the revision that won', async () => {
    const given = settleParts();
    const { store, seen } = given;
    const note = store.onWrite;
    store.onWrite = (draft) => {
      note(draft);
      // Somebody edits the job just before.
      if (draft['_rev'] === '2-x') store.docs.set('j', { ...doc, _rev: '3-y', note: 'by hand' });
    };
    expect(await settled(given)).toMatchObject({ note: 'by hand', steps: [{ result: 'fine' }] });
    expect(seen.filter((one) => one.startsWith('write'))).toEqual([
      'write j on 2-x',
      'write j on 3-y',
    ]);
  });

  it('is not written twice when the answer was lost', async () => {
    const given = settleParts();
    given.store.answer('j', 'unheard');
    expect(await settled(given)).toMatchObject({ steps: [{ result: 'fine' }] });
    expect(given.store.writes).toHaveLength(1);
  });

  it('is written again when nobody knows and it is not there', async () => {
    const given = settleParts();
    given.store.answer('j', 'unknown');
    expect(await settled(given)).toMatchObject({ steps: [{ result: 'fine' }] });
    expect(given.store.writes).toHaveLength(2);
  });

  it('is a failure when the database refuses the result', async () => {
    const given = settleParts();
    given.store.answer('j', 'refused');
    const steps = [{ state: '$$error', failure: { name: 'StoreRefused' } }];
    expect(await settled(given)).toMatchObject({ steps });
  });

  it('ends the job when the database refuses the failure, too', async () => {
    const given = settleParts();
    given.store.answer('j', 'refused', 'refused');
    expect(await settled(given)).toMatchObject({ state: '$$complete', exit: 3 });
  });

  it('is left to other engines when this one ends meanwhile', async () => {
    const given = settleParts();
    given.store.answer('j', 'unknown').onWrite = () => given.life.abort();
    expect(await settled(given)).toBeUndefined();
    expect(given.store.writes).toHaveLength(1);
    expect(given.seen.at(-1)).toBe(`release ${step.claim}`);
  });

  it('is dropped when the attempt was taken from this engine', async () => {
    const given = settleParts();
    given.store.docs.set('j', { ...doc, steps: [{ ...step, claim: 'of another engine' }] });
    await settled(given);
    expect(given.store.writes).toEqual([]);
  });
});

describe('the report of an attempt', () => {
  const report = { progress: 0.5 };
  const told = (given: ReturnType<typeof writeParts>) =>
    writeReport(given.parts, 'j', step, report);
  const open = () => writeParts({ docs: [doc] });

  it('leaves room for the end of the job', async () => {
    const given = open();
    expect(await told(given)).toMatchObject({ steps: [{ progress: 0.5 }] });
    expect(given.store.limits).toEqual([900_000]);
  });

  it('is computed anew on the revision that won', async () => {
    const given = open();
    given.store.answer('j', 'conflict');
    expect(await told(given)).toMatchObject({ steps: [{ progress: 0.5 }] });
    expect(given.store.writes).toHaveLength(2);
  });

  it.each(['unknown', 'refused', 'throws'] as const)(
    'is left to the next one after "%s"',
    async (answer) => {
      const given = open();
      given.store.answer('j', answer);
      expect(await told(given)).toBeUndefined();
      expect(given.store.writes).toHaveLength(1);
      expect(given.lines).toContain('debug: A report was not stored.');
    },
  );

  it('is not written once the engine ends', async () => {
    const given = open();
    given.life.abort();
    expect(await told(given)).toBeUndefined();
    expect(given.store.writes).toEqual([]);
  });
});
