import { expect, it } from 'vitest';
import { archive } from '../../src/cli/commands/archive.js';
import { retain } from '../../src/cli/commands/retain.js';
import { openProject } from './database.js';

const day = 86_400_000;
const settings = {
  'tws.json': { project: 'p', retain: { succeeded: { age: 'P30D' }, archive: { folder: 'old' } } },
};

/** A job that ended so many days ago. */
const ended = (_id: string, days: number, more: object = {}) => ({
  ...{ _id, type: 'job', flow: 'f', owner: 'DEFAULT', state: '$$complete', exit: 0, steps: [] },
  ...{ start: Date.now() - days * day - 1_000, end: Date.now() - days * day },
  ...more,
});

it('tws archive lists, shows and restores what tws retain removed', async () => {
  const { tws, put, store } = await openProject(settings);
  await put(ended('a', 40), ended('b', 40, { parent: { job: 'a', step: 's' } }), ended('c', 50));
  const removed = await tws(retain, { flags: { confirm: false } });
  expect(removed.out.split('\n').slice(-2)).toEqual([
    'removed: 2 jobs (3 documents)',
    'archived: 2 jobs',
  ]);
  const listed = await tws(archive, { args: ['list'] });
  expect(listed.out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['a', 'f::DEFAULT', 'succeeded', expect.any(String), '2', 'folder old'],
    ['c', 'f::DEFAULT', 'succeeded', expect.any(String), '1', 'folder old'],
  ]);
  const since = await tws(archive, { args: ['list'], flags: { since: '45d' }, mode: 'json' });
  expect(since.json).toMatchObject([{ job: 'a' }]);
  const shown = await tws(archive, { args: ['show', 'a'], mode: 'json' });
  expect(shown.json).toMatchObject({ job: 'a', docs: [{ _id: 'a' }, { _id: 'b' }] });
  expect((await tws(archive, { args: ['show', 'a'] })).out).toContain('with it: b');
  const back = await tws(archive, { args: ['restore', 'a'] });
  expect([back.exit, back.out]).toEqual([0, 'restored: 2 jobs']);
  expect((await store.getMany(['a', 'b', 'c'])).size).toBe(2);
  const again = await tws(archive, { args: ['restore', 'a'] });
  expect(again.out).toBe('restored: 0 jobs; 2 jobs there already');
});

it.each([
  [['copy'], {}, 'There is no "tws archive copy"'],
  [['list', 'a'], {}, 'takes no job'],
  [['show'], {}, 'takes the id of one job'],
  [['show', 'a'], { flow: 'f' }, '--flow and --since go with'],
])('tws archive %j is refused', async (args, flags, message) => {
  const { tws } = await openProject(settings);
  const { error } = await tws(archive, { args, flags });
  expect(error).toMatchObject({
    code: 'usage',
    message: expect.stringContaining(message) as string,
  });
});

it('tws archive tells where no archive, or no such job, is', async () => {
  const { tws } = await openProject(settings);
  expect((await tws(archive, { args: ['show', 'x'] })).error?.code).toBe('archived_missing');
  const other = await openProject({});
  expect((await other.tws(archive, { args: ['list'] })).error?.code).toBe('archive_unset');
});
