import { describe, expect, it } from 'vitest';
import { offerLines } from '../../src/client/offer-lines.js';
import type { StoredDocument } from '../../src/model/document.js';
import { offerName } from '../../src/model/work.js';
import type { Change } from '../../src/store/change.js';
import type { FollowOptions } from '../../src/store/feed.js';
import { createKeptAnswers } from '../../src/store/kept-answers.js';
import type { Store } from '../../src/store/store.js';

const nameOf = (id: string, at: number, queue = 'q'): string =>
  offerName({ queue, priority: 500, at, id });

/** A job whose step is offered in such a place, in this revision. */
const offered = (id: string, at: number, { rev = 1, ...more }: Record<string, unknown> = {}) =>
  ({
    ...{ _id: id, _rev: `${String(rev)}-a`, type: 'job', state: 'w-0' },
    steps: [{ path: '0', name: 'w', state: '$$waiting', signal: nameOf(id, at) }],
    ...more,
  }) as StoredDocument;

/** The lines above an index with these rows, while a feed is followed. */
async function opened(rows: readonly { id: string; key: string }[] = []) {
  const kept = createKeptAnswers();
  let reads = 0;
  let say: FollowOptions['onState'];
  let hold: Promise<void> | undefined;
  const view = (async () => {
    reads += 1;
    const now = rows.map(({ id, key }) => ({ id, key: ['signal', key, ''], value: 'DEFAULT' }));
    await hold;
    return now.slice(0, 2_000);
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
    ids: async (queue = 'q') => (await lines.of(queue))?.offers.map(({ id }) => id),
    reads: () => reads,
    loses: () => say?.({ kind: 'lost', cause: 'gone', retryInMs: 1 }),
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
    expect([reads(), (await lines.of('q'))?.isWhole]).toEqual([1, true]);
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
    expect((await lines.of('q'))?.offers.map(({ doc }) => doc)).toEqual([short, undefined]);
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

  it('is known no further than 2,000 offers, and read again behind them', async () => {
    const rows = Array.from({ length: 2_500 }, (_, n) => ({
      id: `j${n}`,
      key: nameOf(`j${n}`, 10 + n),
    }));
    const { lines, kept, reads, ids } = await opened(rows);
    const known = await lines.of('q');
    expect([known?.offers.length, known?.isWhole]).toEqual([2_000, false]);
    kept.hear('late', offered('late', 5_000));
    kept.hear('early', offered('early', 1));
    expect((await ids())?.at(0)).toBe('early');
    expect(await ids()).toHaveLength(2_000);
    for (const { id } of (await lines.of('q'))?.offers ?? []) kept.hear(id, undefined);
    rows.splice(0, 2_000);
    expect((await ids())?.length).toBe(500);
    expect(reads()).toBe(2);
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
