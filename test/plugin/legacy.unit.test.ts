import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attempt, folderWith, pluginsOf } from './attempt.js';

/** Runs one CommonJS plugin `x`. */
async function runText(text: string, params: Record<string, unknown> = {}) {
  const { registry, said } = await pluginsOf({ 'x.cjs': text });
  const outcome = await attempt(registry, 'x', params);
  return { outcome, said };
}

describe('a plugin of the older contract', () => {
  // Shows C-14.
  it('runs with job, step and params; its result is what the promise came to', async () => {
    const { outcome } = await runText(
      `module.exports = (options) => (job, step, params) =>
         Promise.resolve({ name: options.name, job: job._id, step: step.name, params });`,
      { a: 1 },
    );
    expect(outcome).toMatchObject({
      kind: 'done',
      result: { name: 'x', job: 'job-1', step: 's', params: { a: 1 } },
    });
  });

  it('may leave its result in step.stdout, which counts more', async () => {
    const { outcome } = await runText(
      `module.exports = function (options) {
         return function (job, step, params) {
           step.stdout = { seen: params.a };
           step.stdout.status = 'done';
           return Promise.resolve('not this');
         };
       };`,
      { a: 1 },
    );
    expect(outcome).toMatchObject({ kind: 'done', result: { seen: 1, status: 'done' } });
  });

  it('does not mistake the standard output of an earlier attempt for its result', async () => {
    const { registry } = await pluginsOf({
      'x.cjs': 'module.exports = (o) => (job, step) => Promise.resolve("new");',
    });
    const step = { index: 0, stdout: 'old' };
    expect(await attempt(registry, 'x', {}, { step })).toMatchObject({ result: 'new' });
  });

  // Shows C-14.
  it.each([
    ['nothing', 'undefined', 'nothing'],
    ['null', 'null', 'null'],
    ['a text', '"done"', 'a value of type string'],
  ])('fails with a sentence when its runner returns %s', async (_title, value, got) => {
    const { outcome } = await runText(`module.exports = (options) => (job, step) => ${value};`);
    expect(outcome).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: {
        name: 'NoPromise',
        message: `Plugin x must return a promise from (job, step, params); it returned ${got}.`,
      },
    });
  });

  it.each([
    ['rejects', 'Promise.reject(new TypeError("no"))'],
    ['throws', '(() => { throw new TypeError("no"); })()'],
  ])('fails like any other when its runner %s', async (_title, value) => {
    const { outcome } = await runText(`module.exports = (options) => (job) => ${value};`);
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { name: 'TypeError', message: 'no' },
    });
  });

  it('logs to the run that it is called for', async () => {
    const { outcome, said } = await runText(
      `module.exports = ({ logger, name }) => {
         logger.info('made', name);
         return (job) => { logger.warn('running', { n: 1 }); return Promise.resolve(1); };
       };`,
    );
    expect(said).toEqual([]);
    expect(outcome.said).toEqual([
      { message: 'made x', data: { level: 'info' } },
      { message: 'running {"n":1}', data: { level: 'warn' } },
    ]);
  });

  it('fails the step when its factory lacks a package', async () => {
    const { outcome } = await runText(
      'module.exports = (o) => { require("no-such-package"); return async () => 1; };',
    );
    const { failure } = outcome as { failure?: unknown };
    expect(failure).toMatchObject({
      code: 'MODULE_NOT_FOUND',
      message: expect.stringContaining('no-such-package') as string,
    });
  });

  it('may change its job, step and params: they are its own copies', async () => {
    const { outcome } = await runText(
      `module.exports = (o) => async (job, step, params) => {
         job.x = 1; params.deep.x = 2; step.y = 3; return [job.x, params.deep.x, step.y];
       };`,
      { deep: {} },
    );
    expect(outcome).toMatchObject({ result: [1, 2, 3] });
  });
});

describe('a CommonJS function of either contract', () => {
  it.each([
    ['of the present one', '(context) => { called(); return Promise.resolve(context.params.a); }'],
    [
      'of the older one',
      '(options) => { called(); return async (job, step, params) => params.a; }',
    ],
  ])('%s is not called before an attempt asks for it', async (_title, text) => {
    const folder = folderWith();
    const { registry } = await pluginsOf({
      'x.cjs': `const called = () =>
          require('node:fs').appendFileSync(${JSON.stringify(`${folder}/calls`)}, '.');
        module.exports = ${text};`,
    });
    expect(existsSync(`${folder}/calls`)).toBe(false);
    const first = await attempt(registry, 'x', { a: 1 });
    const second = await attempt(registry, 'x', { a: 2 });
    expect([first, second]).toMatchObject([{ result: 1 }, { result: 2 }]);
  });

  it('calls a factory once, and a plugin of the present contract each time', async () => {
    const { registry } = await pluginsOf({
      'old.cjs': 'let n = 0; module.exports = (o) => { n += 1; return async () => n; };',
      'new.cjs': 'let n = 0; module.exports = (context) => { n += 1; return n; };',
    });
    for (const plugin of ['old', 'new']) await attempt(registry, plugin);
    expect(await attempt(registry, 'old')).toMatchObject({ result: 1 });
    expect(await attempt(registry, 'new')).toMatchObject({ result: 2 });
  });

  it('is asked again when its first call fails', async () => {
    const { registry } = await pluginsOf({
      'x.cjs': `let n = 0;
        module.exports = (o) => { n += 1; if (n === 1) throw new Error('no'); return async () => n; };`,
    });
    expect(await attempt(registry, 'x')).toMatchObject({ failure: { message: 'no' } });
    expect(await attempt(registry, 'x')).toMatchObject({ result: 2 });
  });
});

describe('a CommonJS plugin of the present contract', () => {
  it.each([
    ['async', 'module.exports = async (context) => context.params.a;'],
    ['destructuring', 'module.exports = ({ params }) => params.a;'],
    [
      'destructuring in a function',
      'module.exports = function ({ log, params }) { return params.a; };',
    ],
    [
      'marked by its metadata',
      'module.exports = (c) => c.params.a; module.exports.description = "x";',
    ],
    [
      'transpiled',
      'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = (c) => c.params.a;',
    ],
    ['plain and synchronous', 'module.exports = (context) => context.params.a;'],
  ])('is recognised: %s', async (_title, text) => {
    const { outcome } = await runText(text, { a: 'new' });
    expect(outcome).toMatchObject({ kind: 'done', result: 'new' });
  });
});
