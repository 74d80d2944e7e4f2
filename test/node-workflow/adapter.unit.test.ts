import { describe, expect, it } from 'vitest';
import {
  fallbackFromNodeWorkflow,
  fromNodeWorkflow,
  functionOf,
  info,
  type WorkflowBody,
  type WorkflowFallback,
} from '../../src/node-workflow/index.js';
import { createTestContext, runTestAttempt, type TestAttempt } from '../../src/testing/index.js';

const job = {
  ...{ _id: 'j1', flow: 'Move', start: 1_000, restarts: 2, target: '/a', first_run: 1 },
  params: { from: 'x', to: 'y' },
  data: { seen: 1, gone: true },
  flow_definition: { node_workflow: { initial_delay: 100, max_delay: 300, max_attempts: 4 } },
};
const steps = [{ path: '0', name: 'one', run: 1, state: '$$complete', result: 7 }];

const attempt = (body: WorkflowBody, given: TestAttempt = {}) =>
  runTestAttempt({ default: fromNodeWorkflow(body) }, { job: { ...job, steps }, ...given });

describe('the body of a task', () => {
  const ends: readonly [string, WorkflowBody, object, object][] = [
    ['without anything', (_, cb) => cb(), { kind: 'done', result: 'OK' }, {}],
    ['with a result', (_, cb) => cb(null, { n: 1 }), { kind: 'done', result: { n: 1 } }, {}],
    ['twice', (_, cb) => (cb(null, 1), cb('no')), { kind: 'done', result: 1 }, {}],
    [
      'with a text',
      (_, cb) => cb('no'),
      { kind: 'failed', failure: { name: 'WorkflowError', message: 'no' } },
      {},
    ],
    [
      'with an error',
      (_, cb) => cb(Object.assign(new TypeError('no'), { restCode: 'Gone', statusCode: 410 })),
      { kind: 'failed', failure: { name: 'TypeError', message: 'no', code: 'Gone' } },
      {},
    ],
    [
      'with something else',
      (_, cb) => cb({ statusCode: 500 }),
      { kind: 'failed', failure: { name: 'Error', message: '{"statusCode":500}', code: 500 } },
      {},
    ],
    ['with wait', (_, cb) => cb('wait'), { kind: 'wait', signal: 'resume' }, {}],
    ['with queue', (_, cb) => cb('queue', 'later'), { kind: 'done', result: 'later' }, {}],
    [
      'with retry',
      (own, cb) => ((own['seen'] = 2), cb('retry')),
      { kind: 'restart', delayMs: 300 },
      { seen: null, gone: null },
    ],
    ['that throws', () => raise('no'), { kind: 'failed', failure: { message: 'no' } }, {}],
    ['that is asynchronous', async (_, cb) => cb(null, 2), { kind: 'done', result: 2 }, {}],
    ['that takes no callback', async (_) => 3, { kind: 'done', result: 3 }, {}],
    [
      'that rejects',
      async (own, _cb) => ((own['seen'] = 2), raise('no')),
      { kind: 'failed', failure: { message: 'no' } },
      { seen: 2 },
    ],
    [
      'that changes the job',
      (own, cb) => {
        own['seen'] = { at: new Date(0) };
        delete own['gone'];
        own['call'] = () => 1;
        own['name'] = 'other';
        own.params['to'] = 'z';
        cb('no');
      },
      { kind: 'failed' },
      {
        seen: { at: '1970-01-01T00:00:00.000Z' },
        gone: null,
        params: { from: 'x', to: 'z' },
      },
    ],
    [
      'that keeps what is no JSON',
      (own, cb) => ((own['me'] = own), cb()),
      { kind: 'failed', failure: { name: 'JobUnfit' }, retryable: false },
      {},
    ],
  ];
  // Shows X-57.
  it.each(ends)('ends %s', async (_, body, outcome, data) => {
    const ran = await attempt(body);
    expect(ran.outcome).toMatchObject(outcome);
    expect(ran.data).toEqual(data);
  });

  it('sees the job as node-workflow shows it', async () => {
    let seen: Record<string, unknown> = {};
    const body: WorkflowBody = (own, cb) => ((seen = own), cb());
    await attempt(body, { params: { to: 'own' } });
    expect(seen).toMatchObject({
      ...{ uuid: 'j1', name: 'Move', execution: 'running', target: '/a', num_attempts: 2 },
      ...{ max_attempts: 4, initial_delay: 100, exec_after: '1970-01-01T00:00:01.000Z', seen: 1 },
      params: { from: 'x', to: 'own' },
      chain_results: [{ name: 'one', result: 7, error: '' }],
      ...{ onerror_results: [], oncancel_results: [] },
    });
  });

  it('logs as bunyan does, and adds information', async () => {
    const ran = await attempt((own, cb) => {
      own.log.child({ part: 'x' }).warn({ n: 1 }, 'so %d', 2);
      own.log.fatal(new Error('no'));
      own.log.trace('plain');
      own.log.info({ n: 1 });
      info('halfway');
      cb();
    });
    info('outside of an attempt');
    expect(ran.logged).toEqual([
      { message: 'so 2', data: { n: 1, level: 'warn' } },
      { message: 'no', data: { name: 'Error', message: 'no', level: 'error' } },
      { message: 'plain', data: { level: 'debug' } },
      { message: 'info', data: { n: 1, level: 'info' } },
      { message: 'info', data: { info: 'halfway' } },
    ]);
  });

  it('keeps what it has changed when its time is over, and is told', async () => {
    const { context, data, stop } = createTestContext({ job });
    let own: Record<string, unknown> = {};
    const running = fromNodeWorkflow((given) => {
      own = given;
      given['seen'] = 3;
    })(context);
    void running.catch(() => undefined);
    stop('TimeoutError');
    expect([data, own['timeToDie']]).toEqual([{ seen: 3 }, true]);
    own['me'] = own;
    const other = createTestContext({ job });
    void fromNodeWorkflow((given) => (given['me'] = given))(other.context);
    other.stop();
    expect(other.data).toEqual({});
  });

  it('goes on later when it has put off the job', async () => {
    const step = { start: 1_000 };
    const later: WorkflowBody = (own, cb) => (
      (own['exec_after'] = new Date(61_000)),
      cb('queue', 5)
    );
    const first = await attempt(later, { step });
    expect(first.outcome).toEqual({ kind: 'requeue', delayMs: 60_000 });
    const again = await attempt(later, { attempt: 2, step, lastDetails: first.details[0] });
    expect(again.outcome).toEqual({ kind: 'done', result: 5 });
  });
});

