import { describe, expect, it } from 'vitest';
import { createSerializer } from '../../../src/engine/loop/serializer.js';

const open = () => createSerializer(() => undefined, Date.now);
const doc = (rev: string) => ({ _id: 'job', _rev: rev });

describe('E4: a version of a document', () => {
  // Shows C-17.
  it.each([
    ['the first one is news', [], '1-a', 'news'],
    ['a later one is news', ['1-a'], '2-b', 'news'],
    ['the same one again is an echo', ['2-b'], '2-b', 'echo'],
    ['an earlier one is stale', ['3-c'], '2-b', 'stale'],
    ['ten comes after nine', ['9-z'], '10-a', 'news'],
  ] as const)('%s', (_title, before, rev, expected) => {
    const serializer = open();
    for (const earlier of before) serializer.put(doc(earlier));
    expect(serializer.put(doc(rev))).toBe(expected);
  });

  it('is news again after everything was forgotten', () => {
    const serializer = open();
    serializer.put(doc('5-e'));
    serializer.forget();
    expect(serializer.put(doc('1-a'))).toBe('news');
  });
});

it('a version that was taken is known, also when it was dropped again', () => {
  const serializer = open();
  const version = doc('2-b');
  serializer.put(version);
  serializer.put(doc('2-b'));
  expect(serializer.documents.get('job')).toBe(version);
  serializer.drop('job');
  expect(serializer.seen.get('job')?.rev).toBe('2-b');
  expect(serializer.documents.get('job')).toBeUndefined();
});

it('E9: a version made here counts instead of the copy that the feed brought before', () => {
  const serializer = open();
  const [copy, own] = [doc('2-b'), doc('2-b')];
  serializer.put(copy);
  expect(serializer.isNewest(copy)).toBe(true);
  serializer.put(own, { madeHere: true });
  expect([
    serializer.documents.get('job'),
    serializer.isNewest(copy),
    serializer.isNewest(own),
  ]).toEqual([own, false, true]);
});

it('E9: a version made here does not take the place of a newer one', () => {
  const serializer = open();
  const later = doc('3-c');
  serializer.put(later);
  serializer.put(doc('2-b'), { madeHere: true });
  expect(serializer.documents.get('job')).toBe(later);
  serializer.drop('job');
  expect(serializer.isNewest(later)).toBe(true);
});

describe('tasks for one document', () => {
  it('E2, E8: run one after the other, also when one fails', async () => {
    const said: string[] = [];
    const serializer = createSerializer(
      (id, error) => void said.push(`${id}: ${String(error)}`),
      Date.now,
    );
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const first = serializer.queue('a', async () => {
      await gate;
      said.push('first');
      throw new Error('no');
    });
    const second = serializer.queue('a', async () => void said.push('second'));
    const other = serializer.queue('b', async () => void said.push('other'));
    await other;
    open();
    await Promise.all([first, second]);
    expect(said).toEqual(['other', 'first', 'a: Error: no', 'second']);
  });

  it('make room when they end', async () => {
    const serializer = open();
    let open_ = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open_ = resolve));
    void serializer.queue('a', () => gate);
    let roomy = false;
    const room = serializer.room(1).then(() => (roomy = true));
    await Promise.resolve();
    expect(roomy).toBe(false);
    open_();
    await room;
    await serializer.idle();
  });
});
