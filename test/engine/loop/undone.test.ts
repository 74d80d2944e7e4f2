import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWorkspace, type Ended } from '../../support/workspace.js';

/** Work that leaves a line under its key, by which `verify` finds it. */
const once = `
import { appendFileSync, readFileSync } from 'node:fs';
const book = (cwd) => cwd + '/book';
export const verify = ({ cwd, key }) =>
  readFileSync(book(cwd), 'utf8').includes(key + '\\n') ? { done: 'found' } : undefined;
export default ({ cwd, key }) => {
  appendFileSync(book(cwd), key + '\\n');
  return 'did';
};`;
const gate = `
import { existsSync } from 'node:fs';
export default ({ cwd }) => {
  if (!existsSync(cwd + '/open')) throw new Error('The gate is shut.');
};`;

const cases: readonly [string, object, object, readonly string[]][] = [
  ['was undone', { undo: 'once' }, {}, ['j:0', 'j:0.undo', 'j:0:2', '']],
  ['is asked for again', {}, { from: '0' }, ['j:0', 'j:0:2', '']],
];

it.each(cases)('work that %s is done again under a key of its own', async (_title, ...rest) => {
  const [more, wish, book] = rest;
  const space = await openWorkspace({ 'once.mjs': once, 'gate.mjs': gate });
  await writeFile(join(space.folder, 'book'), '');
  await space.put(
    { _id: 'task:DEFAULT:once', type: 'task', name: 'once' },
    { _id: 'task:DEFAULT:gate', type: 'task', name: 'gate' },
    {
      ...{ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me' },
      tasks: [{ task: 'once', ...more }, 'gate'],
    },
  );
  await space.engine();
  await space.put({ _id: 'j', type: 'job', flow: 'f', owner: 'me' });
  expect((await space.ended('j')).exit).toBe(2);
  await writeFile(join(space.folder, 'open'), '');
  await space.put({ type: 'request', job: 'j', action: 'retry', ...wish });
  const again = (await space.until(
    'j',
    ({ state, run }) => state === '$$complete' && run === 2,
  )) as Ended;
  expect(again.exit).toBe(0);
  const done = again.steps.filter(({ task, phase }) => task === 'once' && phase === 'main');
  expect(done.map(({ result }) => result)).toEqual(['did', 'did']);
  expect((await readFile(join(space.folder, 'book'), 'utf8')).split('\n')).toEqual(book);
});
