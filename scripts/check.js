/*
 * The gate: format, lint, types, build, the tables of decide/ with their coverage, and the tests that
 * need no more than a server (all but the group `long`; the simulators, too, are left to `--all`). With
 * `--all` the tests are those of `npm test`, as in continuous integration. What no clock can disturb
 * goes in two lanes beside each other. Further arguments go to the tests (reporters, for instance).
 * Ends with the first failure's status.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tool = (...path) => join(root, 'node_modules', ...path);

const vitest = [tool('vitest', 'vitest.mjs'), 'run', '--config', '.config/vitest.config.ts'];
const eslint = [tool('eslint', 'bin', 'eslint.js'), '--config', '.config/eslint.config.js'];

const lint = ['lint', ...eslint, '--max-warnings=0', '.'];
// What has not changed since the last time is not looked at again; type-aware lint cannot know that.
const known = (name) => join(root, 'node_modules', '.cache', 'tws', name);
const prettier = tool('prettier', 'bin', 'prettier.cjs');
const cache = ['--cache', '--cache-strategy', 'content', '--cache-location', known('prettier')];
const format = ['format', prettier, '--check', '--log-level=warn', ...cache, '.'];
const tsc = tool('typescript', 'bin', 'tsc');
const typesOf = (title, project) => {
  const memory = ['--incremental', '--tsBuildInfoFile', known(`${title}.tsbuildinfo`)];
  return [title, tsc, '-p', project, '--noEmit', ...memory];
};
const types = typesOf('types', 'tsconfig.json');
const pageTypes = typesOf('types of the pages', 'src/pages/tsconfig.json');

const build = ['build', join(root, 'scripts', 'build.js')];
// The tables alone must reach every branch: what is covered by chance is covered by nothing.
const tables = ['--project', 'decide', '--exclude', '**/*simulator*'];
const coverage = ['coverage', ...vitest, ...tables, '--coverage'];

const isWhole = process.argv.includes('--all');
const given = process.argv.slice(2).filter((argument) => argument !== '--all');
const quick = ['--project', 'unit', '--project', 'store'];

// The pages read what the build makes.
const still = [format, types, build, pageTypes, coverage];
const lanes = [[lint], still];
const tests = [['tests', ...vitest, ...(isWhole ? [] : quick), ...given]];

/** Runs steps one after the other up to the first that fails; resolves to its status, else 0. */
async function runAll(steps, output) {
  for (const [title, ...command] of steps) {
    const began = Date.now();
    const { status, text } = await run(command, output);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    process.stdout.write(text);
    console.log(`check: ${title} ${status === 0 ? 'ok' : 'FAILED'} (${seconds} s)`);
    if (status !== 0) return status;
  }
  return 0;
}

/** `output`: `later` keeps what is printed together while something else runs. */
function run(command, output) {
  const stdio = output === 'now' ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, command, { cwd: root, stdio });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part) => (text += part));
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: 1, text: `${error.message}\n` }));
    child.on('close', (status) => resolve({ status: status ?? 1, text }));
  });
}

const began = Date.now();
const ended = await Promise.all(lanes.map((steps) => runAll(steps, 'later')));
const failed = ended.find((status) => status !== 0);
process.exitCode = failed ?? (await runAll(tests, 'now'));
console.log(`check: ${((Date.now() - began) / 1000).toFixed(0)} s in all`);
