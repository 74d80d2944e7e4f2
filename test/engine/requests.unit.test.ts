import { describe, expect, it } from 'vitest';
import { createDesk } from '../../src/engine/desk.js';
import { createEarly } from '../../src/engine/early.js';
import { takeEarly, takeMessage } from '../../src/engine/requests.js';
import type { RequestParts } from '../../src/engine/requests.js';
import type { StoredDocument } from '../../src/model/parse.js';
import type { WriteResult } from '../../src/store/batch.js';

const request: StoredDocument = {
  ...{ _id: 'r', _rev: '1-r', type: 'request', job: 'j', action: 'pause' },
};

/** An engine's part in requests, before a store whose answers to writes of the job the test gives. */
function parts(answer: (tries: number) => WriteResult) {
  const job: StoredDocument = { _id: 'j', _rev: '1-j', type: 'job', flow: 'f', owner: 'me' };
  const tried: StoredDocument[] = [];
  const removed: StoredDocument[] = [];
  const made: RequestParts = {
    store: {
      get: async (id: string) => (id === 'r' ? request : job),
      write: async (doc: StoredDocument) => {
        if (doc._id === 'j') tried.push(doc);
        else removed.push(doc);
        return doc._id === 'j' ? answer(tried.length) : { kind: 'written', rev: '2-r' };
      },
    } as unknown as RequestParts['store'],
    desk: createDesk(() => undefined, Date.now),
    jobs: { take: () => undefined } as unknown as RequestParts['jobs'],
    early: createEarly(),
    retry: (ask) => ask(),
    life: new AbortController(),
    documentLimit: { bytes: Infinity },
    now: Date.now,
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  };
  return { made, tried, removed };
}

const nothing = (): void => undefined;
const conflict: WriteResult = { kind: 'conflict' };

describe('a request whose job others keep writing', () => {
  it('gives way after twelve tries, and is taken up by the next version of the job', async () => {
    const { made, tried, removed } = parts((tries) =>
      tries <= 12 ? conflict : { kind: 'written', rev: '2-j' },
    );
    takeMessage(made, request);
    await made.desk.idle();
    expect(tried).toHaveLength(12);
    expect(removed).toEqual([]);
    takeEarly(made, 'j');
    await made.desk.idle();
    expect(tried).toHaveLength(13);
    expect(tried.at(-1)).toMatchObject({ paused: true });
    expect(removed).toEqual([{ _id: 'r', _rev: '1-r', _deleted: true }]);
    // It is taken once.
    takeEarly(made, 'j');
    await made.desk.idle();
    expect(tried).toHaveLength(13);
  });

  it('is not counted against when nobody knows what was stored', async () => {
    const { made, tried, removed } = parts((tries) => {
      if (tries === 1) return { kind: 'unknown', cause: 'no answer' };
      return tries <= 12 ? conflict : { kind: 'written', rev: '2-j' };
    });
    takeMessage(made, request);
    await made.desk.idle();
    expect(tried).toHaveLength(13);
    expect(removed).toHaveLength(1);
  });

  it('is left to other engines when this one ends', async () => {
    const { made, tried, removed } = parts(() => {
      made.life.abort();
      return conflict;
    });
    takeMessage(made, request);
    await made.desk.idle();
    expect(tried).toHaveLength(1);
    expect(removed).toEqual([]);
  });
});
