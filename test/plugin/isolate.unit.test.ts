import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { attempt, folderWith, pluginsOf, type AttemptOptions } from './attempt.js';

/**
 * Runs one plugin `x`, isolated so, with this function as its default export. The other side is
 * started from the last build: `npm test` makes one.
 */
async function call(
  isolate: string,
  body: string,
  options: AttemptOptions & { extra?: string } = {},
) {
  const { extra = '', ...rest } = options;
  const { registry } = await pluginsOf({
    'x.mjs': `export const isolate = '${isolate}';\n${extra}\nexport default ${body};`,
  });
  return attempt(registry, 'x', { ...rest.params }, rest);
}

describe.each(['thread', 'process'])('a plugin in a %s of its own', (isolate) => {
  it('has the whole context', async () => {
    const body = `({ params, job, step, results, log, heartbeat, progress, lastDetails, secret, key, render, exit, cwd }) => {
      log('a line', { n: 1 }); heartbeat({ at: 1 }); progress(0.5); exit(7);
      return [params.a, job._id, step.name, results.r, key, cwd, secret('pass'), render('{{item}} {{params.a}}'), lastDetails];
    }`;
    const outcome = await call(isolate, body, {
      params: { a: 1, pass: 'hunter22' },
      results: { r: 2 },
      item: 'i',
      cwd: '/project',
      lastDetails: { page: 3 },
    });
    expect(outcome).toMatchObject({
      kind: 'done',
      result: [1, 'job-1', 's', 2, 'job-1/s/0', '/project', '[secret]', 'i 1', { page: 3 }],
      exit: 7,
      said: [{ message: 'a line', data: { n: 1 } }],
      heartbeats: [{ at: 1 }],
      progressed: [0.5],
    });
  });

  it('fails when it sets an exit that is none', async () => {
    expect(await call(isolate, '({ exit }) => exit(1.5)')).toMatchObject({
      kind: 'failed',
      failure: { name: 'ExitInvalid' },
    });
  });

  it('may wait, begin again or have the job begin anew', async () => {
    const body = '({ wait, params }) => wait("go", { timeout: 5, details: params })';
    const given = { params: { pass: 'hunter22' }, clear: ['hunter22'] };
    expect(await call(isolate, body, given)).toMatchObject({
      kind: 'wait',
      signal: 'go',
      timeoutMs: 5,
      details: { pass: '[secret]' },
    });
    expect(await call(isolate, '({ requeue }) => { throw requeue(); }')).toMatchObject({
      kind: 'requeue',
    });
  });

  it('learns from a heartbeat that it is to end', async () => {
    const aborting = new AbortController();
    const log = () => aborting.abort(new DOMException('enough', 'AbortError'));
    const body = `async ({ log, heartbeat }) => {
      heartbeat(); log('working');
      for (;;) { heartbeat(); await new Promise((r) => setTimeout(r, 5)); }
    }`;
    expect(await call(isolate, body, { signal: aborting.signal, log })).toMatchObject({
      failure: { name: 'AbortError', message: 'enough' },
    });
  });

  // Shows C-12.
  it('runs elsewhere, with init, and without the credentials of the engine', async () => {
    process.env.COUCH_PASS = 'of the engine';
    const body = `() => ({ pid: process.pid, main: isMainThread, ready, pass: process.env.COUCH_PASS ?? null })`;
    const extra = `import { isMainThread } from 'node:worker_threads'; let ready = false; export const init = () => { ready = true; };`;
    const outcome = await call(isolate, body, { extra });
    delete process.env.COUCH_PASS;
    const result = outcome.kind === 'done' ? (outcome.result as Record<string, unknown>) : {};
    expect(result).toMatchObject({ ready: true, pass: null });
    expect(result.main === false || result.pid !== process.pid).toBe(true);
  });

  it('fails like any other', async () => {
    const body =
      '() => { throw Object.assign(new TypeError("no"), { code: 7, kind: "business", retryable: false, retryAfter: 5 }); }';
    expect(await call(isolate, body)).toMatchObject({
      kind: 'failed',
      failure: { name: 'TypeError', message: 'no', code: 7, kind: 'business' },
      retryable: false,
      retryAfterMs: 5,
    });
    expect(await call(isolate, '() => () => 1')).toMatchObject({
      failure: { name: 'ResultNotJson' },
    });
  });

  it.each([
    [
      'throws',
      'setTimeout(() => { throw Object.assign(new TypeError("late"), { code: 7 }); }, 10)',
    ],
    [
      'leaves a rejected promise behind',
      'void Promise.reject(Object.assign(new TypeError("late"), { code: 7 }))',
    ],
  ])('fails when it %s outside its promise', async (_title, how) => {
    expect(await call(isolate, `() => new Promise(() => { ${how}; })`)).toMatchObject({
      kind: 'failed',
      failure: {
        name: 'UncaughtInPlugin',
        message: 'Plugin x threw where nobody could catch it: TypeError: late',
        code: 7,
      },
    });
  });

  it('takes only its own attempt along when it needs too much memory', async () => {
    const body = '() => { const all = []; for (;;) all.push(Array(10_000).fill(Math.random())); }';
    const outcome = await call(isolate, body, { extra: 'export const memory = 32;' });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { name: 'IsolateLost' } });
    expect(outcome.kind === 'failed' && outcome.failure.message).toContain('more than 32 MB');
  });

  it('takes only its own attempt along when it ends everything', async () => {
    expect(await call(isolate, '() => process.exit(9)')).toMatchObject({
      kind: 'failed',
      failure: { name: 'IsolateLost' },
    });
  });

  it('is asked to end by the signal', async () => {
    const body = `({ signal, log }) => new Promise((_, no) => {
      signal.addEventListener('abort', () => no(new Error('cleaned up'))); log('waiting'); })`;
    const aborting = new AbortController();
    const log = () => aborting.abort();
    expect(await call(isolate, body, { signal: aborting.signal, log })).toMatchObject({
      failure: { message: 'cleaned up' },
    });
  });

  it('is ended by force when it does not listen', async () => {
    const aborting = new AbortController();
    const log = () => void setTimeout(() => aborting.abort(), 100);
    const body = `({ log }) => { log('busy'); for (;;); }`;
    expect(await call(isolate, body, { signal: aborting.signal, log })).toMatchObject({
      kind: 'failed',
      failure: { name: 'IsolateLost' },
    });
  });

  it('verifies there, too', async () => {
    const extra = 'export const verify = ({ params }) => params.answer;';
    const params = { answer: { done: 'earlier' } };
    expect(await call(isolate, '() => "now"', { extra, params, verify: true })).toMatchObject({
      result: 'earlier',
    });
  });
});

