import { createRequire } from 'node:module';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { calculator, NoThreadError } from '../../src/plugin/calculations.js';

const atOnce = async (): Promise<void> => undefined;

it('rejects calculations that wait for a thread that cannot start', async () => {
  const calculate = calculator('/no/such/module.js', atOnce);
  const asked = [1, 2, 3].map(() =>
    calculate({ kind: 'expression', expression: '1 + 1', data: {} }),
  );
  for (const answer of [...asked, calculate({ kind: 'expression', expression: '1', data: {} })]) {
    await expect(answer).rejects.toThrow(/^its thread could not be started: .*no\/such\/module/);
  }
});

it('waits for a thread that can start, and makes the calculation then', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tws-calculations-'));
  const module = join(folder, 'thread.mjs');
  const waits: number[] = [];
  const calculate = calculator(module, async (failedStarts) => {
    waits.push(failedStarts);
    if (failedStarts === 3) await writeFile(module, thread);
  });
  const answer = await calculate({ kind: 'expression', expression: 'a', data: {} });
  await rm(folder, { recursive: true });
  expect(answer).toBe('a');
  expect(waits).toEqual([1, 2, 3]);
});

it('tells an operating system that starts no thread from a mistake in the document', async () => {
  const workers = createRequire(import.meta.url)('node:worker_threads') as { Worker: unknown };
  const { Worker } = workers;
  const none = Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
  let refused = 0;
  workers.Worker = function () {
    refused += 1;
    throw none;
  };
  let waits = 0;
  const calculate = calculator('/no/such/module.js', async () => void (waits += 1));
  const answer = calculate({ kind: 'expression', expression: 'a', data: {} });
  await expect(answer)
    .rejects.toBeInstanceOf(NoThreadError)
    .finally(() => {
      workers.Worker = Worker;
    });
  expect([refused, waits]).toEqual([6, 5]);
});

/**
 * What the threads run. Both are in an endless calculation before the watch over either of them begins.
 * Only Linux tells the processor time of a thread; elsewhere a thread has no number.
 */
const thread = `
import { readlinkSync } from 'node:fs';
export default ({ calculation: { expression, data }, thread }) => {
  if (expression === 'endless') {
    for (Atomics.add(data, 0, 1); Atomics.load(data, 0) < 2; );
    const isLinux = process.platform === 'linux';
    Atomics.store(thread, 0, isLinux ? readlinkSync('/proc/thread-self').split('/').at(-1) : -1);
    for (;;);
  }
  return { ok: true, value: expression };
};`;

it('makes the calculations that waited behind two which were ended together', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tws-calculations-'));
  const module = join(folder, 'thread.mjs');
  await writeFile(module, thread);
  const calculate = calculator(module);
  const endless = new Int32Array(new SharedArrayBuffer(4));
  const ask = (expression: string): Promise<unknown> =>
    calculate({ kind: 'expression', expression, data: endless });
  const answers = await Promise.allSettled(['endless', 'endless', 'a', 'b', 'c'].map(ask));
  await rm(folder, { recursive: true });
  const tooLong = { status: 'rejected', reason: new Error('it takes longer than 1000 ms') };
  const done = (value: string) => ({ status: 'fulfilled', value });
  expect(answers).toEqual([tooLong, tooLong, done('a'), done('b'), done('c')]);
});

it('warns of nothing when many calculations wait', async () => {
  const warnings: string[] = [];
  const keep = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', keep);
  const calculate = calculator('/no/such/module.js', atOnce);
  const calculation = { kind: 'expression', expression: '1', data: {} } as const;
  await Promise.allSettled(Array.from({ length: 30 }, () => calculate(calculation)));
  await new Promise(setImmediate);
  process.off('warning', keep);
  expect(warnings).toEqual([]);
});
