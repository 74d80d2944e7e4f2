import { describe, expect, it } from 'vitest';
import { createOfferLine } from '../../src/client/offer-line.js';
import { offerLines } from '../../src/client/offer-lines.js';
import type { StoredDocument } from '../../src/model/document.js';
import { offerName } from '../../src/model/work.js';
import type { Change } from '../../src/store/change.js';
import type { FollowOptions } from '../../src/store/feed.js';
import { createKeptAnswers } from '../../src/store/kept-answers.js';
import type { Store } from '../../src/store/store.js';
import type { ViewQuery } from '../../src/store/views.js';

const nameOf = (id: string, at: number, queue = 'q'): string =>
  offerName({ queue, priority: 500, at, id });

/** A job whose step is offered in such a place, in this revision. */
const offered = (id: string, at: number, { rev = 1, ...more }: Record<string, unknown> = {}) =>
  ({
    ...{ _id: id, _rev: `${String(rev)}-a`, type: 'job', state: 'w-0' },
    steps: [{ path: '0', name: 'w', state: '$$waiting', signal: nameOf(id, at) }],
    ...more,
  }) as StoredDocument;

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `j${n}`, key: nameOf(`j${n}`, 10 + n) }));

const offerAt = (n: number) => ({ id: `j${n}`, signal: nameOf(`j${n}`, n), owner: 'DEFAULT' });

/** The lines above an index with these rows, while a feed is followed. */
async function opened(rows: readonly { id: string; key: string }[] = []) {
  const kept = createKeptAnswers();
  let reads = 0;
  let say: FollowOptions['onState'];
  let hold: Promise<void> | undefined;
  let isBroken = false;
  const view = (async (_name: string, query: ViewQuery) => {
    reads += 1;
    const { startKey, startKeyDocId = '', skip = 0, limit = Infinity } = query;
    const [, from] = startKey as readonly [string, string];
    // The index takes capitals for neighbours of small letters.
    const isBehind = (key: string): boolean => key.toLowerCase() > from.toLowerCase();
    const now = rows
      .filter(({ id, key }) => isBehind(key) || (key === from && id >= startKeyDocId))
      .map(({ id, key }) => ({ id, key: ['signal', key, ''], value: 'DEFAULT' }));
    await hold;
    if (isBroken) throw new Error('no answer');
    return now.slice(skip, skip + limit);
  }) as unknown as Store['view'];
  const follow = async function* ({ onState }: FollowOptions): AsyncGenerator<Change> {
    say = onState;
    onState?.({ kind: 'following', copies: 1 });
    await new Promise(() => undefined);
    yield undefined as never;
  };
  const options = { since: '0', signal: new AbortController().signal };
  void kept.following(follow, options).next();
  await Promise.resolve();
  const lines = offerLines({ kept, view });
  return {
    kept,
    lines,
    ids: async (queue = 'q') => {
      const known = await lines.of(queue);
      return known && Array.from(known.offers, ({ id }) => id);
    },
    reads: () => reads,
    loses: () => say?.({ kind: 'lost', cause: 'gone', retryInMs: 1 }),
    breaks: (is: boolean) => void (isBroken = is),
    slow: () => {
      let go = (): void => undefined;
      hold = new Promise((resolve) => (go = resolve));
      return go;
    },
  };
}

