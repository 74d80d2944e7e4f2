import { describe, expect, it } from 'vitest';
import { createEarlySignals } from '../../../src/engine/control/message.js';
import { takeEarly, takeMessage } from '../../../src/engine/control/requests.js';
import type { RequestParts } from '../../../src/engine/control/requests.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { WriteResult } from '../../../src/store/batch.js';
import { writeParts } from '../loop/write-parts.js';

const request: StoredDocument = {
  ...{ _id: 'r', _rev: '1-r', type: 'request', job: 'j', action: 'pause' },
};

/** An engine's part in requests, before a store whose answers to writes of the job the test gives. */
function parts(answer: (tries: number) => WriteResult) {
  const job: StoredDocument = { _id: 'j', _rev: '1-j', type: 'job', flow: 'f', owner: 'me' };
  const tried: StoredDocument[] = [];
  const removed: StoredDocument[] = [];
  const { parts: writing, store, life } = writeParts();
  Object.assign(store, {
    get: async (id: string) => (id === 'r' ? request : job),
    write: async (doc: StoredDocument) => {
      if (doc._id === 'j') tried.push(doc);
      else removed.push(doc);
      return doc._id === 'j' ? answer(tried.length) : { kind: 'written', rev: '2-r' };
    },
  });
  const jobs = { review: () => undefined } as unknown as RequestParts['jobs'];
  const made: RequestParts = {
    ...{ ...writing, life, jobs, meters: undefined },
    earlySignals: createEarlySignals(),
  };
  return { made, tried, removed };
}

const conflict: WriteResult = { kind: 'conflict' };

describe('a request whose job others keep writing', () => {
  it('gives way after twelve tries, and is taken up by the next version of the job', async () => {
    const { made, tried, removed } = parts((tries) =>
      tries <= 12 ? conflict : { kind: 'written', rev: '2-j' },
    );
    takeMessage(made, request);
    await made.serializer.idle();
    expect(tried).toHaveLength(12);
    expect(removed).toEqual([]);
    takeEarly(made, 'j');
    await made.serializer.idle();
    expect(tried).toHaveLength(13);
    expect(tried.at(-1)).toMatchObject({ paused: true });
    expect(removed).toEqual([{ _id: 'r', _rev: '1-r', _deleted: true }]);
    // It is taken once.
    takeEarly(made, 'j');
    await made.serializer.idle();
    expect(tried).toHaveLength(13);
  });

  it('is not counted against when nobody knows what was stored', async () => {
    const { made, tried, removed } = parts((tries) => {
      if (tries === 1) return { kind: 'unknown', cause: 'no answer' };
      return tries <= 12 ? conflict : { kind: 'written', rev: '2-j' };
    });
    takeMessage(made, request);
    await made.serializer.idle();
    expect(tried).toHaveLength(13);
    expect(removed).toHaveLength(1);
  });

  it('is left to other engines when this one ends', async () => {
    const { made, tried, removed } = parts(() => {
      made.life.abort();
      return conflict;
    });
    takeMessage(made, request);
    await made.serializer.idle();
    expect(tried).toHaveLength(1);
    expect(removed).toEqual([]);
  });
});

describe('a skip of a step that waits for a child', () => {
  const skip: StoredDocument = {
    ...{ _id: 'r', _rev: '1-r', type: 'request', job: 'j', action: 'skip', step: 'c' },
  };
  const step = {
    ...{ index: 0, path: '0', name: 'c', task: 'c', attempt: 1, run: 1, phase: 'main' },
    ...{ state: '$$waiting', child: 'j:0:1', accepted: 5, start: 5, params: {} },
  };
  const parent: StoredDocument = {
    ...{ _id: 'j', _rev: '2-j', type: 'job', flow: 'f', owner: 'me', state: 'c-0', start: 5 },
    ...{ run: 1, tasks: { structure: 'sequence', sequence: [{ task: 'c', flow: 'c' }] } },
    ...{
      definitions: {},
      flow_rev: '1-f',
      flow_definition: { type: 'flow', name: 'f', owner: 'me' },
      steps: [step],
    },
  };
  const child = (state: string): StoredDocument => ({
    ...{ _id: 'j:0:1', _rev: '4-c', type: 'job', flow: 'c', owner: 'me', state, run: 1 },
    parent: { job: 'j', step: '0', start: 5 },
  });

  /** Skips the step; `tell`: what the store says to a cancel request, after so many writes. */
  async function skipped(
    copies: number,
    childNow: (isSkipped: boolean) => StoredDocument,
    tell: (life: AbortController) => WriteResult,
  ): Promise<readonly string[]> {
    const { parts: writing, store, life } = writeParts({ copies });
    const written: string[] = [];
    let job = parent;
    Object.assign(store, {
      get: async (id: string) =>
        id === 'r' ? skip : id === 'j' ? job : childNow(written.includes('the job')),
      write: async (doc: StoredDocument) => {
        if (doc._id === 'r') return { kind: 'written', rev: '2-r' };
        written.push(doc._id === 'j' ? 'the job' : `${String(doc['action'])} the child`);
        if (doc._id !== 'j') return tell(life);
        job = { ...doc, _rev: '3-j' };
        return { kind: 'written', rev: '3-j' };
      },
    });
    const jobs = { review: () => undefined } as unknown as RequestParts['jobs'];
    const more = { jobs, meters: undefined, earlySignals: createEarlySignals() };
    takeMessage({ ...writing, ...more }, skip);
    await writing.serializer.idle();
    return written;
  }

  it('is left to other engines when this one ends before the child is told', async () => {
    const written = await skipped(
      1,
      () => child('wait-0'),
      (life) => {
        life.abort();
        return { kind: 'unknown', cause: 'no answer' };
      },
    );
    expect(written).toEqual(['cancel the child']);
  });

  it('gives it up once more when a copy has it go on meanwhile', async () => {
    const written = await skipped(
      3,
      (isSkipped) => child(isSkipped ? 'wait-0' : '$$complete'),
      () => ({ kind: 'written', rev: '1-x' }),
    );
    expect(written).toEqual(['the job', 'cancel the child']);
  });
});

describe('a signal that starts its job', () => {
  it('is refused in its document when the store refuses the job', async () => {
    const counted: unknown[] = [];
    const written: StoredDocument[] = [];
    const { parts: writing, store } = writeParts();
    Object.assign(store, {
      get: async () => undefined,
      write: async (doc: StoredDocument): Promise<WriteResult> => {
        written.push(doc);
        return doc._id === 'j'
          ? { kind: 'refused', reason: 'no' }
          : { kind: 'written', rev: '2-s' };
      },
    });
    const start = { flow: 'f', params: { t: { a: 1 } } };
    const signal = { _id: 's', _rev: '1-s', type: 'signal', job: 'j', name: 'go', start };
    takeMessage(
      {
        ...{ ...writing, earlySignals: createEarlySignals() },
        jobs: {} as unknown as RequestParts['jobs'],
        meters: { triggers: (...given) => void counted.push(given) },
      },
      signal,
    );
    await writing.serializer.idle();
    expect(written).toEqual([
      { _id: 'j', type: 'job', ...start, started_by: { signal: 's' } },
      { ...signal, refused: 'It cannot start job j: no' },
    ]);
    expect(counted).toEqual([['signal', 'refused', 1]]);
  });
});
