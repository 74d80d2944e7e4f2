/*
 * `npm run simulate [TIMES]`: the properties with many times the runs of the gate, by a new seed; explain
 * and pictures are asked at every state. With flags (`--engines 1000 --rate 5000`) it simulates an
 * installation instead, see test/scale.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const args = process.argv.slice(2);
const isInstallation = args.some((argument) => argument.startsWith('--'));
const [command, env] = isInstallation ? installation(args) : properties(args);
const child = spawn(process.execPath, command, { env, stdio: 'inherit' });
child.on('close', (status) => (process.exitCode = status ?? 1));

/** Millions of events that are gone at once: the young generation of the heap is large. */
function installation(flags) {
  const heap = ['--max-semi-space-size=128', '--max-old-space-size=7000'];
  const start = fileURLToPath(new URL('../../scale/start.js', import.meta.url));
  return [[...heap, start, ...flags], process.env];
}

function properties([times = '25']) {
  const require = createRequire(import.meta.url);
  const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
  const seed = process.env.TWS_SIMULATE_SEED ?? String(Math.floor(Math.random() * 1e9));
  const where = ['simulator', 'hand-edited'];
  const groups = ['decide', 'simulators'].flatMap((name) => ['--project', name]);
  const run = [vitest, 'run', '--config', '.config/vitest.config.ts', ...groups, ...where];

  console.log(`${times} times the runs of the gate, TWS_SIMULATE_SEED=${seed}`);
  return [run, { ...process.env, TWS_SIMULATE: times, TWS_SIMULATE_SEED: seed }];
}
