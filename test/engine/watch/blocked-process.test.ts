import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnEngine } from '../../support/engine-process.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const plugins = {
  'loop.mjs': 'export default async ({ log }) => { log("begins"); await null; for (;;); };',
  'sleeps.mjs': `import { execFileSync } from 'node:child_process';
    export default () => execFileSync(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);`,
  // Stands still as at a breakpoint, until somebody has it go on.
  'breakpoint.mjs': `import { existsSync } from 'node:fs';
    export default () => {
      while (!existsSync('go on'));
    };`,
};

async function project(space: Workspace, task: Record<string, unknown>): Promise<string> {
  const folder = join(space.folder, 'project');
  await mkdir(join(folder, 'plugins'), { recursive: true });
  for (const [name, text] of Object.entries(plugins)) {
    await writeFile(join(folder, 'plugins', name), text);
  }
  const { database } = space.store.connection;
  await writeFile(join(folder, 'tws.json'), JSON.stringify({ database, lease: 3_000 }));
  await space.put(
    { _id: 'task:DEFAULT:t', type: 'task', name: 't', ...task },
    { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['t'], timeout: 0 },
  );
  return folder;
}

const job = { type: 'job', flow: 'f', owner: 'me' };
const notesOf = (doc: Record<string, unknown>): string =>
  JSON.stringify(doc['notes'] ?? doc['requests']);

describe('a plugin in the process that never gives the event loop back', () => {
  // In a system call nobody can tell; a loop on a starved machine may not answer in time either.
  it.each([
    ['loop', /^ (?:has|may have) blocked/],
    ['sleeps', /^ may have blocked/],
  ])(
    '(%s) is named in the log and in the job, and ends its job after the crash limit',
    async (plugin, blocked) => {
      const space = await openWorkspace();
      const folder = await project(space, { plugin, timeout: 500 });
      const [id] = await space.put(job);
      const said: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const engine = await spawnEngine(folder);
        expect(await engine.ended).toEqual([null, 'SIGKILL']);
        said.push(engine.said());
      }
      for (const text of said) {
        const name = `Plugin ${plugin} (step t of job ${String(id)})`;
        expect(text).toContain(name);
        expect(text.slice(text.indexOf(name) + name.length)).toMatch(blocked);
        expect(text).toContain('gave up its lease');
      }
      if (plugin === 'loop') expect(said[0]).toContain('plugins/loop.mjs:1');
      // The document of the engine is gone, so that nobody waits for its lease.
      await spawnEngine(folder);
      const ended = await space.ended(String(id));
      expect(ended).toMatchObject({ exit: 4 });
      expect(JSON.stringify(ended)).toContain(`Plugin ${plugin} (step t of job`);
      expect(notesOf(ended)).toContain('blocked its engine');
    },
  );

  it('leaves the process to SIGTERM and Ctrl-C', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const space = await openWorkspace();
      const folder = await project(space, { plugin: 'loop', timeout: 600_000 });
      await writeFile(
        join(folder, 'tws.json'),
        JSON.stringify({ database: space.store.connection.database, lease: 60_000 }),
      );
      const { child, ended, said } = await spawnEngine(folder);
      await space.put(job);
      await expect.poll(said).toContain('SIGTERM end the process at once');
      child.kill(signal);
      expect(await ended).toEqual([null, signal]);
    }
  });
});

it('a main thread that a debugger may have stopped is left alone', async () => {
  const space = await openWorkspace();
  const folder = await project(space, { plugin: 'breakpoint', timeout: 500 });
  const { child, said } = await spawnEngine(folder, { node: ['--inspect=127.0.0.1:0'] });
  const [id] = await space.put(job);
  await expect.poll(said).toContain('The inspector is open');
  await writeFile(join(folder, 'go on'), '');
  await space.ended(id as string);
  expect(said()).not.toMatch(/ha(?:s|ve) blocked the engine/);
  expect(child.exitCode ?? child.signalCode).toBeNull();
});
