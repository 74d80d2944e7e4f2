import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  createFetcher,
  createReadTogether,
  type Delay,
  type FetcherPorts,
  type SeenRevision,
} from '../../../src/engine/loop/fetch.js';
import type { StoredDocument } from '../../../src/model/document.js';

type Ports = { -readonly [K in keyof FetcherPorts]: FetcherPorts[K] };

const atOnce: Delay = { ms: 0, for: 'more' };
const leftFor = (ms: number): Delay => ({ ms, for: 'others' });

/** A fetcher of a store with these revisions, and what it asked for and handed out. */
function fetcher(stored: Record<string, string>, more: Partial<Ports> = {}) {
  const asked: string[][] = [];
  const taken: string[] = [];
  const known = new Map<string, string>();
  const ports: Ports = {
    read: async (ids) => {
      asked.push([...ids]);
      await Promise.resolve();
      const docs = ids.flatMap((id): StoredDocument[] => {
        const rev = stored[id];
        return rev === undefined ? [] : [{ _id: id, _rev: rev }];
      });
      return new Map(docs.map((doc) => [doc._id, doc]));
    },
    isKnown: ({ id, rev }) => known.get(id) === rev,
    delayOf: () => atOnce,
    isFull: () => false,
    take: (doc, at) => void taken.push(`${doc._id} ${doc._rev} ${at}`),
    room: () => Promise.resolve(),
    now: () => Date.now(),
    ...more,
  };
  return { asked, taken, known, fetcher: createFetcher(ports) };
}

const seen = (id: string, rev = '1-a', at = 0): SeenRevision => ({ id, rev, at });

