import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/decide/decide.js';
import type { Job } from '../../src/model/job.js';
import { parseDocument } from '../../src/reading/parse.js';
import type { StoredDocument } from '../../src/model/document.js';
import { flow, t0, task, world } from '../support/builders.js';
import { minutes, runs } from '../support/properties.js';
import { document, edited, json } from './arbitraries.js';

const flows = [flow(['pick', { task: 'pack', error: 'sweep' }], { error: 'sweep', retry: 1 })];
const tasks = [task('pick'), task('pack', { retry: 2 }), task('sweep')];
const surroundings = world({ flows, tasks, dead: ['gone'] });

describe('parseDocument', () => {
  it('never throws, whatever a document holds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('task', 'flow', 'job', 'request', 'engine', 'lock'),
        json,
        (type, value) => {
          const doc = { ...(value as object), _id: 'x', _rev: '1-a', type } as StoredDocument;
          expect(parseDocument(doc).kind).toBe(type);
        },
      ),
    );
  });

  it(
    'never throws for a good document with one value exchanged, and names the place',
    minutes,
    () => {
      fc.assert(
        fc.property(edited, (doc) => {
          const parsed = parseDocument(doc);
          if (parsed.kind === 'other' || parsed.ok) return;
          for (const { path, message } of parsed.problems) {
            expect(message).toBe(path === '' ? message : `${path}${message.slice(path.length)}`);
            expect(message).toMatch(/\.$/);
            expect(message).not.toMatch(/undefined|\[object|Invalid input/);
          }
        }),
        runs(1_000),
      );
    },
  );

  it('takes its own answer again and gives the same', minutes, () => {
    fc.assert(
      fc.property(edited, (doc) => {
        const parsed = parseDocument(doc);
        if (parsed.kind === 'other' || !parsed.ok) return;
        const stored = JSON.parse(JSON.stringify(parsed.value)) as StoredDocument;
        expect(parseDocument(stored)).toEqual(parsed);
      }),
      runs(500),
    );
  });

  it.each([document.flow, document.job, document.live])('accepts the document %#', (doc) => {
    expect(parseDocument(doc).kind === 'other' || parseDocument(doc)).toMatchObject({ ok: true });
  });
});

describe('a job that was edited by hand and is still valid', () => {
  it('is decided about without a surprise, and what is written is valid again', minutes, () => {
    fc.assert(
      fc.property(edited, fc.integer({ min: 0, max: 120_000 }), (doc, later) => {
        const parsed = parseDocument(doc);
        if (parsed.kind !== 'job' || !parsed.ok) return;
        const intent = decide(parsed.value, t0 + later, surroundings);
        if (!('job' in intent)) return;
        const stored = JSON.parse(JSON.stringify(intent.job satisfies Job)) as StoredDocument;
        expect(parseDocument(stored)).toMatchObject({ kind: 'job', ok: true });
      }),
      runs(2_000),
    );
  });
});
