import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

/** The document that an engine named `a` left behind. */
const left = (more: Record<string, unknown>) => ({
  _id: 'engine:a',
  type: 'engine',
  host: hostname(),
  pid: process.pid,
  version: '0',
  plugins: [],
  labels: [],
  slots: 1,
  started: Date.now(),
  beat: 7,
  renew_ms: 100,
  state: 'running',
  ...more,
});

/** The number of a process that has ended. */
async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return Number(child.pid);
}

const fast = { name: 'a', renewMs: 100, leaseMs: 1_000 };

describe('an engine with a name of its own', () => {
  it('does not start while another one of that name runs', async () => {
    const space = await openWorkspace();
    const first = await space.engine(fast);
    await expect(space.engine(fast)).rejects.toMatchObject({
      code: 'engine_name_taken',
      exit: 73,
      message: `An engine named "a" is running already: process ${process.pid} on ${hostname()}.`,
    });
    await first.stop();
    expect((await space.engine(fast)).id).toBe('engine:a');
  });

  it.each([
    ['its process is gone', async () => ({ pid: await deadProcess(), renew_ms: 60_000 })],
    ['its process had the same number', async () => ({ started: 5, renew_ms: 60_000 })],
    [
      'it had ended in order',
      async () => ({ host: 'elsewhere', state: 'stopped', renew_ms: 60_000 }),
    ],
    ['its document does not move', async () => ({ host: 'elsewhere' })],
  ])('takes the place of a dead one at once: %s', async (_title, more) => {
    const space = await openWorkspace();
    await space.put(left(await more()));
    const began = performance.now();
    await space.engine(fast);
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(await space.store.get('engine:a')).toMatchObject({ host: hostname(), pid: process.pid });
    expect(Number((await space.store.get('engine:a'))?.['beat'])).toBeGreaterThan(7);
  });

  it('stops by itself when another one of that name has taken its place', async () => {
    const space = await openWorkspace({
      'slow.mjs': `export default ({ signal }) => new Promise((_, no) =>
        signal.addEventListener('abort', () => no(signal.reason)));`,
    });
    const first = await space.engine({ ...fast, drainMs: 100 });
    const doc = await space.store.get('engine:a');
    for (let tries = 0; tries < 50; tries += 1) {
      const newest = await space.store.get('engine:a');
      const other = { ...newest, _id: 'engine:a', host: 'elsewhere', pid: 1, started: 1 };
      if ((await space.store.write(other)).kind === 'written') break;
    }
    expect(await first.failed).toMatchObject({ code: 'engine_name_taken' });
    await first.stop();
    expect(doc).toMatchObject({ pid: process.pid, renew_ms: 100 });
    expect(await space.store.get('engine:a')).toMatchObject({ host: 'elsewhere' });
  });
});
