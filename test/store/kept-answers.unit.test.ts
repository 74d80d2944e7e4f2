import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../src/model/document.js';
import type { Change } from '../../src/store/change.js';
import type { FollowOptions } from '../../src/store/feed.js';
import { createKeptAnswers, type KeptAnswers } from '../../src/store/kept-answers.js';

const doc = (id: string, type: string): StoredDocument => ({ _id: id, _rev: '1-a', type });
const changeOf = (stored: StoredDocument): Change => ({
  ...{ id: stored._id, seq: '1', deleted: false, revs: ['1-a'], doc: stored },
});
const gone = (id: string): Change => ({ id, seq: '2', deleted: true, revs: ['2-a'] });

/** A feed that says and brings what it is told to. */
function opened(kept: KeptAnswers) {
  const waiting: (Change | undefined)[] = [];
  let wake: (() => void) | undefined;
  let say: FollowOptions['onState'];
  const follow = async function* ({ onState }: FollowOptions): AsyncGenerator<Change> {
    say = onState;
    for (;;) {
      while (waiting.length === 0) await new Promise<void>((next) => (wake = next));
      const change = waiting.shift();
      if (change === undefined) return;
      yield change;
    }
  };
  const options = { since: '0', signal: new AbortController().signal };
  const heard: string[] = [];
  const done = (async () => {
    for await (const { id } of kept.following(follow, options)) heard.push(id);
  })();
  const turn = (): Promise<void> => new Promise((next) => setImmediate(next));
  return {
    follows: async () => {
      await turn();
      say?.({ kind: 'following', copies: 1 });
    },
    loses: () => say?.({ kind: 'lost', cause: 'gone', retryInMs: 1 }),
    bring: async (change: Change) => {
      waiting.push(change);
      wake?.();
      await turn();
    },
    end: async () => {
      waiting.push(undefined);
      wake?.();
      await done;
    },
    heard,
  };
}

/** What a question is answered with, which counts how often it was read. */
function asking(kept: KeptAnswers, ids: readonly string[] = []) {
  let reads = 0;
  return () =>
    kept.answer('question', {
      read: async () => Promise.resolve((reads += 1)),
      madeOf: () => ids,
    });
}

async function followed() {
  const kept = createKeptAnswers();
  const feed = opened(kept);
  await feed.follows();
  return { kept, feed };
}

describe('what was read of rarely changed documents', () => {
  it('is read for every question while no feed is followed', async () => {
    const kept = createKeptAnswers();
    const ask = asking(kept);
    expect([await ask(), await ask()]).toEqual([1, 2]);
    const feed = opened(kept);
    await feed.follows();
    expect([await ask(), await ask()]).toEqual([3, 3]);
    feed.loses();
    expect([await ask(), await ask()]).toEqual([4, 5]);
    await feed.follows();
    expect([await ask(), await ask()]).toEqual([6, 6]);
    await feed.end();
    expect([kept.isFollowing(), await ask(), await ask()]).toEqual([false, 7, 8]);
  });

  it.each([
    ['any definition', changeOf(doc('t', 'task'))],
    ['any control of a queue', changeOf(doc('q', 'queue-control'))],
    ['a document that it is made of, whatever that is now', changeOf(doc('mine', 'job'))],
    ['a document that it is made of, which is deleted', gone('mine')],
  ])('is forgotten with a change of %s', async (_what, change) => {
    const { kept, feed } = await followed();
    const ask = asking(kept, ['mine']);
    expect([await ask(), await ask()]).toEqual([1, 1]);
    await feed.bring(changeOf(doc('j', 'job')));
    await feed.bring(gone('j'));
    expect(await ask()).toBe(1);
    await feed.bring(change);
    expect(await ask()).toBe(2);
    expect(feed.heard).toEqual(['j', 'j', change.id]);
  });

  it('is forgotten when this process writes, or may have written', async () => {
    const { kept } = await followed();
    const ask = asking(kept);
    expect(await ask()).toBe(1);
    kept.hear('t', doc('t', 'flow'));
    expect(await ask()).toBe(2);
    kept.doubt('t', 'flow');
    expect(await ask()).toBe(3);
    kept.doubt('j', 'job');
    expect(await ask()).toBe(3);
  });

  it.each([
    ['such a change', 'x', 'task'],
    ['a change of what it is made of', 'mine', 'job'],
  ])('is not kept when %s is heard while it is read', async (_what, id, type) => {
    const { kept } = await followed();
    let answered: ((value: string) => void) | undefined;
    const slow = kept.answer('question', {
      read: () => new Promise<string>((resolve) => (answered = resolve)),
      madeOf: () => ['mine'],
    });
    kept.hear(id, doc(id, type));
    answered?.('old');
    expect(await slow).toBe('old');
    expect(await asking(kept)()).toBe(1);
  });

  it('is read again after it could not be read, and when there are too many answers', async () => {
    const { kept } = await followed();
    const failing = kept.answer('question', {
      read: () => Promise.reject(new Error('away')),
      madeOf: () => [],
    });
    await expect(failing).rejects.toThrow('away');
    const ask = asking(kept);
    expect([await ask(), await ask()]).toEqual([1, 1]);
    for (let i = 0; i < 10_000; i += 1) {
      await kept.answer(`${i}`, { read: () => Promise.resolve(i), madeOf: () => [] });
    }
    expect(await ask()).toBe(2);
  });

  it('is told to whoever listens, with what begins and ends', async () => {
    const { kept, feed } = await followed();
    const told: string[] = [];
    kept.listen({
      heard: (id, now) => told.push(`${id} ${now === undefined ? 'gone' : String(now['type'])}`),
      forget: () => told.push('forget'),
    });
    await feed.bring(changeOf(doc('j', 'job')));
    await feed.bring(gone('j'));
    kept.hear('k', doc('k', 'job'));
    feed.loses();
    expect(told).toEqual(['j job', 'j gone', 'k job', 'forget']);
  });
});
