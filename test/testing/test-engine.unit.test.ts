import { describe, expect, it, onTestFinished } from 'vitest';
import { createTestEngine, type TestEngineOptions } from '../../src/testing/index.js';
import { flow, job, task } from '../support/documents.js';

const day = 86_400_000;

/** Engines that end with the test. */
async function engineFor(options: TestEngineOptions) {
  const engine = await createTestEngine(options);
  onTestFinished(engine.close);
  return engine;
}

describe('a test engine', () => {
  // Shows X-45.
  it('runs a flow with a week of delays at once, by its own clock', async () => {
    const week = Array.from({ length: 7 }, () => ['a', { delay: day }]).flat();
    const engine = await engineFor({
      documents: [task('a'), flow('week', week)],
      plugins: { a: ({ step }) => step['start'] },
      from: '2026-03-28T12:00:00Z',
    });
    const id = await engine.submit(job('week'));
    const ended = await engine.expect(id, {
      status: 'succeeded',
      took: { from: 7 * day, to: 7 * day + 60_000 },
    });
    expect(new Date(Number(ended['start'])).toISOString()).toMatch(/^2026-03-28T12:00:0/);
    const days = (ended.steps ?? []).flatMap(({ name, result }) =>
      name === 'a' ? new Date(Number(result)).getUTCDate() : [],
    );
    expect(days).toEqual([28, 29, 30, 31, 1, 2, 3]);
  });

  it('plays attempts in their order, and records the calls', async () => {
    const engine = await engineFor({
      documents: [
        task('charge', { plugin: 'pay', retry: { limit: 3, delay: 3_600_000 } }),
        flow('f', ['charge', { task: 'charge', name: 'again' }]),
      ],
      tasks: {
        charge: [{ fails: { name: 'Busy', code: 503 } }, { takes: 5_000, result: { id: 'ch_1' } }],
        again: { result: 2 },
      },
    });
    const id = await engine.submit(job('f', { params: { charge: { amount: 5 } } }));
    const ended = await engine.expect(id, {
      path: ['charge', 'again'],
      attempts: { charge: 2, again: 1 },
      results: { charge: { id: 'ch_1' } },
      took: { from: 3_605_000 },
    });
    expect(ended.steps?.[0]).toMatchObject({ failure: { name: 'Busy', code: 503 } });
    expect(engine.calls('pay').map(({ step, attempt }) => [step, attempt])).toEqual([
      ['charge', 1],
      ['charge', 2],
      ['again', 1],
    ]);
    expect(engine.calls()[0]?.params).toEqual({ amount: 5 });
  });

  it('has one item of a map fail by its path, before what stands in for its task', async () => {
    const map = { name: 'all', map: { over: [1, 2, 3], do: 'a', tolerate: 1 } };
    const engine = await engineFor({
      documents: [task('a'), flow('f', [map])],
      tasks: { a: { result: 'well' }, '0.map.1': { fails: { name: 'Odd' } } },
    });
    const id = await engine.submit(job('f'));
    await engine.expect(id, { status: 'succeeded', results: { all: ['well', null, 'well'] } });
    expect(engine.calls().map(({ path }) => path)).toEqual(['0.map.0', '0.map.1', '0.map.2']);
  });

  it('has attempts time out that sleep by its clock', async () => {
    const engine = await engineFor({
      documents: [task('slow', { timeout: 60_000 }), flow('f', ['slow'], { timeout: 0 })],
      plugins: { slow: (_context, { sleep }) => sleep(day) },
    });
    const id = await engine.submit(job('f'));
    await engine.expect(id, { exit: 1, failure: { name: 'StepTimeout' }, took: { from: 60_000 } });
  });

  it('sends signals and requests while jobs wait, and lets time pass', async () => {
    const engine = await engineFor({
      documents: [flow('f', [{ wait: { signal: 'approved', timeout: 3 * day } }])],
    });
    const [approved, late, cancelled] = await Promise.all(
      [1, 2, 3].map(() => engine.submit(job('f', {}))),
    );
    await engine.pass(day);
    await engine.signal(String(approved), 'approved', { by: 'ann' });
    await engine.request(String(cancelled), 'cancel', { by: 'bob', reason: 'no' });
    await engine.expect(String(approved), { exit: 0, took: { from: day, to: day + 10_000 } });
    await engine.expect(String(cancelled), { status: 'cancelled', exit: 130 });
    await engine.expect(String(late), { exit: 1, failure: { name: 'WaitTimeout' } });
    const kinds = (await engine.history(String(approved))).map(({ kind }) => kind);
    expect(kinds).toContain('SignalReceived');
  });

  it('has another engine take over from one that dies', async () => {
    const engine = await engineFor({
      documents: [task('long', { timeout: 0, retry: 1 }), flow('f', ['long'], { timeout: day })],
      plugins: { long: [{ takes: 3_600_000, result: 1 }, { result: 2 }] },
      engines: 2,
    });
    const id = await engine.submit(job('f'));
    const { steps = [] } = await engine.until(id, (one) => one.steps?.[0]?.state === '$$active');
    // Whichever of the two has it.
    await engine.kill(0);
    await engine.kill(0);
    expect(engine.running()).toBe(0);
    await engine.start();
    const ended = await engine.expect(id, { exit: 0, attempts: { long: 2 }, took: { to: 60_000 } });
    expect(ended.steps?.[0]).toMatchObject({ failure: { name: 'EngineLost' } });
    expect(ended.steps?.[1]?.['engine']).not.toBe(steps[0]?.['engine']);
  });

  it('tells every difference, readably', async () => {
    const engine = await engineFor({
      documents: [task('a'), task('b'), flow('f', ['a', 'b'])],
      plugins: { a: { result: { total: 10, list: [1] } }, b: { fails: { message: 'No.' } } },
    });
    const id = await engine.submit({ ...job('f'), _id: 'job-1' });
    const expected = {
      ...({ path: ['a', 'c'], status: 'succeeded', exit: 0, attempts: { b: 2 } } as const),
      ...{ results: { a: { total: 12, list: [1] } }, failure: { name: 'Bad' } },
      took: { from: day },
    };
    const told = await engine.expect(id, expected).catch((error: unknown) => error as Error);
    expect((told as Error).message.replace(/was \d+ ms/, 'was N ms')).toBe(
      [
        'Job "job-1" is not as expected:',
        '  path: expected a → c',
        '        but ran  a → b',
        '        step 2: expected c, was b',
        '  status: expected "succeeded", was "failed"',
        '  exit: expected 0, was 2',
        '  failure.name: expected "Bad", was "Error"',
        '  results.a.total: expected 12, was 10',
        '  attempts.b: expected 2, was 1',
        `  took: expected at least ${day} ms, was N ms`,
      ].join('\n'),
    );
  });

  it('says what a job waits for when nothing happens any more', async () => {
    const engine = await engineFor({
      documents: [flow('f', [{ wait: { signal: 'go' } }], { timeout: 0 })],
    });
    const id = await engine.submit({ ...job('f'), _id: 'job-1' });
    await expect(engine.ended(id)).rejects.toThrow(
      'Nothing happens any more. Job "job-1" is not final (state "wait-0"): step "wait" waits for signal "go".',
    );
    await expect(engine.ended('job-2')).rejects.toThrow('There is no job "job-2".');
  });

  it('runs real plugins, but for those that a test does not allow', async () => {
    const documents = [
      task('greet', {
        plugin: 'templater',
        params: { template: 'Hello {{params.name}}', name: 'Ada' },
      }),
      task('hook', { plugin: 'webhook', params: { url: 'http://127.0.0.1:9/' } }),
      flow('f', ['greet', 'hook']),
    ];
    const engine = await engineFor({ documents, mayRun: (plugin) => plugin === 'templater' });
    await engine.expect(await engine.submit(job('f')), {
      path: ['greet', 'hook'],
      failure: {
        name: 'NotMocked',
        message: 'Task "hook" has no mock, and a test runs plugin "webhook" only where it says so',
      },
    });
  });

  it('starts the jobs of schedules in their time', async () => {
    const engine = await engineFor({
      documents: [
        task('a'),
        flow('f', ['a']),
        {
          type: 'schedule',
          name: 'daily',
          owner: 'me',
          flow: 'f',
          cron: '0 6 * * *',
          timezone: 'UTC',
        },
      ],
      plugins: { a: { result: 1 } },
    });
    await engine.pass(3 * day);
    expect(engine.calls('a')).toHaveLength(3);
  });
});
