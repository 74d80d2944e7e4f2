/* `npm run simulate [TIMES]`: the properties with many times the runs of the gate, by a new seed; explain and pictures are asked at every state. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const times = process.argv[2] ?? '25';
const seed = process.env.TWS_SIMULATE_SEED ?? String(Math.floor(Math.random() * 1e9));
const where = ['simulator', 'hand-edited'];
const groups = ['decide', 'simulators'].flatMap((name) => ['--project', name]);
const command = [vitest, 'run', '--config', '.config/vitest.config.ts', ...groups];

console.log(`${times} times the runs of the gate, TWS_SIMULATE_SEED=${seed}`);
const env = { ...process.env, TWS_SIMULATE: times, TWS_SIMULATE_SEED: seed };
const child = spawn(process.execPath, [...command, ...where], {
  env,
  stdio: 'inherit',
});
child.on('close', (status) => (process.exitCode = status ?? 1));
