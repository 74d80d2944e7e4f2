/* The gate: format, lint, types, build, tests with the coverage of decide/. Ends with the first failure's status. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tool = (...path) => join(root, 'node_modules', ...path);

const vitest = [tool('vitest', 'vitest.mjs'), 'run', '--config', '.config/vitest.config.ts'];

const steps = [
  ['format', tool('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level=warn', '.'],
  [
    'lint',
    tool('eslint', 'bin', 'eslint.js'),
    '--config',
    '.config/eslint.config.js',
    '--max-warnings=0',
    '.',
  ],
  ['types', tool('typescript', 'bin', 'tsc'), '-p', 'tsconfig.json', '--noEmit'],
  ['build', join(root, 'bin', 'build.js')],
  ['coverage', ...vitest, '--project', 'decide', '--coverage'],
  ['tests', ...vitest, '--project', 'unit', '--project', 'store'],
];

for (const [title, ...command] of steps) {
  const began = Date.now();
  const done = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' });
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  const verdict = done.status === 0 ? 'ok' : 'FAILED';
  console.log(`check: ${title} ${verdict} (${seconds} s)`);
  if (done.status !== 0) {
    process.exitCode = done.status ?? 1;
    break;
  }
}
