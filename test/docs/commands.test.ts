import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { executable, packageRoot } from '../../src/package.js';
import { tws, type Process } from '../cli/executable.js';
import { project } from '../cli/terminal.js';
import { freePort } from '../support/ports.js';
import { needPrograms } from '../support/programs.js';
import { blocksOf, pages } from './pages.js';

const run = promisify(execFile);

/** What encrypts is what decrypts. */
const key = { TWS_CRYPTO_KEY: 'the key of these pages' };
const maxBuffer = 64 * 1024 * 1024;
/** Dozens of commands, each a process, on a machine that may be busy. */
const timeout = 1_200_000;

/** The ports that are printed, and those that stand for them here. */
type Ports = { readonly couch: number; readonly http: number; readonly listener: number };

/** The scripts of a page that run, in order. */
const scriptsOf = (page: string): readonly string[] =>
  blocksOf(page)
    .filter(({ lang, note }) => lang === 'sh' && note === '')
    .map(({ text }) => text);

/** A folder with the programs `tws` and `npx tws`, as a package installed there would have them. */
async function programsIn(folder: string): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const call = `exec "${process.execPath}" "${executable()}" "$@"\n`;
  await writeFile(join(bin, 'tws'), `#!/bin/sh\n${call}`);
  await writeFile(join(bin, 'npx'), `#!/bin/sh\nshift\n${call}`);
  for (const name of ['tws', 'npx']) await chmod(join(bin, name), 0o755);
  await mkdir(join(folder, 'node_modules'));
  await symlink(packageRoot(), join(folder, 'node_modules', 'tws'));
  return bin;
}

/** Runs a script as it is printed, but for the ports; every answer of curl is to be a good one. */
async function runs(script: string, cwd: string, bin: string, ports: Ports): Promise<string> {
  const text = [
    'set -euo pipefail',
    'curl() { command curl -sS --fail-with-body "$@"; local code=$?; echo; return $code; }',
    'export COUCH_URL=$(cat .tws/couch-url 2>/dev/null || true) DB=demo_tasks',
    `json='content-type: application/json' api=http://127.0.0.1:5985/_tws`,
    script,
  ].join('\n');
  const { PATH = '', TMPDIR = '/tmp' } = process.env;
  const moved = text.replaceAll(':5985', `:${ports.http}`).replaceAll('8099', `${ports.listener}`);
  const env = { PATH: `${bin}:${PATH}`, TMPDIR, HOME: cwd, ...key };
  const { stdout } = await run('bash', ['-c', moved], { cwd, env, maxBuffer }).catch(
    (error: unknown) => {
      const { stdout: out, stderr: err } = error as { stdout: string; stderr: string };
      throw new Error(`${script}\n--- printed\n${out}\n--- ${err}`);
    },
  );
  return stdout;
}

async function startDev(cwd: string, ports: Ports): Promise<Process> {
  const args = ['dev', '--port', String(ports.couch), '--http', `127.0.0.1:${ports.http}`];
  const dev = tws(args, { cwd, env: key });
  await dev.prints(/Ctrl-C ends all/);
  return dev;
}

/** A project `demo` made by the tutorial's first command, with all that `tws dev` runs. */
async function demo() {
  needPrograms('curl', 'bash');
  const above = await project();
  const bin = await programsIn(above);
  const ports = { couch: await freePort(), http: await freePort(), listener: await freePort() };
  const [first = '', ...others] = scriptsOf('docs/tutorial.md');
  await runs(first, above, bin, ports);
  const cwd = join(above, 'demo');
  const dev = await startDev(cwd, ports);
  const stop = async (of: Process): Promise<void> => {
    of.kill('SIGINT');
    expect(await of.ended).toBe(0);
  };
  return { others, dev, stop, run: (script: string) => runs(script, cwd, bin, ports) };
}

describe('the commands of the tutorial', () => {
  it(
    'run as they are printed, and tws dev loads the plugin while it runs',
    async () => {
      const { others, dev, stop, run: shell } = await demo();
      const plugin = others.findIndex((text) => text.includes('plugins/total.mjs'));
      const before = await shell(others.slice(0, plugin + 1).join('\n'));
      for (const text of ['"Hello World"', '"state":"$$complete"', 'job-1']) {
        expect(before.replaceAll(': "', ':"')).toContain(text);
      }
      await dev.prints(/Loaded: .*total/);
      const after = await shell(others.slice(plugin + 1).join('\n'));
      for (const text of ['exit status 2', 'An invoice needs at least one item.', 'approved']) {
        expect(after).toContain(text);
      }
      await stop(dev);
    },
    timeout,
  );
});

/** What the answers of a page hold, beside that each of its commands succeeds. */
const said: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['"state":"$$complete"'],
  'docs/guides/http-api.md': [
    ...['"id":"task:DEFAULT:say"', 'HTTP/1.1 201 Created', '"status":"succeeded"'],
    ...['{"result":"Hello Ada"}', '"kind":"JobCompleted"', '"jobs":[{"id":"talk-1"'],
    ...['"outcome":"applied"', '"submitted":1,"existed":0,"refused":1', '"succeeded":'],
    ...['event: ready', '"token":"tws_', '"cursor"'],
  ],
  'docs/guides/workers.md': [
    ...['"type":"email.send"', '"jobs_extended":["', '"acknowledged":true'],
    ...['"state":"completed"', '"completed_last_hour":', '"pagination":'],
  ],
  'docs/guides/notifications.md': [
    ...[
      '"type":"job.succeeded"',
      'for the signal "go"',
      'Its notification ask-1:notify:1:waiting-',
    ],
    ...['Its notification told-2:notify:1:notify:DEFAULT:0', 'flow told  0  '],
    'sent: task noop, entry 0 of flow ask',
  ],
  'docs/guides/concurrency.md': ['"A1"  1 of 1  1, first flyer  poster ('],
  'docs/guides/schedules.md': [
    ...['DEFAULT  hello  0 3 * * * Europe/Berlin', '"greeting": "Hello 20'],
    ...['so far       started 2, skipped ', 'backfilled ('],
  ],
  'docs/guides/triggers.md': [
    '"started":["event-run:ship:DEFAULT:',
    '1 event (event:sold:71) waits in gathering:digest:DEFAULT:',
    '"started":["event-run:digest:DEFAULT:',
  ],
  'docs/guides/hooks.md': [
    'starts: hook-run:github:DEFAULT:',
    '{"outcome":"started","job":"hook-run:',
  ],
  'docs/guides/secrets.md': ['tws:v2:', 'stored: mail.password of owner DEFAULT'],
  'docs/guides/sensitive-data.md': [
    '"account": "[secret]"',
    'DE02120300000000202051',
    'purged: 1 subject',
  ],
  'docs/guides/node-workflow.md': [
    ...['would be created: plugins/look-up.mjs', '1 flow and 4 tasks are imported.'],
    ...['"mail": "ada@example.com"', '"result": "a letter is sent"', '"result": "confirmed"'],
  ],
  'docs/operations/monitoring.md': ['tws_jobs{status="succeeded"}', '"ready":true'],
  'docs/operations/backup.md': ['"ok":true'],
};

describe('the commands of README and docs', () => {
  const others = pages.filter((page) => page !== 'docs/tutorial.md' && scriptsOf(page).length > 0);
  // Shows B-01.
  it(
    'run as they are printed, page by page',
    async () => {
      const shared = await demo();
      for (const page of others) {
        const out = await shared.run(scriptsOf(page).join('\n'));
        for (const text of said[page] ?? []) expect(out, page).toContain(text);
      }
      await shared.stop(shared.dev);
    },
    timeout,
  );
});