describe('a line of work', () => {
  it('is read once, and has what is heard in its place', async () => {
    const { ids, kept, reads, lines } = await opened([
      { id: 'b', key: nameOf('b', 20) },
      { id: 'd', key: nameOf('d', 40) },
    ]);
    expect(await ids()).toEqual(['b', 'd']);
    kept.hear('c', offered('c', 30));
    kept.hear('a', offered('a', 10));
    kept.hear('other', offered('other', 1, { type: 'note' }));
    expect(await ids()).toEqual(['a', 'b', 'c', 'd']);
    kept.hear('b', undefined);
    kept.hear('d', offered('d', 40, { rev: 2, steps: [] }));
    expect(await ids()).toEqual(['a', 'c']);
    expect([reads(), (await lines.of('q'))?.isWhole()]).toEqual([1, true]);
  });

  it('does not have what halts or has ended', async () => {
    const { ids, kept } = await opened();
    await ids();
    const states = [
      { paused: true },
      { state: '$$paused' },
      { state: '$$complete' },
      { state: '$$cancelled' },
    ];
    for (const [i, more] of states.entries()) kept.hear(`${i}`, offered(`${i}`, i, more));
    kept.hear('a', offered('a', 1));
    expect(await ids()).toEqual(['a']);
    kept.hear('a', offered('a', 1, { rev: 2, paused: true }));
    expect(await ids()).toEqual([]);
  });

  it('is not changed by a revision that is older than one that was heard', async () => {
    const { ids, kept, lines } = await opened();
    await ids();
    kept.hear('a', offered('a', 1, { rev: 2 }));
    kept.hear('a', offered('a', 1, { rev: 3, steps: [] }));
    kept.hear('a', offered('a', 1, { rev: 2 }));
    expect(await ids()).toEqual([]);
    lines.found('a', offered('a', 1, { rev: 10 }));
    expect(await ids()).toEqual(['a']);
  });

  it('has the jobs that are short beside their offers', async () => {
    const { lines, kept, ids } = await opened();
    await ids();
    const short = offered('a', 1);
    kept.hear('a', short);
    kept.hear('b', offered('b', 2, { args: 'x'.repeat(20_000) }));
    const known = await lines.of('q');
    expect(Array.from(known?.offers ?? [], ({ doc }) => doc)).toEqual([short, undefined]);
  });

  it('takes what is heard while it is read for newer', async () => {
    const { ids, kept, slow, reads } = await opened([
      { id: 'a', key: nameOf('a', 10) },
      { id: 'b', key: nameOf('b', 20) },
    ]);
    const go = slow();
    const [one, other] = [ids(), ids()];
    kept.hear('a', offered('a', 10, { rev: 2, steps: [] }));
    kept.hear('c', offered('c', 30));
    go();
    expect([await one, await other, reads()]).toEqual([['b', 'c'], ['b', 'c'], 1]);
  });

  it('is read in parts, and what comes next while there is still something to give out', async () => {
    const rows = [...rowsOf(4_500), { id: 'late', key: nameOf('late', 9_000) }];
    const { lines, kept, reads, ids, slow } = await opened(rows);
    expect([(await ids())?.length, (await lines.of('q'))?.isWhole()]).toEqual([2_000, false]);
    kept.hear('late', offered('late', 9_000));
    kept.hear('early', offered('early', 1));
    expect((await ids())?.at(0)).toBe('early');
    expect(await ids()).toHaveLength(2_001);
    const go = slow();
    for (const { id } of rows.slice(0, 1_600)) kept.hear(id, undefined);
    const few = await ids();
    expect([reads(), few?.length, few?.at(-1)]).toEqual([2, 401, 'j1999']);
    // Nobody comes before those that are being read.
    kept.hear('late', offered('late', 9_000, { rev: 2 }));
    kept.hear('j2500', undefined);
    expect(await ids()).toEqual(few);
    go();
    await lines.of('q');
    await new Promise(setImmediate);
    expect(await ids()).toHaveLength(401 + 1_999);
    for (const { id } of rows.slice(0, 3_900)) kept.hear(id, undefined);
    await ids();
    await new Promise(setImmediate);
    expect((await ids())?.slice(-2)).toEqual(['j4499', 'late']);
    expect([reads(), (await lines.of('q'))?.isWhole()]).toEqual([3, true]);
  });

  it('has what comes after its last offer although that is gone', async () => {
    const rows = rowsOf(2_001);
    const { ids, kept } = await opened(rows);
    expect((await ids())?.at(-1)).toBe('j1999');
    for (const { id } of rows.splice(0, 2_000)) kept.hear(id, undefined);
    expect(await ids()).toEqual(['j2000']);
  });

  it('has nothing of a queue whose name differs in capitals only, which the index mixes with it', async () => {
    const others = rowsOf(2_001).map(({ id }, n) => ({ id, key: nameOf(id, n, 'Q') }));
    const { ids, lines, reads } = await opened([...others, { id: 'a', key: nameOf('a', 9_000) }]);
    expect([await ids(), (await lines.of('q'))?.isWhole()]).toEqual([['a'], true]);
    expect(reads()).toBe(2);
  });

  it('has no other signals that begin as its offers do', async () => {
    const { ids } = await opened([
      { id: 'a', key: nameOf('a', 10) },
      { id: 'b', key: 'work/q/is it done?' },
    ]);
    expect(await ids()).toEqual(['a']);
  });

  it('gives nobody anything while its first offers are read', async () => {
    const { ids, kept, slow } = await opened(rowsOf(2));
    const go = slow();
    const first = ids();
    kept.hear('late', offered('late', 9_000));
    const second = ids();
    go();
    expect([await first, await second]).toEqual([
      ['j0', 'j1', 'late'],
      ['j0', 'j1', 'late'],
    ]);
  });

  it('gives out what it has where the rest cannot be read, and is read anew', async () => {
    const { ids, kept, breaks, reads } = await opened(rowsOf(2_100));
    await ids();
    for (const { id } of rowsOf(1_999)) kept.hear(id, undefined);
    breaks(true);
    expect(await ids()).toEqual(['j1999']);
    await new Promise(setImmediate);
    await expect(ids()).rejects.toThrow('no answer');
    breaks(false);
    expect((await ids())?.length).toBe(2_000);
    expect(reads()).toBe(4);
  });

  it('is known no further than it may be long', () => {
    const line = createOfferLine(3);
    line.open();
    for (const n of [5, 1, 4, 2]) line.put(offerAt(n));
    line.close(undefined);
    const known = () => Array.from(line.offers(), ({ id }) => id);
    expect([known(), line.isWhole()]).toEqual([['j1', 'j2', 'j4'], false]);
    expect([line.put(offerAt(5)), line.has(offerAt(5))]).toEqual([false, undefined]);
    expect([line.put(offerAt(3)), known()]).toEqual([true, ['j1', 'j2', 'j3']]);
    expect([line.put(offerAt(4)), line.has(offerAt(2)), line.length()]).toEqual([false, true, 3]);
  });

  it('tells which of its offers is gone, and of no other', async () => {
    const { lines, kept, ids } = await opened();
    const doc = offered('a', 1);
    const offer = { id: 'a', signal: nameOf('a', 1), owner: 'DEFAULT', doc };
    expect(lines.isGone(offer)).toBe(false);
    await ids();
    kept.hear('a', doc);
    expect(lines.isGone(offer)).toBe(false);
    kept.hear('a', offered('a', 1, { rev: 2, steps: [] }));
    expect(lines.isGone(offer)).toBe(true);
    expect(lines.isGone({ id: 'a', signal: offer.signal, owner: offer.owner })).toBe(false);
    expect(lines.isGone({ ...offer, signal: nameOf('a', 1, 'other') })).toBe(false);
  });

  it('is forgotten with the feed, and while there is none nobody has one', async () => {
    const { ids, loses, reads } = await opened([{ id: 'a', key: nameOf('a', 10) }]);
    expect(await ids()).toEqual(['a']);
    loses();
    expect(await ids()).toBeUndefined();
    expect(reads()).toBe(1);
  });
});
