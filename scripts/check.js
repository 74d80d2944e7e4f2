/*
 * The gate: format, types, lint, build, the tables of decide/ with their coverage, and the tests that
 * need no more than a server (all but the group `long`; the simulators, too, are left to `--all`). With
 * `--all` the tests are those of `npm test`, as in continuous integration. `--reports=FOLDER` leaves
 * the results of the tests there, a JSON file for each run of them; further arguments go to the tests.
 * What reads the sources runs beside what runs them, as one more of the tests' processes: with a lower
 * priority it ended two minutes after them.
 * Ends with the status of the first step that failed.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { isBuilt } from './built.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tool = (...path) => join(root, 'node_modules', ...path);

const vitest = [tool('vitest', 'vitest.mjs'), 'run', '--config', '.config/vitest.config.ts'];

const lint = ['types and lint', join(root, 'scripts', 'lint.js')];
// What has not changed since the last time is not looked at again; type-aware lint cannot know that.
const known = join(root, 'node_modules', '.cache', 'tws', 'prettier');
const prettier = tool('prettier', 'bin', 'prettier.cjs');
const cache = ['--cache', '--cache-strategy', 'content', '--cache-location', known];
const format = ['format', prettier, '--check', '--log-level=warn', ...cache, '.'];

const option = '--reports=';
const own = (argument) => argument === '--all' || argument.startsWith(option);
const isWhole = process.argv.includes('--all');
const reports = process.argv.find((argument) => argument.startsWith(option))?.slice(option.length);
const given = process.argv.slice(2).filter((argument) => !own(argument));

/** A step that runs tests. */
function tests(title, ...options) {
  const file = reports && `--outputFile=${join(reports, `${title}.json`)}`;
  return [
    title,
    ...vitest,
    ...options,
    ...(file ? ['--reporter=default', '--reporter=json', file] : []),
  ];
}

const build = ['build', join(root, 'scripts', 'build.js')];
// The tables alone must reach every branch: what is covered by chance is covered by nothing.
const coverage = tests('coverage', '--project', 'decide', '--coverage');
const others = isWhole ? ['!decide'] : ['unit', 'store'];
const rest = tests('tests', ...others.flatMap((name) => ['--project', name]), ...given);

/** Runs steps one after the other up to the first that fails; resolves to its status, else 0. */
async function runAll(steps, stdio) {
  for (const [title, ...command] of steps) {
    const began = Date.now();
    const { status, text } = await run(command, stdio);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    process.stdout.write(text);
    console.log(`check: ${title} ${status === 0 ? 'ok' : 'FAILED'} (${seconds} s)`);
    if (status !== 0) {
      failed.push(title);
      return status;
    }
  }
  return 0;
}

/** Whoever reads all sources makes much that is gone at once: less work for the garbage collector. */
const memory = ['--max-semi-space-size=64'];

/** What is printed is shown at once, or is kept together where something else runs and prints beside it. */
const atOnce = 'inherit';
const together = ['ignore', 'pipe', 'pipe'];

function run(command, stdio) {
  const child = spawn(process.execPath, [...memory, ...command], { cwd: root, stdio });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part) => (text += part));
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: 1, text: `${error.message}\n` }));
    child.on('close', (status) => resolve({ status: status ?? 1, text }));
  });
}

const failed = [];
const began = Date.now();
// The pages and the tests read what the build makes.
const built = isBuilt(root) ? 0 : await runAll([build], atOnce);
if (built !== 0) process.exit(built);
const statuses = await Promise.all([
  runAll([coverage, rest], atOnce),
  runAll([lint, format], together),
]);
process.exitCode = statuses.find((status) => status !== 0) ?? 0;
const seconds = ((Date.now() - began) / 1000).toFixed(0);
console.log(`check: ${seconds} s in all${failed.map((title) => `; ${title} FAILED`).join('')}`);
