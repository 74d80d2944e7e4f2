import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startEngineProcess } from '../../support/engine-process.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const root = join(import.meta.dirname, '..', '..', '..');
const places = [['the process'], ['a thread'], ['a process']] as const;
const rows = 200;

/** The example of the guide, with pages that can be counted. */
async function example(place: (typeof places)[number][0]): Promise<string> {
  const guide = await readFile(join(root, 'src', 'plugin', 'README.md'), 'utf8');
  const code = /```js\n(\/\/ plugins\/import\.mjs\n[\s\S]*?)```/.exec(guide)?.[1] ?? '';
  const isolate = place === 'the process' ? '' : `export const isolate = '${place.slice(2)}';`;
  return `import { appendFile } from 'node:fs/promises';
    ${isolate}
    const pagesOf = async (file) => Array.from({ length: ${rows} }, (_, n) => ({ file, n }));
    const importPage = async ({ file, n }) => {
      await new Promise((r) => setTimeout(r, 10));
      await appendFile(file, n + '\\n');
    };
    ${code}`;
}

async function rowsIn(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** A job of the example; resolves once it has told how far it is. */
async function begun(space: Workspace, file: string): Promise<string> {
  const [id] = await space.put({
    type: 'job',
    flow: 'f',
    owner: 'me',
    params: { 'import-0': { file } },
  });
  await space.until(String(id), (doc) => {
    const [step] = (doc['steps'] ?? []) as readonly Record<string, unknown>[];
    return step?.['progress'] !== undefined;
  });
  return String(id);
}

const definitions = [
  { _id: 'task:DEFAULT:import', type: 'task', name: 'import', timeout: 0 },
  { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['import'], timeout: 0 },
];

describe.each(places)('the example of the guide, in %s', (place) => {
  it('goes on where it was, when its job is cancelled and retried', async () => {
    const space = await openWorkspace({ 'import.mjs': await example(place) });
    await space.put(...definitions);
    await space.engine({ reportMs: 50 });
    const file = join(space.folder, 'rows');
    const id = await begun(space, file);
    await space.put({ type: 'request', job: id, action: 'cancel' });
    expect(await space.ended(id)).toMatchObject({
      state: '$$cancelled',
      exit: 130,
      steps: [{ state: '$$cancelled' }],
    });
    expect((await rowsIn(file)).length).toBeLessThan(rows);
    await space.put({ type: 'request', job: id, action: 'retry' });
    const ended = await space.until(id, (doc) => doc['state'] === '$$complete');
    expect(ended).toMatchObject({ exit: 0 });
    await expectEachOnce(file);
  });

  // Shows J-08.
  it('goes on in the next engine, when its own is told to end', async () => {
    const space = await openWorkspace();
    await space.put(...definitions);
    const folder = await project(space, await example(place));
    const file = join(folder, 'rows');
    const first = await startEngineProcess(folder);
    const id = await begun(space, file);
    first.child.kill('SIGTERM');
    await first.ended;
    expect((await rowsIn(file)).length).toBeLessThan(rows);
    await startEngineProcess(folder);
    const ended = await space.ended(id);
    expect(ended).toMatchObject({ exit: 0, steps: [{}, { result: { pages: rows } }] });
    expect(ended.steps).toHaveLength(2);
    await expectEachOnce(file);
  });
});

async function expectEachOnce(file: string): Promise<void> {
  const all = Array.from({ length: rows }, (_, n) => String(n));
  expect(await rowsIn(file)).toEqual(all);
}

/** A project of the workspace's database whose engines end at once when they are told to. */
async function project(space: Workspace, plugin: string): Promise<string> {
  const folder = join(space.folder, 'project');
  await mkdir(join(folder, 'plugins'), { recursive: true });
  await writeFile(join(folder, 'plugins', 'import.mjs'), plugin);
  const { database } = space.store.connection;
  await writeFile(join(folder, 'tws.json'), JSON.stringify({ database, drain: 1 }));
  return folder;
}
