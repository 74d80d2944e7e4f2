import { expect, it } from 'vitest';
import { parseDocument } from '../../src/model/parse.js';
import { Unread } from '../../src/model/unread.js';
import { flow, job, task } from '../support/documents.js';
import { request } from '../support/couch.js';
import { openWorkspace, type Workspace } from '../support/workspace.js';

const unread = (json: string): Unread => new Unread(json, 'values');
const keys = (count: number): string =>
  Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',');
const zeros = `[${'0,'.repeat(210_000)}0]`;

const large: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ['zeros', { params: unread(zeros) }, /^params has more than 50000 values/],
  ['lists', { params: unread(`[${'[],'.repeat(110_000)}0]`) }, /^params has more than/],
  ['nested', { params: unread('['.repeat(400) + ']'.repeat(400)) }, /deeper than 200 levels/],
  ['keys', { params: unread(`{${keys(110_000)}}`) }, /^params has more than/],
  ['strange', { strange: unread(zeros) }, /^strange has more than 10000 values/],
  ['live', { state: 'a-1', start: 1, steps: [], params: unread(zeros) }, /^params has more than/],
];

async function textOf({ store }: Workspace, id: string): Promise<string> {
  const path = `/${store.connection.database}/${id}`;
  return JSON.stringify((await request('GET', path)).body);
}

it('jobs that are too large to be read end with exit 3, are told why, and keep what they hold', async () => {
  const space = await openWorkspace({ 'echo.mjs': 'export default ({ params }) => params;' });
  await space.put(task('echo'), flow('f', ['echo']));
  for (const [_id, more] of large) await space.put(job('f', { _id, ...more }));
  await space.put(job('f', { _id: 'normal' }));
  await space.engine();
  for (const [id, more] of large) await space.put(job('f', { _id: `later-${id}`, ...more }));
  await space.put(job('f', { _id: 'normal-later' }));
  expect(await space.ended('normal')).toMatchObject({ exit: 0 });
  expect(await space.ended('normal-later')).toMatchObject({ exit: 0 });
  for (const [id, more, why] of large) {
    for (const one of [id, `later-${id}`]) {
      const ended = await space.ended(one);
      expect(ended).toMatchObject({ exit: 3, failure: { name: 'InvalidJob' } });
      expect(ended['problems']).toMatchObject([{ message: expect.stringMatching(why) as unknown }]);
      const kept = Object.values(more).find((value) => value instanceof Unread);
      expect(await textOf(space, one)).toContain(kept?.json);
    }
  }
}, 120_000);

it('definitions and messages that are too large to be read are told, and jobs go on', async () => {
  const space = await openWorkspace({ 'echo.mjs': 'export default ({ params }) => params;' });
  await space.engine();
  await space.put(
    task('echo'),
    flow('f', ['echo']),
    flow('g', ['echo'], { params: unread(zeros) }),
  );
  await space.put(job('f', { _id: 'a' }), job('g', { _id: 'b' }), {
    _id: 'signal',
    type: 'signal',
    job: 'a',
    name: 'go',
    data: unread(zeros),
  });
  expect(await space.ended('a')).toMatchObject({ exit: 0 });
  expect(await space.ended('b')).toMatchObject({ exit: 3, failure: { name: 'InvalidFlow' } });
  const told = await space.until('signal', (doc) => doc['failure'] !== undefined);
  expect(told['failure']).toMatchObject({ name: 'InvalidRequest' });
}, 120_000);

it('a job that engines made large goes on', async () => {
  const space = await openWorkspace({
    'list.mjs': 'export default () => Array.from({ length: 9_000 }, (_, i) => i);',
  });
  await space.put(
    task('list'),
    flow(
      'f',
      Array.from({ length: 12 }, () => 'list'),
    ),
    job('f', { _id: 'a' }),
  );
  await space.engine();
  const ended = await space.ended('a', 120_000);
  expect(ended).toMatchObject({ exit: 0 });
  expect(parseDocument(ended).kind).toBe('job');
  expect(ended.steps).toHaveLength(12);
}, 180_000);
