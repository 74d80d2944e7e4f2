import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startEngineProcess } from '../../support/engine-process.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

/** Works for a moment and leaves a line in a file that is only ever appended to. */
const witness = `
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
export default async ({ job, step, cwd }) => {
  await sleep(20);
  await appendFile(cwd + '/witness.log', [job._id, step.path, step.attempt, step.engine].join(' ') + '\\n');
  return step.engine;
};`;

/** A project folder of the workspace's database, with the witness plugin and short leases. */
async function makeProject(space: Workspace): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tws-project-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'plugins'));
  await writeFile(join(folder, 'plugins', 'witness.mjs'), witness);
  const { database } = space.store.connection;
  await writeFile(join(folder, 'tws.json'), JSON.stringify({ database, lease: 1_500 }));
  await writeFile(join(folder, 'witness.log'), '');
  return folder;
}

const start = (folder: string) => startEngineProcess(folder, { flags: ['--slots', '4'] });

type Line = {
  readonly job: string;
  readonly path: string;
  readonly attempt: string;
  readonly engine: string;
};

async function witnessed(folder: string): Promise<readonly Line[]> {
  const text = await readFile(join(folder, 'witness.log'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [job = '', path = '', attempt = '', engine = ''] = line.split(' ');
      return { job, path, attempt, engine };
    });
}

async function submitAll(space: Workspace, count: number): Promise<readonly string[]> {
  await space.put(
    { _id: 'task:DEFAULT:witness', type: 'task', name: 'witness' },
    {
      _id: 'flow:me:w',
      type: 'flow',
      name: 'w',
      owner: 'me',
      tasks: ['witness', 'witness', 'witness'],
    },
  );
  const jobs = Array.from({ length: count }, () => ({ type: 'job', flow: 'w', owner: 'me' }));
  return space.put(...jobs);
}

// Shows J-01.
it('two engines started by hand share 200 jobs, and every step runs once', async () => {
  const space = await openWorkspace();
  const folder = await makeProject(space);
  await Promise.all([start(folder), start(folder)]);
  const ids = await submitAll(space, 200);
  for (const id of ids) expect(await space.ended(id)).toMatchObject({ exit: 0 });
  const lines = await witnessed(folder);
  expect(lines).toHaveLength(600);
  expect(new Set(lines.map(({ job, path }) => `${job} ${path}`)).size).toBe(600);
  expect(new Set(lines.map(({ engine }) => engine)).size).toBe(2);
});

// Shows E-18, J-04.
it('an engine that is killed in the middle loses nothing', async () => {
  const space = await openWorkspace();
  const folder = await makeProject(space);
  const [victim] = await Promise.all([start(folder), start(folder)]);
  const ids = await submitAll(space, 200);
  await space.until(String(ids[60]), (doc) => doc['state'] === '$$complete');
  victim.child.kill('SIGKILL');
  const lost = new Set<string>();
  for (const id of ids) {
    const ended = await space.ended(id);
    expect(ended).toMatchObject({ exit: 0 });
    for (const step of ended.steps) {
      const { failure } = step as { failure?: { name: string } };
      if (failure?.name === 'EngineLost') lost.add(`${id} ${String(step['path'])}`);
    }
  }
  const lines = await witnessed(folder);
  const done = lines.map(({ job, path }) => `${job} ${path}`);
  expect(new Set(done).size).toBe(600);
  // Only what the victim had in hand may have been done twice.
  const twice = done.filter((step, i) => done.indexOf(step) !== i);
  expect(twice.every((step) => lost.has(step))).toBe(true);
});
