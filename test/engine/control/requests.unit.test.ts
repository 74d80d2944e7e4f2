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

/** Nothing here asks for definitions. */
const noLibrary = {} as RequestParts['library'];

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
    library: noLibrary,
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
    const more = {
      ...{ jobs, meters: undefined, earlySignals: createEarlySignals() },
      library: noLibrary,
    };
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
  const start = { flow: 'f', params: { t: { a: 1 } } };
  const signal = { _id: 's', _rev: '1-s', type: 'signal', job: 'j', name: 'go', start };

  /** What an engine writes for a signal while there is no job; `there`: the signal as it is stored now. */
  async function taken(doc: StoredDocument, there: StoredDocument | undefined) {
    const counted: unknown[] = [];
    const written: StoredDocument[] = [];
    const { parts: writing, store } = writeParts();
    Object.assign(store, {
      get: async (id: string) => (id === doc._id ? there : undefined),
      write: async (wanted: StoredDocument): Promise<WriteResult> => {
        written.push(wanted);
        return wanted._id === 'j'
          ? { kind: 'refused', reason: 'no' }
          : { kind: 'written', rev: '2-s' };
      },
    });
    takeMessage(
      {
        ...{ ...writing, earlySignals: createEarlySignals(), library: noLibrary },
        jobs: {} as unknown as RequestParts['jobs'],
        meters: { triggers: (...given) => void counted.push(given) },
      },
      doc,
    );
    await writing.serializer.idle();
    return { counted, written };
  }

  it('is refused in its document when the store refuses the job', async () => {
    const { counted, written } = await taken(signal, signal);
    expect(written).toEqual([
      { _id: 'j', type: 'job', ...start, started_by: { signal: 's' } },
      { ...signal, refused: 'It cannot start job j: no' },
    ]);
    expect(counted).toEqual([['signal', 'refused', 1]]);
  });

  it('R2: makes none when it is gone itself: the job had it, ended and was removed', async () => {
    const { counted, written } = await taken(signal, undefined);
    expect({ counted, written }).toEqual({ counted: [], written: [] });
  });

  it.each(['_local/x', '_design/x', '..'])('is refused when the job is %j', async (job) => {
    const doc = { ...signal, job };
    const { written } = await taken(doc, doc);
    const message = expect.stringMatching(/job must not .* where the signal starts it/) as string;
    expect(written).toMatchObject([{ _id: 's', failure: { message } }]);
  });
});
