import { describe, expect, it } from 'vitest';
import { attempt, pluginsOf, type AttemptOptions } from './attempt.js';
import { NoThreadError } from '../../src/plugin/calculations.js';
import { checkParams } from '../../src/plugin/params.js';
import { toFailed } from '../../src/plugin/outcome.js';

/** Runs one ES module plugin `x` with this function as its default export. */
async function call(body: string, options: AttemptOptions & { extra?: string } = {}) {
  const { extra = '', ...rest } = options;
  const { registry } = await pluginsOf({ 'x.mjs': `${extra}\nexport default ${body};` });
  return attempt(registry, 'x', { ...rest.params }, rest);
}

const place: unknown = expect.stringMatching(/^[^/].*:\d+$/);

describe('the outcome of a call', () => {
  it.each([
    ['a value', '() => ({ a: [1, "b", null, true] })', { a: [1, 'b', null, true] }],
    ['a promise', 'async () => "later"', 'later'],
    ['nothing', '() => {}', null],
    ['absent keys', '() => ({ a: undefined, b: [undefined] })', { b: [null] }],
    ['a date', '() => new Date(0)', '1970-01-01T00:00:00.000Z'],
    [
      'an error as a value',
      '() => ({ e: new TypeError("x") })',
      { e: { name: 'TypeError', message: 'x' } },
    ],
    ['numbers that JSON has not', '() => [NaN, Infinity]', [null, null]],
    [
      '1,000 levels',
      '() => { let a = []; for (let i = 0; i < 999; i++) a = [a]; return a; }',
      JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`) as unknown,
    ],
    ['the same object twice', '() => { const a = {}; return [a, a]; }', [{}, {}]],
  ])('is the result: %s', async (_title, body, result) => {
    expect(await call(body)).toMatchObject({ kind: 'done', result });
  });

  it.each([
    ['() => () => 1', 'it is a function'],
    ['() => ({ a: { b: 1n } })', 'a.b is a bigint'],
    ['() => ({ list: [Symbol("x")] })', 'list[0] is a symbol'],
    ['() => { const a = { b: {} }; a.b.a = a; return a; }', 'b.a is a circle'],
    ['() => ({ m: new Map() })', 'm is a Map'],
    ['() => { let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; return a; }', 'nested deeper'],
    ['() => { let a = []; for (let i = 0; i < 1000; i++) a = [a]; return a; }', 'nested deeper'],
  ])('is a failure for what JSON cannot hold: %s', async (body, what) => {
    const outcome = await call(body);
    expect(outcome).toMatchObject({ kind: 'failed', retryable: false });
    expect(outcome.kind === 'failed' && outcome.failure).toMatchObject({ name: 'ResultNotJson' });
    expect(outcome.kind === 'failed' && outcome.failure.message).toContain(what);
  });

  // Shows C-07.
  it.each([
    ['thrown', '() => { throw new RangeError("no"); }'],
    ['rejected', 'async () => { throw new RangeError("no"); }'],
    [
      'rejected later',
      '() => new Promise((_, no) => setImmediate(() => no(new RangeError("no"))))',
    ],
    ['no Error', '() => { throw { name: "RangeError", message: "no" }; }'],
  ])('is the same failure however it came: %s', async (_title, body) => {
    expect(await call(body)).toMatchObject({
      kind: 'failed',
      failure: { name: 'RangeError', message: 'no' },
    });
  });

  it.each([
    ['a text', '"just words"', 'just words'],
    ['undefined', 'undefined', 'It threw undefined instead of an error.'],
    ['an object', '{ a: 1 }', 'It threw {"a":1} instead of an error.'],
    ['an empty error', 'new Error("")', 'The error has no message.'],
    ['a trap', 'new Proxy({}, { get() { throw 1; } })', 'It threw'],
  ])('has a message even for %s', async (_title, thrown, message) => {
    const outcome = await call(`() => { throw ${thrown}; }`);
    expect(outcome).toMatchObject({ kind: 'failed', failure: { name: 'Error' } });
    expect(outcome.kind === 'failed' && outcome.failure.message).toContain(message);
  });

  it('tells code, retryable, retryAfter and exit of an error', async () => {
    const error =
      'Object.assign(new Error("x"), { code: "E1", retryable: true, retryAfter: 1500, exit: 9 })';
    expect(await call(`() => { throw ${error}; }`)).toMatchObject({
      kind: 'failed',
      failure: { name: 'Error', message: 'x', code: 'E1' },
      retryable: true,
      retryAfterMs: 1500,
      exit: 9,
    });
  });

  // Shows E-10.
  it.each([
    ['a Date', 'new Date(Date.now() + 60_000)', 60_000],
    ['ISO 8601', 'new Date(Date.now() + 60_000).toISOString()', 60_000],
    ['ISO 8601 of long ago', '"2020-01-01T00:00:00+02:00"', 0],
    ['ms', '60_000.4', 60_000],
  ])('takes %s for the time of the next attempt', async (_title, retryAfter, ms) => {
    const outcome = await call(
      `() => { throw Object.assign(new Error("x"), { retryAfter: ${retryAfter} }); }`,
    );
    const told = outcome.kind === 'failed' ? Number(outcome.retryAfterMs) : NaN;
    expect(told).toBeLessThanOrEqual(ms);
    expect(told).toBeGreaterThan(ms - 5_000);
  });

  it.each(['"tomorrow"', 'new Date("x")', '"2030-01-01"', 'NaN', '{}'])(
    'does not take %s for one',
    async (retryAfter) => {
      const outcome = await call(
        `() => { throw Object.assign(new Error("x"), { retryAfter: ${retryAfter} }); }`,
      );
      expect(outcome).not.toHaveProperty('retryAfterMs');
    },
  );

  // Shows D-09.
  it('tells whose failure it is', async () => {
    const body = (kind: string) =>
      `() => { throw Object.assign(new Error("x"), { kind: ${kind} }); }`;
    expect(await call(body('"business"'))).toMatchObject({ failure: { kind: 'business' } });
    const other = await call(body('"mine"'));
    expect(other.kind === 'failed' && other.failure).toEqual({
      name: 'Error',
      message: 'x',
      at: place,
    });
  });

  it('ignores such properties when they make no sense', async () => {
    const error =
      'Object.assign(new Error("x"), { code: {}, retryable: "no", retryAfter: -1, exit: 1e6 })';
    const {
      said: _said,
      heartbeats: _beats,
      progressed: _progressed,
      ...outcome
    } = await call(`() => { throw ${error}; }`);
    const failure = { name: 'Error', message: 'x', at: place };
    expect(outcome).toEqual({ kind: 'failed', failure });
  });

  it('carries the exit that the plugin set, done or failed', async () => {
    expect(await call('({ exit }) => { exit(7); }')).toMatchObject({ kind: 'done', exit: 7 });
    expect(await call('({ exit }) => { exit(7); throw new Error("x"); }')).toMatchObject({
      kind: 'failed',
      exit: 7,
    });
    expect(await call('({ exit }) => exit(1.5)')).toMatchObject({
      kind: 'failed',
      failure: { name: 'ExitInvalid' },
    });
  });

  it('shows no secret: not in failures, results, log lines or heartbeats', async () => {
    const clear = ['hunter22'];
    const params = { pass: 'hunter22' };
    const failed = await call('({ params }) => { throw new Error(`no: ${params.pass}`); }', {
      params,
      clear,
    });
    expect(failed).toMatchObject({ failure: { message: 'no: [secret]' } });
    const done = await call(
      '({ params, log, heartbeat }) => { log(params.pass, params); heartbeat(params); return params; }',
      { params, clear },
    );
    expect(done).toMatchObject({ result: { pass: '[secret]' } });
    expect(JSON.stringify(done)).not.toContain('hunter22');
  });
});

describe('the context', () => {
  // Shows A-07, B-12.
  it('gives frozen copies of job, step and results', async () => {
    for (const change of ['job.x = 1', 'step.x = 1', 'results.a.b = 1']) {
      const outcome = await call(`({ job, step, results }) => { ${change}; }`, {
        results: { a: {} },
      });
      expect(outcome).toMatchObject({ kind: 'failed', failure: { name: 'TypeError' } });
    }
  });

  it('renders templates with the names of the step', async () => {
    const outcome = await call(
      `({ render }) => [
         render('{{job._id}} {{step.name}} {{params.a}} {{results.x}} {{parent_results.[0]}} {{item}}'),
         render('{{params.h}} {{own}}', { html: true, data: { own: '"' } }),
         render('{{params.h}}'),
       ]`,
      { params: { a: 1, h: '<b>' }, results: { x: 'r' }, parentResults: { 0: 'p' }, item: 'i' },
    );
    expect(outcome).toMatchObject({ result: ['job-1 s 1 r p i', '&lt;b&gt; &quot;', '<b>'] });
  });

  it('fails with exit 3 where a template names what is missing', async () => {
    expect(await call(`({ render }) => render('Dear {{params.nobody}}')`)).toMatchObject({
      kind: 'failed',
      exit: 3,
      retryable: false,
      failure: {
        name: 'TemplateError',
        message: 'The template "Dear {{params.nobody}}" cannot be filled in: there is no "nobody".',
      },
    });
  });

  it('gives a secret by its path, and hides it even when it was written in clear', async () => {
    const params = { smtp: { auth: { pass: 'hunter22' } } };
    const outcome = await call('({ secret }) => { throw new Error(secret("smtp.auth.pass")); }', {
      params,
    });
    expect(outcome).toMatchObject({ failure: { message: '[secret]' } });
    expect(await call('({ secret }) => secret("smtp.none.pass")')).toMatchObject({
      failure: {
        name: 'SecretMissing',
        message: 'The parameter smtp.none.pass, a secret, is missing or no text.',
      },
    });
  });

  it('hands on the signal', async () => {
    const aborting = new AbortController();
    const outcome = call(
      `({ signal, log }) => new Promise((_, no) => {
         signal.addEventListener('abort', () => no(signal.reason)); log('waiting'); })`,
      { signal: aborting.signal, log: () => aborting.abort(new Error('too late')) },
    );
    expect(await outcome).toMatchObject({ kind: 'failed', failure: { message: 'too late' } });
  });
});

describe('a detour', () => {
  const cases: readonly [string, object][] = [
    ['wait("go")', { kind: 'wait', signal: 'go' }],
    [
      'wait("go", { timeout: 5, details: { pass: params.pass } })',
      { kind: 'wait', signal: 'go', timeoutMs: 5, details: { pass: '[secret]' } },
    ],
    ['requeue()', { kind: 'requeue', delayMs: 0 }],
    ['requeue({ delay: 1.4 })', { kind: 'requeue', delayMs: 1 }],
    ['restartJob()', { kind: 'restart', delayMs: 0 }],
    ['restartJob({ delay: 70 })', { kind: 'restart', delayMs: 70 }],
  ];
  const given = { params: { pass: 'hunter22' }, clear: ['hunter22'] };

  it.each(cases)('ends the attempt, returned or thrown: %s', async (made, outcome) => {
    const names = '{ wait, requeue, restartJob, exit, params }';
    for (const body of [
      `(${names}) => ${made}`,
      `async (${names}) => { exit(7); throw ${made}; }`,
    ]) {
      const {
        said: _said,
        heartbeats: _beats,
        progressed: _progressed,
        ...ended
      } = await call(body, given);
      expect(ended).toEqual(outcome);
    }
  });

  it.each([
    ['wait("")', 'context.wait() cannot be used like that: the signal must be a name, not empty.'],
    ['wait()', 'context.wait() cannot be used like that: the signal must be a name (a string).'],
    [
      'wait("go", { timeout: "1 s" })',
      'context.wait() cannot be used like that: timeout must be milliseconds, from 0 to 31536000000.',
    ],
    [
      'requeue({ delay: -1 })',
      'context.requeue() cannot be used like that: delay must be milliseconds, from 0 to 31536000000.',
    ],
    [
      'wait(`paid-${params.pass}`)',
      'context.wait() cannot be used like that: the signal must not have a secret in its name.',
    ],
  ])('that makes no sense is a failure: %s', async (made, message) => {
    expect(await call(`({ wait, requeue, params }) => ${made}`, given)).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name: 'DetourInvalid', message },
    });
  });
});

describe('what a plugin tells on the way', () => {
  it('is shortened after its secrets are hidden', async () => {
    const code = `export default ({ progress }) => {
      progress('.'.repeat(190) + 'tok-SECRET-abcdef');
      progress(12345678);
      progress(0.5);
    };`;
    const { registry } = await pluginsOf({ 'say.mjs': code });
    const clear = ['tok-SECRET-abcdef', '12345678'];
    const { progressed } = await attempt(registry, 'say', {}, { clear });
    expect(progressed).toEqual([`${'.'.repeat(190)}[secret]`, '[secret]', 0.5]);
  });

  it('is heard without secrets: heartbeats, progress and log lines', async () => {
    const body = `({ heartbeat, progress, log, params, lastDetails }) => {
      heartbeat(); heartbeat({ at: new Date(0), pass: params.pass });
      progress(0.5); progress('half ' + params.pass); progress({ a: 1 }); progress('x'.repeat(300));
      log('a ' + params.pass, { pass: params.pass }); log({ a: 1 }); log('b', { f() {} });
      return lastDetails;
    }`;
    const outcome = await call(body, {
      params: { pass: 'hunter22' },
      clear: ['hunter22'],
      lastDetails: { n: 7 },
    });
    expect(outcome).toMatchObject({
      result: { n: 7 },
      heartbeats: [undefined, { at: '1970-01-01T00:00:00.000Z', pass: '[secret]' }],
      progressed: [0.5, 'half [secret]', '{"a":1}', `${'x'.repeat(200)}…`],
      said: [
        { message: 'a [secret]', data: { pass: '[secret]' } },
        { message: '{"a":1}' },
        { message: 'b' },
      ],
    });
  });

  it.each([
    ['{ f: () => 1 }', 'f is a function'],
    ['"x".repeat(20_000)', 'they are 20002 bytes long, and 16384 is the most'],
  ])('fails where details cannot be kept: %s', async (details, problem) => {
    expect(await call(`({ heartbeat }) => heartbeat(${details})`)).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: {
        name: 'DetailsInvalid',
        message: `The details of a heartbeat cannot be kept: ${problem}.`,
      },
    });
  });

  // Shows H-06.
  it('learns from a heartbeat that it is to end', async () => {
    const signal = AbortSignal.abort();
    expect(await call('({ heartbeat }) => heartbeat()')).toMatchObject({ result: null });
    expect(await call('({ heartbeat }) => heartbeat()', { signal })).toMatchObject({
      failure: { name: 'AbortError' },
    });
  });
});

describe('verify', () => {
  const extra = 'export const verify = ({ params }) => params.answer;';

  // Shows C-16.
  it('completes the step without a call', async () => {
    const params = { answer: { done: 'earlier' } };
    expect(await call('() => "now"', { extra, params, verify: true })).toMatchObject({
      kind: 'done',
      result: 'earlier',
    });
  });

  it('is not asked at the first attempt', async () => {
    const params = { answer: { done: 'earlier' } };
    expect(await call('() => "now"', { extra, params })).toMatchObject({ result: 'now' });
  });

  it('may know nothing', async () => {
    expect(await call('() => "now"', { extra, verify: true })).toMatchObject({ result: 'now' });
  });

  // Shows C-16.
  it.each<[unknown, object]>([
    [{ retry: 500 }, { kind: 'requeue', delayMs: 500 }],
    [
      { fail: 'The order is gone.' },
      {
        ...{ kind: 'failed', retryable: false },
        failure: { name: 'VerifyFailed', message: 'The order is gone.' },
      },
    ],
    [
      { fail: { name: 'Gone', message: 'No more.', code: 'E1' } },
      { kind: 'failed', failure: { name: 'Gone', message: 'No more.', code: 'E1' } },
    ],
  ])('may answer %j, and nothing is called', async (answer, outcome) => {
    const found = await call('() => "now"', { extra, params: { answer }, verify: true });
    expect(found).toMatchObject(outcome);
  });

  it('may answer with a detour', async () => {
    const asking = 'export const verify = ({ requeue }) => requeue({ delay: 9 });';
    const found = await call('() => "now"', { extra: asking, verify: true });
    expect(found).toMatchObject({ kind: 'requeue', delayMs: 9 });
  });

  it.each([['yes'], [{ retry: 'soon' }], [{ fail: 7 }], [{}]])(
    'must not answer %j',
    async (answer) => {
      const params = { answer };
      expect(await call('() => "now"', { extra, params, verify: true })).toMatchObject({
        kind: 'failed',
        failure: { name: 'VerifyInvalid' },
      });
    },
  );
});

describe('attach and detach', () => {
  const extra = [
    'const told = [];',
    'export const attach = ({ params }) => { told.push("attach"); if (params.shut) throw new Error("shut"); };',
    'export const detach = ({ params }) => { told.push("detach"); if (params.stuck) throw new Error("stuck"); };',
  ].join('\n');

  // Shows C-16.
  it('are called around each call, also one that fails', async () => {
    const run =
      '({ params }) => { told.push("run"); if (params.bad) throw new Error(told.join()); return told; }';
    const good = await call(run, { extra });
    expect(good).toMatchObject({ result: ['attach', 'run', 'detach'] });
    const bad = await call(run, { extra, params: { bad: true } });
    expect(bad).toMatchObject({ failure: { message: 'attach,run' } });
  });

  it('keep the plugin from being called where attach throws, and nothing else where detach does', async () => {
    const run = '() => "ran"';
    const shut = await call(run, { extra, params: { shut: true } });
    expect(shut).toMatchObject({ kind: 'failed', failure: { message: 'shut' } });
    const stuck = await call(run, { extra, params: { stuck: true } });
    expect(stuck).toMatchObject({ kind: 'done', result: 'ran' });
  });
});

describe('the check of parameters', () => {
  const schema = {
    type: 'object',
    required: ['name'],
    additionalProperties: false,
    properties: {
      name: { type: 'string' },
      size: { enum: ['s', 'm'] },
      list: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
    },
  };
  const extra = `export const params = ${JSON.stringify(schema)};`;

  it.each([
    [{}, 'name is missing'],
    [{ name: 7 }, 'name must be string'],
    [{ name: 'a', size: 'xl' }, 'size must be one of ["s","m"]'],
    [{ name: 'a', list: [{ n: 'x' }] }, 'list[0].n must be integer'],
    [{ name: 'a', colour: 1 }, 'colour is not known'],
  ])('fails with exit 3 before the call: %j', async (params, problem) => {
    expect(await call('() => "called"', { extra, params })).toMatchObject({
      kind: 'failed',
      exit: 3,
      retryable: false,
      failure: {
        name: 'ParamsInvalid',
        message: `The parameters do not suit plugin x: ${problem}.`,
      },
    });
  });

  it('lets suitable ones pass', async () => {
    expect(await call('() => "called"', { extra, params: { name: 'a' } })).toMatchObject({
      result: 'called',
    });
  });

  it('knows schemas of 2020-12', async () => {
    const recent = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { pair: { prefixItems: [{ type: 'string' }] } },
    };
    const outcome = await call('() => 1', {
      extra: `export const params = ${JSON.stringify(recent)};`,
      params: { pair: [1] },
    });
    expect(outcome).toMatchObject({ failure: { name: 'ParamsInvalid' } });
  });

  it('are no mistake where no thread starts that checks them', async () => {
    const check = () =>
      Promise.reject(new NoThreadError('its thread could not be started: EAGAIN'));
    const error: unknown = await checkParams({ name: 'x', check }, {}).catch(
      (thrown: unknown) => thrown,
    );
    expect(toFailed(error)).toEqual({
      kind: 'failed',
      failure: {
        name: 'ParamsUnchecked',
        message:
          'The parameters of plugin x could not be checked: its thread could not be started: EAGAIN.',
      },
    });
  });

  it.each([
    ['{ pattern: "^(a+)+$" }', { pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`],
    ['{ uniqueItems: true }', { uniqueItems: true }, Array.from({ length: 60_000 }, (_, i) => [i])],
  ])('ends when it takes too long: %s', async (_, properties, value) => {
    const outcome = await call('() => "called"', {
      extra: `export const params = ${JSON.stringify({ properties: { value: properties } })};`,
      params: { value },
    });
    expect(outcome).toMatchObject({
      exit: 3,
      failure: {
        name: 'ParamsInvalid',
        message:
          'The parameters do not suit plugin x: params cannot be checked: it takes longer than 1000 ms.',
      },
    });
  });

  it('tells the same of many values as of few', async () => {
    const list = [...Array.from({ length: 2_000 }, (_, n) => ({ n })), { n: 'x' }];
    expect(await call('() => "called"', { extra, params: { name: 'a', list } })).toMatchObject({
      failure: { message: 'The parameters do not suit plugin x: list[2000].n must be integer.' },
    });
  });
});