describe('a fetcher', () => {
  it('I3: reads what comes in one piece together, in the order of the feed', async () => {
    const { asked, taken, fetcher: it } = fetcher({ a: '1-a', b: '2-b', c: '1-a' });
    for (const one of [seen('b', '2-b', 1), seen('a', '1-a', 2), seen('c', '1-a', 3)]) it.saw(one);
    await vi.waitFor(() => expect(taken).toEqual(['b 2-b 1', 'a 1-a 2', 'c 1-a 3']));
    expect(asked).toEqual([['b', 'a', 'c']]);
    expect(it.isBehind()).toBe(false);
  });

  it('does not read what this process wrote, unless that is another version', async () => {
    const own = new Map(
      Object.entries({ a: '2-a', b: '1-b', c: '3-c', d: '2-x', e: '2-e' }).map(
        ([_id, _rev]) => [_id, { _id, _rev }] as const,
      ),
    );
    const stored = { b: '2-b', c: '2-c', d: '2-d', e: '2-e' };
    const { asked, taken, fetcher: it } = fetcher(stored, { written: (id) => own.get(id) });
    for (const id of ['a', 'b', 'c', 'd']) it.saw(seen(id, `2-${id}`));
    it.saw({ ...seen('e', '2-e'), isConflicting: true });
    await vi.waitFor(() =>
      expect(taken).toEqual(['a 2-a 0', 'b 2-b 0', 'c 2-c 0', 'd 2-d 0', 'e 2-e 0']),
    );
    expect(asked).toEqual([['b', 'c', 'd', 'e']]);
  });

  it('I1: reads nothing that is known, also when that is learnt before it is asked for', async () => {
    const { asked, known, fetcher: it } = fetcher({ a: '1-a', b: '1-a' });
    known.set('a', '1-a');
    it.saw(seen('a'));
    it.saw(seen('b'));
    known.set('b', '1-a');
    await sleep(20);
    expect(asked).toEqual([]);
    expect(it.isBehind()).toBe(false);
  });

  it('I1: reads a document once for several changes, and again for one that comes meanwhile', async () => {
    const stored = { a: '2-a' };
    let during = (): void => undefined;
    const { asked, taken, fetcher: it } = fetcher(stored, { take: () => during() });
    it.saw(seen('a', '1-a'));
    it.saw(seen('a', '2-a'));
    during = () => {
      during = (): void => void taken.push('again');
      stored.a = '3-a';
      it.saw(seen('a', '3-a'));
    };
    await vi.waitFor(() => expect(taken).toEqual(['again']));
    expect(asked).toEqual([['a'], ['a']]);
  });

  it('I10: hands out nothing that was deleted while it was read', async () => {
    const stored: Record<string, string> = { a: '1-a', b: '1-b' };
    const { taken, fetcher: it } = fetcher(stored, {
      read: (ids) => {
        const docs = new Map(ids.map((id) => [id, { _id: id, _rev: String(stored[id]) }]));
        if (stored['a'] === '1-a') it.forget('a');
        return Promise.resolve(docs);
      },
    });
    it.saw(seen('a'));
    it.saw(seen('b', '1-b'));
    await vi.waitFor(() => expect(taken).toEqual(['b 1-b 0']));
    it.saw(seen('a', '3-a'));
    stored['a'] = '3-a';
    await vi.waitFor(() => expect(taken).toHaveLength(2));
  });

  it('I2: leaves to others what they may deal with, as long as it moves', async () => {
    const { asked, taken, fetcher: it } = fetcher({ a: '9-a' }, { delayOf: () => leftFor(60) });
    for (let n = 1; n <= 9; n += 1) {
      it.saw(seen('a', `${n}-a`, n));
      await sleep(10);
    }
    expect(asked).toEqual([]);
    await vi.waitFor(() => expect(taken).toEqual(['a 9-a 9']));
    expect(asked).toEqual([['a']]);
  });

  it('I2: reads what moves all the time after a second', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    try {
      const { taken, fetcher: it } = fetcher({ a: '12-a' }, { delayOf: () => leftFor(200) });
      for (let n = 1; n <= 12; n += 1) {
        it.saw(seen('a', `${n}-a`, Date.now()));
        vi.advanceTimersByTime(100);
      }
      vi.useRealTimers();
      await vi.waitFor(() => expect(taken.length).toBe(1));
    } finally {
      vi.useRealTimers();
    }
  });

  it('I2: reads together what is left for about as long', async () => {
    const { asked, fetcher: it } = fetcher({ a: '1-a', b: '1-a' }, { delayOf: () => leftFor(200) });
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_010 });
    try {
      it.saw(seen('a', '1-a', Date.now()));
      vi.advanceTimersByTime(150);
      it.saw(seen('b', '1-a', Date.now()));
      vi.advanceTimersByTime(230);
      expect(asked).toEqual([]);
      vi.advanceTimersByTime(10);
      await vi.waitFor(() => expect(asked).toEqual([['a', 'b']]));
    } finally {
      vi.useRealTimers();
    }
  });

  it('I3: keeps the order of the feed over several requests, whatever becomes due first', async () => {
    const ids = Array.from({ length: 150 }, (_, n) => `d${(n * 37) % 150}`);
    const stored = Object.fromEntries(ids.map((id) => [id, '1-a']));
    const { asked, fetcher: it } = fetcher(stored, { delayOf: () => leftFor(50) });
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_010 });
    try {
      for (const id of ids) it.saw(seen(id, '1-a', Date.now()));
      vi.advanceTimersByTime(400);
      await vi.waitFor(() => expect(asked.flat()).toEqual(ids));
      expect(asked.length).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('I5: puts off what is left to others while it is full, until it is not, or for seconds', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    let isFull = true;
    try {
      const { asked, fetcher: it } = fetcher(
        { a: '1-a', b: '1-a', c: '1-a', d: '1-a' },
        { delayOf: ({ id }) => (id === 'd' ? atOnce : leftFor(200)), isFull: () => isFull },
      );
      for (const id of ['a', 'b', 'c', 'd']) it.saw(seen(id, '1-a', Date.now()));
      it.hurry();
      vi.advanceTimersByTime(1_000);
      await vi.waitFor(() => expect(asked).toEqual([['d']]));
      isFull = false;
      it.hurry(1);
      await vi.waitFor(() => expect(asked).toEqual([['d'], ['a']]));
      isFull = true;
      vi.advanceTimersByTime(4_001);
      await vi.waitFor(() => expect(asked).toEqual([['d'], ['a'], ['b', 'c']]));
    } finally {
      vi.useRealTimers();
    }
  });

  it('I7: never reads what is left to others altogether, nor what came of it before', async () => {
    const delayOf = ({ rev }: SeenRevision) => leftFor(rev === '1-a' ? 20 : Infinity);
    const { asked, fetcher: it } = fetcher({ a: '2-a', b: '2-a' }, { delayOf });
    it.saw(seen('a', '1-a'));
    it.saw(seen('a', '2-a'));
    it.saw(seen('b', '2-a'));
    await sleep(60);
    expect(asked).toEqual([]);
    expect(it.isBehind()).toBe(false);
  });

  it('is behind while a definition is unread, or is read, or a copy lacks it', async () => {
    const stored = { 'flow:x': '1-a', job: '1-a' };
    const delayOf = ({ id }: SeenRevision) =>
      id === 'job' ? leftFor(60) : { ms: 0, for: 'all' as const };
    const { asked, taken, fetcher: it } = fetcher(stored, { delayOf });
    it.saw(seen('job'));
    expect(it.isBehind()).toBe(false);
    it.saw(seen('flow:x', '2-a'));
    expect(it.isBehind()).toBe(true);
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(1));
    expect(it.isBehind()).toBe(true);
    stored['flow:x'] = '2-a';
    await vi.waitFor(() => expect(taken).toContain('flow:x 2-a 0'));
    expect(it.isBehind()).toBe(false);
    it.saw(seen('flow:x', '3-a'));
    it.forget('flow:x');
    expect(it.isBehind()).toBe(false);
    it.stop();
  });

  it('I4: asks a copy that is behind again, and believes it in the end', async () => {
    const stored = { a: '1-a' };
    const { asked, taken, fetcher: it } = fetcher(stored);
    it.saw(seen('a', '2-a', 7));
    await vi.waitFor(() => expect(asked.length).toBe(2));
    expect(taken).toEqual([]);
    stored.a = '2-a';
    await vi.waitFor(() => expect(taken).toEqual(['a 2-a 7']));
  });

  it('hands out nothing for what is gone, and forgets what is deleted', async () => {
    const { asked, taken, fetcher: it } = fetcher({ b: '1-a' }, { delayOf: () => leftFor(20) });
    it.saw(seen('a'));
    it.saw(seen('b'));
    it.forget('b');
    await vi.waitFor(() => expect(asked).toEqual([['a']]));
    expect(taken).toEqual([]);
    expect(it.isBehind()).toBe(false);
  });

  it('asks for no more than 100 documents at once, and for nothing after its end', async () => {
    const ids = Array.from({ length: 240 }, (_, n) => `d${n}`);
    const { asked, taken, fetcher: it } = fetcher(Object.fromEntries(ids.map((id) => [id, '1-a'])));
    for (const id of ids) it.saw(seen(id));
    await vi.waitFor(() => expect(taken.length).toBe(240));
    expect(asked.map(({ length }) => length)).toEqual([100, 100, 40]);
    it.stop();
    it.saw(seen('d0', '2-a'));
    await sleep(20);
    expect(asked.length).toBe(3);
  });
});

describe('reading together', () => {
  it('asks once for what is wanted in the same turn, and by itself for one document', async () => {
    const asked: unknown[] = [];
    const doc = (id: string): StoredDocument => ({ _id: id, _rev: '1-a' });
    const read = createReadTogether({
      get: async (id) => {
        asked.push(id);
        return Promise.resolve(doc(id));
      },
      getMany: async (ids) => {
        asked.push(ids);
        return Promise.resolve(new Map([['a', doc('a')]]));
      },
    });
    const found = await Promise.all([read('a'), read('b'), read('a')]);
    expect(found).toEqual([doc('a'), undefined, doc('a')]);
    expect(await read('c')).toEqual(doc('c'));
    expect(asked).toEqual([['a', 'b'], 'c']);
  });

  it('rejects for all that asked, and asks anew afterwards', async () => {
    let isAway = true;
    const read = createReadTogether({
      get: (id) => Promise.resolve({ _id: id, _rev: '1-a' }),
      getMany: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(new Map())),
    });
    const ends = await Promise.allSettled([read('a'), read('b')]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isAway = false;
    expect(await Promise.all([read('a'), read('b')])).toEqual([undefined, undefined]);
  });
});
