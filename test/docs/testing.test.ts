import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { test } from '../../src/cli/commands/test.js';
import { project, run } from '../cli/terminal.js';
import { blocksOf, root } from './pages.js';

const page = 'docs/guides/testing.md';

/** The flow that the page tests. */
const files = {
  'couch/tws/tasks/reserve.json': { type: 'task', name: 'reserve' },
  'couch/tws/tasks/charge.json': { type: 'task', name: 'charge', retry: 1 },
  'couch/tws/tasks/ship.json': { type: 'task', name: 'ship', plugin: 'noop' },
  'couch/tws/flows/order.json': {
    ...{ type: 'flow', name: 'order', owner: 'DEFAULT', timeout: 0 },
    tasks: ['reserve', { wait: { signal: 'approved' } }, 'charge', 'ship'],
  },
};

it('the test cases of the guide are as they expect', async () => {
  const cwd = await project();
  const [block] = blocksOf(page).filter(({ lang }) => lang === 'json');
  const cases = JSON.parse(String(block?.text)) as object;
  for (const [path, doc] of Object.entries({ ...files, 'test/order.test.json': cases })) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), JSON.stringify(doc));
  }
  const ran = await run(test, { cwd });
  expect(ran.out).toContain('2 cases in 1 file: all as expected');
  expect(ran.out).toContain(
    'ok   test/order.test.json: an approved order is charged and shipped (3 d)',
  );
  expect(ran.exit).toBe(0);
});

it('the test program of the guide runs with the package as it is built', async () => {
  const cwd = await project();
  await mkdir(join(cwd, 'node_modules'));
  await symlink(root, join(cwd, 'node_modules', 'tws'));
  const [block] = blocksOf(page).filter(({ lang, note }) => lang === 'js' && note === 'run');
  await writeFile(join(cwd, 'flow.mjs'), String(block?.text));
  const { stderr } = await promisify(execFile)(process.execPath, ['flow.mjs'], { cwd });
  expect(stderr).toBe('');
});
