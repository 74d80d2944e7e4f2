import { describe, expect, it } from 'vitest';
import { createDesk } from '../../../src/engine/loop/serializer.js';

const open = () => createDesk(() => undefined, Date.now);
const doc = (rev: string) => ({ _id: 'job', _rev: rev });

describe('a version of a document', () => {
  it.each([
    ['the first one is news', [], '1-a', 'news'],
    ['a later one is news', ['1-a'], '2-b', 'news'],
    ['the same one again is an echo', ['2-b'], '2-b', 'echo'],
    ['an earlier one is stale', ['3-c'], '2-b', 'stale'],
    ['ten comes after nine', ['9-z'], '10-a', 'news'],
  ] as const)('%s', (_title, before, rev, expected) => {
    const desk = open();
    for (const earlier of before) desk.put(doc(earlier));
    expect(desk.put(doc(rev))).toBe(expected);
  });

  it('is news again after everything was forgotten', () => {
    const desk = open();
    desk.put(doc('5-e'));
    desk.forget();
    expect(desk.put(doc('1-a'))).toBe('news');
  });
});

it('a version that was put on the desk is known, also when it was taken off again', () => {
  const desk = open();
  const version = doc('2-b');
  desk.put(version);
  desk.put(doc('2-b'));
  expect(desk.newest('job')).toBe(version);
  desk.drop('job');
  expect([desk.knows('job', '2-b'), desk.knows('job', '3-c')]).toEqual([true, false]);
  expect(desk.newest('job')).toBeUndefined();
});

it('a version made here counts instead of the copy that the feed brought before', () => {
  const desk = open();
  const [copy, own] = [doc('2-b'), doc('2-b')];
  desk.put(copy);
  expect(desk.isNewest(copy)).toBe(true);
  desk.putOwn(own);
  expect([desk.newest('job'), desk.isNewest(copy), desk.isNewest(own)]).toEqual([own, false, true]);
});

it('a version made here does not take the place of a newer one', () => {
  const desk = open();
  const later = doc('3-c');
  desk.put(later);
  desk.putOwn(doc('2-b'));
  expect(desk.newest('job')).toBe(later);
  desk.drop('job');
  expect(desk.isNewest(later)).toBe(true);
});

describe('tasks for one document', () => {
  it('run one after the other, also when one fails', async () => {
    const said: string[] = [];
    const desk = createDesk((id, error) => void said.push(`${id}: ${String(error)}`), Date.now);
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const first = desk.queue('a', async () => {
      await gate;
      said.push('first');
      throw new Error('no');
    });
    const second = desk.queue('a', async () => void said.push('second'));
    const other = desk.queue('b', async () => void said.push('other'));
    await other;
    open();
    await Promise.all([first, second]);
    expect(said).toEqual(['other', 'first', 'a: Error: no', 'second']);
  });

  it('make room when they end', async () => {
    const desk = open();
    let open_ = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open_ = resolve));
    void desk.queue('a', () => gate);
    let roomy = false;
    const room = desk.room(1).then(() => (roomy = true));
    await Promise.resolve();
    expect(roomy).toBe(false);
    open_();
    await room;
    await desk.idle();
  });
});
