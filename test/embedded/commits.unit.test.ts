import { expect, test } from 'vitest';

import { createCommits } from '../../src/embedded/storage/sqlite/commits.js';

/** A port that notes what happens, and whose syncs end when they are told to. */
function port() {
  const log: string[] = [];
  const syncs: { done: () => void; fail: (error: Error) => void }[] = [];
  const commits = createCommits({
    transact: (run) => {
      log.push('begin');
      run();
      log.push('commit');
      return Promise.resolve();
    },
    sync: () =>
      new Promise((resolve, reject) => {
        syncs.push({ done: resolve, fail: reject });
      }),
    stored: () => log.push('stored'),
    pause: () => Promise.resolve(),
  });
  const add = (name: string, weight = 1) =>
    commits
      .add(weight, () => log.push(name))
      .then(
        () => void log.push(`${name} answered`),
        () => void log.push(`${name} refused`),
      );
  const synced = async (n: number): Promise<void> => {
    await expect.poll(() => syncs.length).toBe(n);
  };
  return { log, syncs, commits, add, synced };
}

test('B1: what arrives while a group is synced is the next group, answered when it is on disk', async () => {
  const { log, syncs, add, synced, commits } = port();
  const first = [add('a'), add('b')];
  await synced(1);
  const second = [add('c'), add('d')];
  expect(commits.writing()).toBeInstanceOf(Promise);
  expect(log).toEqual(['begin', 'a', 'b', 'commit']);
  syncs[0]?.done();
  await Promise.all(first);
  await synced(2);
  expect(log.slice(4)).toEqual(['stored', 'a answered', 'b answered', 'begin', 'c', 'd', 'commit']);
  syncs[1]?.done();
  await Promise.all(second);
  expect(log.slice(-3)).toEqual(['stored', 'c answered', 'd answered']);
  expect(commits.writing()).toBeUndefined();
});

test('a group that is not on disk is refused as a whole, and the next one is tried', async () => {
  const { log, syncs, add, synced } = port();
  const lost = [add('a'), add('b')];
  await synced(1);
  const next = add('c');
  syncs[0]?.fail(new Error('no room'));
  await Promise.all(lost);
  await synced(2);
  syncs[1]?.done();
  await next;
  expect(log.filter((entry) => entry.includes(' '))).toEqual([
    'a refused',
    'b refused',
    'c answered',
  ]);
});

test('a group is no heavier than one transaction may be, and a change that is goes alone', async () => {
  const { log, syncs, add, synced } = port();
  const all = [add('small'), add('huge', 10_000), add('one', 250), add('two', 250), add('three')];
  for (let n = 1; n <= 4; n += 1) {
    await synced(n);
    syncs[n - 1]?.done();
  }
  await Promise.all(all);
  const groups = log.join(' ').split('begin ').slice(1);
  expect(groups.map((group) => group.split(' commit')[0])).toEqual([
    'small',
    'huge',
    'one two',
    'three',
  ]);
});
