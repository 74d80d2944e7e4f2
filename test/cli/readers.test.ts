import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../src/package.js';
import { openProject } from './database.js';
import { flow, task } from './terminal.js';

/** A `tws` process of which a stream is read until it says something like this, and never again. */
function readUntil(
  stream: 'stdout' | 'stderr',
  wanted: RegExp,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
) {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [join(packageRoot(), 'bin', 'tws.js'), ...args], {
    cwd,
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let complaints = '';
  const left = new Promise<void>((resolve) => {
    child[stream].on('data', (part: Buffer) => {
      said += String(part);
      if (!wanted.test(said)) return;
      child[stream].destroy();
      resolve();
    });
  });
  const other = stream === 'stdout' ? child.stderr : child.stdout;
  other.on('data', (part: Buffer) => (complaints += String(part)));
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  onTestFinished(() => void child.kill('SIGKILL'));
  return { left, ended, complaints: () => complaints, kill: () => child.kill('SIGTERM') };
}

const noop = { 'plugins/noop.mjs': `export default () => 'done';` };

describe('when nobody reads what it prints any more', () => {
  it('an engine goes on working, and SIGTERM ends it', async () => {
    const { root, env, put, ended } = await openProject(noop);
    await put({ _id: 't', ...task('noop') }, { _id: 'f', ...flow('f', ['noop']) });
    const engine = readUntil('stderr', /follows/, ['start'], { cwd: root, env });
    await engine.left;
    await put({ _id: 'j', type: 'job', flow: 'f' });
    expect(await ended('j')).toMatchObject({ exit: 0 });
    engine.kill();
    expect(await engine.ended).toEqual([0, null]);
  });

  it.each([[[]], [['--json']]])('tws list %s ends without a complaint', async (flags) => {
    const { root, env, put } = await openProject(noop);
    const external_id = 'x'.repeat(100);
    const jobs = Array.from({ length: 1_500 }, (_, n) => ({ _id: `job-${n}`, external_id }));
    await put(...jobs.map((job) => ({ ...job, type: 'job', flow: 'f' })));
    const args = ['list', '--jobs', '--all', ...flags];
    const reading = readUntil('stdout', /job-/, args, { cwd: root, env });
    await reading.left;
    const [status] = await reading.ended;
    expect(status).toBe(0);
    expect(reading.complaints()).not.toMatch(/EPIPE|does not know|Error/);
  });

  it('tws watch ends without a complaint', async () => {
    const { root, env, put } = await openProject(noop);
    const reading = readUntil('stdout', /job-/, ['watch'], { cwd: root, env });
    let n = 0;
    /** It only notices when it prints. */
    const happens = async (): Promise<void> => {
      n += 1;
      await put({ _id: `job-${n}`, type: 'job', flow: 'f' });
    };
    const until = async (event: Promise<unknown>): Promise<void> => {
      const seen = event.then(() => true);
      const not = (): Promise<false> => new Promise((resolve) => setImmediate(resolve, false));
      await expect.poll(async () => (await happens(), Promise.race([seen, not()]))).toBe(true);
    };
    await until(reading.left);
    await until(reading.ended);
    expect(reading.complaints()).not.toMatch(/EPIPE|does not know|Error/);
  });
});