describe('the fallback of a task', () => {
  const failure = { kind: null, step: 'a', exit: 2, attempt: 1 };
  const failures: readonly [
    string,
    { name: string; message: string; code: string | null },
    unknown,
  ][] = [
    ['a text', { name: 'WorkflowError', message: 'no', code: null }, 'no'],
    ['a timeout', { name: 'StepTimeout', message: 'late', code: null }, 'task timeout error'],
    [
      'an error',
      { name: 'Bad', message: 'no', code: 'E1' },
      Object.assign(new Error('no'), { name: 'Bad', code: 'E1' }),
    ],
    ['an error without a code', { name: 'Error', message: 'no', code: null }, new Error('no')],
  ];
  it.each(failures)('gets %s as the body gave it', async (_, given, error) => {
    let got: unknown;
    const fallback: WorkflowFallback = (err, own, cb) => ((got = err), (own['fixed'] = 1), cb());
    const plugin = { default: fallbackFromNodeWorkflow(fallback) };
    const ran = await runTestAttempt(plugin, { job, failure: { ...failure, ...given } });
    expect(ran.outcome).toEqual({ kind: 'done', result: 'OK' });
    expect(ran.data).toEqual({ fixed: 1 });
    expect(got).toEqual(error);
  });

  it('gets nothing where nothing has failed', async () => {
    const plugin = { default: fallbackFromNodeWorkflow((err, _, cb) => cb(err, 'none')) };
    expect((await runTestAttempt(plugin)).outcome).toEqual({ kind: 'done', result: 'none' });
  });
});

it('a function that its module does not export any more is named', async () => {
  const place = { workflow: 'A', chain: 'onerror', task: 1, part: 'body' } as const;
  const body = (): void => undefined;
  const exported = { name: 'A', chain: [], onError: [{}, { body }] };
  expect(await functionOf([exported], place)).toBe(body);
  await expect(functionOf([], place)).rejects.toThrow(
    'the body of task 2 in "onerror" of workflow "A"',
  );
});

function raise(message: string): never {
  throw new Error(message);
}