it('in a thread learns from a heartbeat that it is to end, even when it never rests', async () => {
  const aborting = new AbortController();
  const log = () => aborting.abort();
  const body = `({ log, heartbeat }) => { log('busy'); for (;;) heartbeat(); }`;
  expect(await call('thread', body, { signal: aborting.signal, log })).toMatchObject({
    failure: { name: 'AbortError' },
  });
});

describe('the thread of a plugin', () => {
  const plugin = (body: string): Record<string, string> => ({
    'x.mjs': `import { threadId } from 'node:worker_threads';
      export const isolate = 'thread';
      let inits = 0;
      let calls = 0;
      export const init = () => { inits += 1; };
      const tell = () => { calls += 1; return { threadId, inits, calls }; };
      export default ${body};`,
  });
  const resultsOf = async (body: string, params: readonly Record<string, unknown>[]) => {
    const { registry } = await pluginsOf(plugin(body));
    const results: unknown[] = [];
    for (const each of params) {
      const outcome = await attempt(registry, 'x', each);
      results.push('result' in outcome ? outcome.result : outcome.kind);
    }
    return results as readonly Record<string, number>[];
  };

  it('is used again after a call that left nothing behind, with one init', async () => {
    const body = `async ({ params }) => {
      await new Promise((done) => setTimeout(done, 1));
      if (params.fail) throw new Error('no');
      return tell();
    }`;
    const [first, failed, last] = await resultsOf(body, [{}, { fail: true }, {}]);
    expect(failed).toBe('failed');
    expect(last).toEqual({ threadId: first?.['threadId'], inits: 1, calls: 2 });
  });

  it.each([
    ['a timer that goes on', 'setInterval(() => { calls += 100; }, 1)'],
    ['a promise that is rejected', 'Promise.reject(new Error("late"))'],
  ])('is not used again after a call that left %s', async (_title, leave) => {
    const body = `async ({ params }) => {
      if (params.leave) ${leave};
      return tell();
    }`;
    const [first, second] = await resultsOf(body, [{ leave: true }, {}]);
    expect(second).toMatchObject({ inits: 1, calls: 1 });
    expect(second?.['threadId']).not.toBe(first?.['threadId']);
  });

  it('is not used again after it could not import the module', async () => {
    const folder = folderWith();
    const { registry } = await pluginsOf({
      'x.mjs': `import { existsSync } from 'node:fs';
        import { isMainThread } from 'node:worker_threads';
        if (!isMainThread && !existsSync('${folder}/here')) throw new Error('not yet');
        export const isolate = 'thread';
        export default () => 1;`,
    });
    expect(await attempt(registry, 'x')).toMatchObject({ failure: { message: 'not yet' } });
    writeFileSync(`${folder}/here`, '');
    expect(await attempt(registry, 'x')).toMatchObject({ result: 1 });
  });

  it.each([
    ['throws', 'throw new Error("late")'],
    ['rejects', 'Promise.reject(new Error("late"))'],
  ])(
    'lets no call fail for what an earlier one %s late, and takes no third',
    async (_title, throwing) => {
      const [first, second, third] = await resultsOf(
        `({ params }) => {
        if (params.late === 'thrown') setTimeout(() => { globalThis.thrown = true; ${throwing}; }, 30).unref();
        if (params.late !== undefined) return tell();
        return new Promise((done) => {
          const timer = setInterval(() => {
            if (!globalThis.thrown && calls < 2) return;
            clearInterval(timer);
            setTimeout(() => done(tell()), 20);
          }, 5);
        });
      }`,
        [{ late: 'thrown' }, {}, { late: 'no' }],
      );
      expect(second).toEqual({ threadId: first?.['threadId'], inits: 1, calls: 2 });
      expect(third).toMatchObject({ inits: 1, calls: 1 });
    },
  );

  it('goes on between two calls, and with it what its module keeps open', async () => {
    let ticks = 0;
    const channel = new BroadcastChannel('tws-test-ticks');
    onTestFinished(() => channel.close());
    channel.addEventListener('message', () => (ticks += 1));
    const { registry } = await pluginsOf({
      'x.mjs': `export const isolate = 'thread';
        export const init = () => {
          const channel = new BroadcastChannel('tws-test-ticks');
          setInterval(() => channel.postMessage(1), 5);
        };
        export default () => 1;`,
    });
    expect(await attempt(registry, 'x')).toMatchObject({ result: 1 });
    const before = ticks;
    await expect.poll(() => ticks).toBeGreaterThan(before + 20);
  });

  it('keeps no process from ending when it has nothing to do', async () => {
    const ports = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
    const before = ports();
    const { registry } = await pluginsOf(plugin('tell'));
    await Promise.all([1, 2, 3].map(() => attempt(registry, 'x')));
    // The threads are still there: they end after 30 s.
    await expect.poll(ports).toBeLessThanOrEqual(before);
  });

  it('is a fresh one after its module threw between two calls', async () => {
    const { registry } = await pluginsOf({
      'x.mjs': `import { threadId } from 'node:worker_threads';
        export const isolate = 'thread';
        let last = Infinity;
        export const init = () => {
          setInterval(() => { if (Date.now() - last > 50) throw new Error('lost'); }, 5);
        };
        export default () => { last = Date.now(); return threadId; };`,
    });
    const threadOf = async (): Promise<unknown> => {
      const outcome = await attempt(registry, 'x');
      return outcome.kind === 'done' ? outcome.result : undefined;
    };
    const known = new Set<unknown>([undefined]);
    const isFresh = async (): Promise<boolean> => {
      const thread = await threadOf();
      const isNew = !known.has(thread) && known.size > 1;
      known.add(thread);
      return isNew;
    };
    await expect.poll(isFresh, { interval: 200 }).toBe(true);
  });

  it('fails the call that runs when its module throws what nobody catches', async () => {
    const { registry } = await pluginsOf({
      'x.mjs': `export const isolate = 'thread';
        let go;
        export const init = () => { setInterval(() => { if (go) throw new Error('lost'); }, 5); };
        export default () => { go = true; return new Promise(() => {}); };`,
    });
    expect(await attempt(registry, 'x')).toMatchObject({
      failure: { name: 'UncaughtInPlugin', message: expect.stringContaining('lost') as string },
    });
  });

  it.each([
    ['throws', 'throw new Error("no start")', 'its thread could not be started (no start).'],
    ['exits', 'process.exit(0)', 'its thread could not be started.'],
  ])('fails every call that waits for it when it %s at its start', async (_title, how, message) => {
    const folder = folderWith({
      'first.cjs': `if (!require('node:worker_threads').isMainThread) ${how};`,
    });
    const { registry } = await pluginsOf(plugin('() => 1'));
    vi.stubEnv('NODE_OPTIONS', `--require ${folder}/first.cjs`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const calls = await Promise.all([1, 2, 3].map(() => attempt(registry, 'x')));
    for (const outcome of calls) {
      expect(outcome).toMatchObject({ failure: { name: 'IsolateLost' } });
      expect(outcome.kind === 'failed' && outcome.failure.message).toContain(message);
    }
  });

  it('is one for each of the calls that run at the same time', async () => {
    const { registry } = await pluginsOf(
      plugin(`({ log, heartbeat, signal, done }) => new Promise((resolve) => {
        log('here');
        const timer = setInterval(() => {
          if (signal.aborted) { clearInterval(timer); resolve(done(threadId)); }
        }, 5);
      })`),
    );
    const aborting = new AbortController();
    let here = 0;
    const log = (): void => {
      here += 1;
      if (here === 12) aborting.abort();
    };
    const options = { signal: aborting.signal, log };
    const calls = Array.from({ length: 12 }, () => attempt(registry, 'x', {}, options));
    const threads = (await Promise.all(calls)).map((outcome) =>
      outcome.kind === 'done' ? outcome.result : outcome,
    );
    expect(new Set(threads).size).toBe(12);
  });
});
