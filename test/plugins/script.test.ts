import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/package.js';
import { noCode } from '../../src/plugin/code-policy.js';
import { PluginError } from '../../src/plugin/errors.js';
import { loadPlugins } from '../../src/plugin/loader.js';
import { attempt, folderWith, type AttemptOptions } from '../plugin/attempt.js';

// Its thread runs what was built.
const folder = join(packageRoot(), 'dist', 'plugins');
const registry = await loadPlugins({ folders: [folder], log: () => undefined });
const code = { ...noCode, script: ['DEFAULT'] };

/** Runs the code of a task. */
const run = (script: string, more: object = {}, options: AttemptOptions = {}) =>
  attempt(registry, 'script', { code: script, ...more }, { code, ...options });

describe('script', () => {
  // Shows C-13, X-33.
  it('runs the code of its task, which sees the context', async () => {
    const outcome = await run(
      `log('adding', { n: params.a });
       progress(0.5);
       heartbeat({ at: 1 });
       const { total } = results.first;
       return { sum: params.a + total, job: job._id, text: render('{{params.a}}!'), again: await 5 };`,
      { a: 2 },
      { results: { first: { total: 40 } } },
    );
    expect(outcome).toMatchObject({
      kind: 'done',
      result: { sum: 42, job: 'job-1', text: '2!', again: 5 },
      said: [{ message: 'adding', data: { n: 2 } }],
      heartbeats: [{ at: 1 }],
      progressed: [0.5],
    });
  });

  it('asks for sensitive values, which are hidden in what it says', async () => {
    const sensitive = async (names: readonly string[]) => {
      if (names.includes('none')) throw new PluginError('There is none.', { retryable: false });
      return { iban: 'DE02 1203', name: 'Maria' };
    };
    const asked = await run(
      `const [a, b] = await Promise.all([sensitive('iban'), sensitive('iban', 'name')]);
       log(a.iban + b.name);
       sensitive('iban');
       return { length: a.iban.length, b };`,
      {},
      { sensitive },
    );
    expect(asked).toMatchObject({
      result: { length: 9, b: { iban: '[secret]', name: '[secret]' } },
      said: [{ message: '[secret][secret]' }],
    });
    expect(await run(`await sensitive('none');`, {}, { sensitive })).toMatchObject({
      ...{ kind: 'failed', retryable: false },
      failure: { message: expect.stringMatching(/^There is none\./) as string },
    });
    expect(await run(`await sensitive('iban');`)).toMatchObject({
      failure: { name: 'SensitiveUnset' },
    });
  });

  it('waits, begins again and fails as a plugin does', async () => {
    const waits = await run(`return wait('go', { timeout: 5 });`);
    expect(waits).toMatchObject({ kind: 'wait', signal: 'go', timeoutMs: 5 });
    expect(await run(`return requeue({ delay: 7 });`)).toMatchObject({
      kind: 'requeue',
      delayMs: 7,
    });
    const failed = await run(
      `\nthrow Object.assign(new RangeError('No.'), { code: 7, retryable: false });`,
    );
    expect(failed).toMatchObject({
      kind: 'failed',
      failure: { name: 'RangeError', message: 'No. (line 2 of the code)', code: 7 },
      retryable: false,
    });
    expect(await run('return 1 +;')).toMatchObject({ failure: { name: 'ScriptInvalid' }, exit: 3 });
    expect(await run('return setData(7);')).toMatchObject({ kind: 'failed' });
  });

  it('uses the modules that its task declares and the project allows', async () => {
    const cwd = folderWith({ 'lib/dates.js': `exports.twice = (n) => 2 * n;`, '.hidden.js': '' });
    const allowed = { ...code, modules: { dates: 'lib/dates.js', hidden: '.hidden.js' } };
    const use = (modules: readonly string[]) =>
      run(`return require('dates').twice(21);`, { modules }, { cwd, code: allowed });
    expect(await use(['dates'])).toMatchObject({ result: 42 });
    expect(await use([])).toMatchObject({
      failure: {
        message: expect.stringContaining('does not declare the module "dates"') as string,
      },
    });
    expect(await use(['fs'])).toMatchObject({
      failure: {
        name: 'ScriptModuleMissing',
        message:
          'There is no module "fs" for scripts: "code": {"modules": {…}} in tws.json names dates, hidden.',
      },
    });
    expect(await use(['hidden'])).toMatchObject({ failure: { name: 'FileHidden' } });
  });

  it.each([
    ['nobody, unless tws.json says so', noCode, {}],
    ['no other owner', { ...code, script: ['ann'] }, { owner: 'bob' }],
  ])('is for %s', async (_title, policy, job) => {
    const owner = 'owner' in job ? job.owner : 'DEFAULT';
    const outcome = await run('return 1;', {}, { code: policy, job: { _id: 'j', ...job } });
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: {
        name: 'CodeNotAllowed',
        message: `Plugin script is not allowed for jobs of owner ${owner}: name the owner in "code": {"script": […]} in tws.json if it is meant.`,
      },
      retryable: false,
    });
    const all = { ...policy, script: ['*'] };
    expect(await run('return 1;', {}, { code: all })).toMatchObject({ result: 1 });
  });

  it.each([
    ['an endless loop', 'for (;;);', { time: 100 }, 'ScriptTooLong'],
    [
      'an endless loop that catches',
      'for (;;) { try { for (;;); } catch {} }',
      { time: 100 },
      'ScriptTooLong',
    ],
    [
      'an endless chain of promises',
      'const f = () => Promise.resolve().then(f); await f();',
      { time: 100 },
      'ScriptTooLong',
    ],
    [
      'a slow pattern',
      `return /^(a+)+$/.test('a'.repeat(40) + 'b');`,
      { time: 100 },
      'ScriptTooLong',
    ],
    [
      'a bomb of memory',
      `const all = []; for (;;) all.push(new Uint8Array(1e6));`,
      { memory: 8 },
      'ScriptTooLarge',
    ],
    ['a doubling text', `let s = 'x'; for (;;) s += s;`, { memory: 8 }, /./],
    ['deep recursion', `const f = (n) => f(n + 1) + 1; return f(0);`, {}, /./],
    ['a flood of lines', `for (let n = 0; n < 1e6; n += 1) log('line ' + n);`, {}, 'ScriptTooLoud'],
    ['a result without end', `return 'x'.repeat(2e6);`, {}, 'ScriptTooLoud'],
    ['what never comes', `await new Promise(() => {});`, {}, 'ScriptStuck'],
    ['a result that is none', `const a = {}; a.a = a; return a;`, {}, /./],
  ])('ends %s', async (_title, script, limits, name) => {
    const outcome = await run(script, limits);
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { name: typeof name === 'string' ? name : (expect.stringMatching(name) as string) },
    });
    expect(outcome.said.length).toBeLessThanOrEqual(1_000);
  });

  it.each([
    [
      'the constructor of a function',
      `return typeof (function () {}).constructor('return this')().process;`,
    ],
    [
      'the constructor of an error of the host',
      `try { setData(7); } catch (e) { return e.constructor.constructor('return typeof process')(); }`,
    ],
    [
      'globals of Node',
      `return [typeof process, typeof Buffer, typeof fetch, typeof setTimeout, typeof globalThis.require].every((one) => one === 'undefined') ? 'undefined' : 'reached';`,
    ],
    ['an import', `return import('node:fs').then(() => 'reached', () => 'undefined');`],
    ['the way out itself', `return typeof host;`],
  ])('lets no code reach %s', async (_title, script) => {
    expect(await run(script)).toMatchObject({ kind: 'done', result: 'undefined' });
  });

  it('keeps what a script does to prototypes to itself', async () => {
    const outcome = await run(
      `Object.prototype.polluted = 1; Array.prototype.map = () => 'mine'; JSON.stringify = () => '{}';
       const own = JSON.parse('{"__proto__": {"polluted": 2}}');
       job._id = 'other'; params.a = 2;
       return { own, n: 1 };`,
      { a: 1 },
    );
    expect(outcome).toMatchObject({ kind: 'done', result: { n: 1 } });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const { result } = outcome as unknown as { readonly result: { readonly own: object } };
    expect((result.own as { polluted?: number }).polluted).toBeUndefined();
    expect(await run('return typeof ({}).polluted;')).toMatchObject({ result: 'undefined' });
  });
});
