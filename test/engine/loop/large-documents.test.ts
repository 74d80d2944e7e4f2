import { expect, it } from 'vitest';
import { parseDocument } from '../../../src/reading/parse.js';
import { flow, job, task } from '../../support/documents.js';
import { request } from '../../support/couch.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const keys = (count: number): string =>
  Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',');
const zeros = `[${'0,'.repeat(210_000)}0]`;

const large: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ['zeros', { params: JSON.parse(zeros) }, /^params has more than 50000 values/],
  ['lists', { params: JSON.parse(`[${'[],'.repeat(110_000)}0]`) }, /^params has more than/],
  ['nested', { params: JSON.parse('['.repeat(400) + ']'.repeat(400)) }, /deeper than 200 levels/],
  ['keys', { params: JSON.parse(`{${keys(110_000)}}`) }, /^params has more than/],
  ['strange', { strange: JSON.parse(zeros) }, /^strange has more than 10000 values/],
];

async function textOf({ store }: Workspace, id: string): Promise<string> {
  const path = `/${store.connection.database}/${id}`;
  return JSON.stringify((await request('GET', path)).body);
}

it('jobs that are too large end with exit 3, are told why, and keep what they hold', async () => {
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
      for (const value of Object.values(more)) {
        expect(await textOf(space, one)).toContain(JSON.stringify(value));
      }
    }
  }
});

it('definitions and messages that are too large are told, and jobs go on', async () => {
  const space = await openWorkspace({ 'echo.mjs': 'export default ({ params }) => params;' });
  await space.engine();
  await space.put(
    task('echo'),
    flow('f', ['echo']),
    flow('g', ['echo'], { params: JSON.parse(zeros) }),
  );
  await space.put(job('f', { _id: 'a' }), job('g', { _id: 'b' }), {
    _id: 'signal',
    type: 'signal',
    job: 'a',
    name: 'go',
    data: JSON.parse(zeros),
  });
  expect(await space.ended('a')).toMatchObject({ exit: 0 });
  expect(await space.ended('b')).toMatchObject({ exit: 3, failure: { name: 'InvalidFlow' } });
  const told = await space.until('signal', (doc) => doc['failure'] !== undefined);
  expect(told['failure']).toMatchObject({ name: 'InvalidRequest' });
});

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
});
