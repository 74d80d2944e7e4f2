import { describe, expect, it } from 'vitest';
import type { Client } from '../../src/client.js';
import { planPush } from '../../src/cli/push-plan.js';
import { runPush } from '../../src/cli/push-run.js';
import { problem } from '../../src/errors.js';
import type { StoredDocument } from '../../src/model/document.js';

const id = 'schedule:me:tick';
const written = { type: 'schedule', name: 'tick', owner: 'me', flow: 'f' };
const backfill = { from: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' };

/** Pushes a schedule while something else writes `changes` into it, one before each write. */
async function pushWhile(...changes: readonly object[]) {
  let stored: StoredDocument = { ...written, _id: id, _rev: '1-a', every: 1_000, backfill };
  const left = [...changes];
  const client = {
    find: () => Promise.resolve([stored]),
    get: () => Promise.resolve(stored),
    write: (doc: StoredDocument) => {
      const change = left.shift();
      const rev = `${Number(stored._rev.split('-')[0]) + 1}-a`;
      if (change !== undefined) stored = { ...stored, ...change, _rev: rev };
      if (doc._rev !== stored._rev) throw problem('document_conflict', { id });
      stored = { ...doc, _rev: rev };
      return Promise.resolve(rev);
    },
  } as unknown as Client;
  const doc = { ...written, _id: id, every: 2_000 };
  const file = { file: { shown: 'tick.json', path: 'tick.json', named: false }, doc, text: '' };
  const place = { project: 'p', root: '/' };
  const { steps } = await planPush(client, [file], place);
  const io = { out: () => undefined, style: (_style: string, text: string) => text };
  await runPush(steps, client, io as never);
  return stored;
}

describe('a push of a schedule that something else writes at the same time', () => {
  it('keeps what engines wrote in between, however often', async () => {
    const last = { next_due: 9, progress: { handled: 9 } };
    const stored = await pushWhile({ next_due: 7 }, { next_due: 8 }, last);
    expect(stored).toMatchObject({ ...last, every: 2_000, backfill });
  });

  it('leaves a backfill ended that has ended in between', async () => {
    const stored = await pushWhile({ backfill: undefined, next_due: 7 });
    expect(stored).toMatchObject({ every: 2_000, next_due: 7 });
    expect(stored['backfill']).toBeUndefined();
  });

  it('is a conflict when its author changed it in between', async () => {
    await expect(pushWhile({ flow: 'g' })).rejects.toMatchObject({ code: 'document_conflict' });
  });
});
