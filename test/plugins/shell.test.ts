import { chmodSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { noCode } from '../../src/plugin/code-policy.js';
import { folderWith, type AttemptOptions } from '../plugin/attempt.js';
import { run as attempt } from './shipped.js';

const code = { ...noCode, shell: ['DEFAULT'], programs: ['*'] };

const run = (params: Record<string, unknown>, options: AttemptOptions = {}) =>
  attempt('shell', params, { code, ...options });

const node = process.execPath;
/** A program of Node. */
const program = (text: string, ...args: readonly string[]) => ({
  command: [node, '-e', text, ...args],
});

/** Whether a process is there; one that nobody has asked for its end is not. */
async function lives(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text !== '' && !/^\d+ \(.*\) [ZX]/.test(text);
}

describe('shell', () => {
  it('reads JSON after a byte order mark', async () => {
    const text = 'console.log("\\uFEFF{\\"a\\":1}")';
    expect(await run({ ...program(text), json: true })).toMatchObject({
      result: { output: { a: 1 } },
    });
  });

  it('starts a program with a list of arguments, which no shell reads', async () => {
    const text =
      'process.stdin.on("data", (d) => console.log(JSON.stringify([process.argv.slice(1), String(d)])))';
    const outcome = await run({
      ...program(text, '$HOME', '; ls', '`id`'),
      input: 'given',
      json: true,
    });
    expect(outcome).toMatchObject({
      kind: 'done',
      result: { exit: 0, output: [['$HOME', '; ls', '`id`'], 'given'] },
    });
  });

  it('gives it nothing of the environment but what is allowed and asked for', async () => {
    vi.stubEnv('SECRET_OF_ENGINE', 'hunter2');
    vi.stubEnv('ALLOWED', 'yes');
    onTestFinished(() => void vi.unstubAllEnvs());
    const shown = { ...program('console.log(JSON.stringify(process.env))'), json: true };
    const allowed = { ...code, env: ['ALLOWED', 'OWN'] };
    const env = { OWN: '1' };
    const outcome = await run({ ...shown, env, pass: ['ALLOWED'] }, { code: allowed });
    const { output } = (outcome as unknown as { readonly result: { readonly output: object } })
      .result;
    expect(output).toMatchObject({
      ALLOWED: 'yes',
      OWN: '1',
      TWS_KEY: 'job-1/s/0',
      PATH: process.env['PATH'],
    });
    expect(Object.keys(output)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/SECRET/)]),
    );
    expect(await run({ ...shown, pass: ['SECRET_OF_ENGINE'] }, { code: allowed })).toMatchObject({
      failure: {
        name: 'ProgramNotAllowed',
        message:
          'The variable SECRET_OF_ENGINE is not allowed: "code": {"env"} in tws.json says what is.',
      },
    });
  });

  it.each([
    ['BASH_ENV', ['REGION']],
    ['BASH_FUNC_x%%', ['REGION']],
    ['PERL5OPT', ['*']],
    ['GIT_SSH_COMMAND', ['*']],
    ['LD_PRELOAD', ['LD_PRELOAD']],
    ['NODE_OPTIONS', ['NODE_OPTIONS']],
    ['PATH', ['PATH']],
  ])('lets no document set the variable %s where the project allows %j', async (name, names) => {
    const outcome = await run(
      { command: ['true'], env: { [name]: 'x' } },
      { code: { ...code, env: names } },
    );
    expect(outcome).toMatchObject({
      failure: {
        name: 'ProgramNotAllowed',
        message: expect.stringContaining(`The variable ${name} is not allowed`) as string,
      },
      retryable: false,
    });
  });

  it('finds a program with a path from the project, not from the folder where it runs', async () => {
    const cwd = folderWith({
      'bin/tool': '#!/bin/sh\necho project',
      'data/bin/tool': '#!/bin/sh\necho data',
    });
    for (const file of ['bin/tool', 'data/bin/tool']) chmodSync(join(cwd, file), 0o755);
    const named = { ...code, programs: ['bin/tool', './tool'] };
    const tool = { command: ['bin/tool'], folder: 'data' };
    expect(await run(tool, { cwd, code: named })).toMatchObject({
      result: { stdout: 'project\n' },
    });
    const other = { command: ['./tool'], folder: 'data/bin' };
    expect(await run(other, { cwd, code: named })).toMatchObject({
      failure: { name: 'ProgramMissing' },
    });
  });

  it('runs in the project, or in a folder of it', async () => {
    const cwd = folderWith({ 'data/a.txt': 'x' });
    const list = program('console.log(require("fs").readdirSync(".").join())');
    expect(await run(list, { cwd })).toMatchObject({ result: { stdout: 'data\n' } });
    expect(await run({ ...list, folder: 'data' }, { cwd })).toMatchObject({
      result: { stdout: 'a.txt\n' },
    });
    expect(await run({ ...list, folder: '../..' }, { cwd })).toMatchObject({
      failure: { name: 'FileOutside' },
    });
    expect(await run({ ...list, folder: 'no' }, { cwd })).toMatchObject({
      failure: { name: 'FileUnreadable' },
    });
  });

  it.each([
    [noCode, { command: ['true'] }, 'CodeNotAllowed'],
    [{ ...code, shell: ['ann'] }, { command: ['true'] }, 'CodeNotAllowed'],
    [{ ...code, programs: ['git'] }, { command: ['true'] }, 'ProgramNotAllowed'],
    [{ ...code, programs: ['git'] }, { command: ['/usr/bin/git'] }, 'ProgramNotAllowed'],
    [code, { line: 'true' }, 'ProgramNotAllowed'],
    [code, { line: 'true', command: ['true'] }, 'ParamsInvalid'],
    [code, {}, 'ParamsInvalid'],
    [code, { command: ['no-such-program'] }, 'ProgramMissing'],
  ])('with %j refuses %j (%s)', async (policy, params, name) => {
    const outcome = await run(params, { code: policy });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { name }, retryable: false });
  });

  it('takes a line for the shell where the project allows that', async () => {
    const lines = { ...code, programs: [], lines: true };
    const outcome = await run({ line: 'echo a b | tr a-z A-Z' }, { code: lines });
    expect(outcome).toMatchObject({ result: { exit: 0, stdout: 'A B\n' } });
  });

  it.each([
    [{}, { kind: 'failed', failure: { name: 'ProgramFailed', code: 3 } }],
    [{ exits: { 3: 'done' } }, { kind: 'done', result: { exit: 3, stderr: 'bad\n' } }],
    [{ exits: { 3: 'retry' } }, { kind: 'failed', retryable: true }],
    [{ exits: { 3: 'fail' } }, { kind: 'failed', retryable: false }],
  ])('reads the exit 3 with %j', async (more, expected) => {
    const outcome = await run({ ...program('console.error("bad"); process.exit(3)'), ...more });
    expect(outcome).toMatchObject(expected);
    if (outcome.kind === 'failed')
      expect(outcome.failure.message).toMatch(/ended with exit 3: bad$/);
  });

  it('ends a program that writes too much', async () => {
    const flood = program('for (;;) require("fs").writeSync(1, "x".repeat(65536))');
    expect(await run({ ...flood, most: 1000 })).toMatchObject({
      failure: {
        name: 'ProgramTooLoud',
        message: `The program ${node} wrote more than 1000 bytes and was ended.`,
      },
    });
    expect(await run({ ...program('console.log("{")'), json: true })).toMatchObject({
      failure: { name: 'ProgramFailed' },
    });
  });

  it('ends a program that is deaf with all that it has started, when the attempt is to end', async () => {
    const cwd = folderWith();
    // A child in its group, one in a group of its own, both deaf; then it waits.
    const text = `
      const { spawn } = require('node:child_process');
      const deaf = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("up")';
      const start = (detached) => spawn(process.execPath, ['-e', deaf], { detached, stdio: ['ignore', 'pipe', 'ignore'] });
      const all = [start(false), start(true)];
      process.on('SIGTERM', () => {});
      let up = 0;
      for (const one of all) one.stdout.on('data', () => {
        up += 1;
        if (up === 2) require('node:fs').writeFileSync('pids', JSON.stringify([process.pid, ...all.map((p) => p.pid)]));
      });`;
    const ending = new AbortController();
    const running = run(program(text), { cwd, signal: ending.signal });
    const read = async (): Promise<string> => readFile(join(cwd, 'pids'), 'utf8').catch(() => '');
    await expect.poll(read).not.toBe('');
    const pids = JSON.parse(await read()) as number[];
    expect(await Promise.all(pids.map(lives))).toEqual([true, true, true]);
    ending.abort(new DOMException('cancelled', 'AbortError'));
    expect(await running).toMatchObject({ kind: 'failed', failure: { name: 'AbortError' } });
    expect(await Promise.all(pids.map(lives))).toEqual([false, false, false]);
  });

  it('leaves nothing behind of a program that ends by itself', async () => {
    const text = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
      child.unref();
      console.log(child.pid);`;
    const outcome = await run({ ...program(text), json: true });
    const { output } = (outcome as unknown as { readonly result: { readonly output: number } })
      .result;
    expect(await lives(output)).toBe(false);
  });
});
