import { createRequire } from 'node:module';
import { expect, it, onTestFinished, vi } from 'vitest';
import { flow, job, task } from '../../support/documents.js';

/** From now on the system starts no thread; the function that is given back lets it start some again. */
function refuseThreads(): () => void {
  const workers = createRequire(import.meta.url)('node:worker_threads') as { Worker: unknown };
  const { Worker } = workers;
  workers.Worker = function () {
    throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
  };
  const allow = (): void => void (workers.Worker = Worker);
  onTestFinished(allow);
  return allow;
}

/** Takes a thread: it calls a function of its own. */
const dear = '$count($map([1..3], function($n) { $n * 2 })) = 3';
const words = { properties: { word: { type: 'string', pattern: '^(a|b)+$' } } };

const waiting: readonly (readonly [
  of: string,
  steps: unknown[],
  more?: Record<string, unknown>,
])[] = [
  ['condition', [{ task: 'echo', when: dear }]],
  ['choice', [{ choice: [{ when: dear, then: 'echo' }] }]],
  ['output', ['echo'], { output: dear }],
  ['schema', ['echo'], { schema: words }],
];

// All in one, in modules of its own: a thread that was started once would answer for the next test.
it('has jobs wait while no thread starts, whatever they need one for; they can be cancelled, and nothing fails', async () => {
  vi.resetModules();
  const { openWorkspace } = await import('../../support/workspace.js');
  const space = await openWorkspace({ 'echo.mjs': 'export default () => 1;' });
  await space.put(task('echo'), ...waiting.map(([of, steps, more]) => flow(of, steps, more)));
  await space.engine();
  const allowThreads = refuseThreads();
  const params = { word: 'ab' };
  for (const [of] of waiting) {
    await space.put(job(of, { _id: of, params }), job(of, { _id: `${of}-unwanted`, params }));
    for (const id of [of, `${of}-unwanted`]) {
      await space.logged(({ message }) =>
        message.startsWith(`Job ${id} cannot be decided now: its`),
      );
    }
    await space.put({ type: 'request', job: `${of}-unwanted`, action: 'cancel' });
    expect(await space.ended(`${of}-unwanted`)).toMatchObject({ state: '$$cancelled' });
  }
  allowThreads();
  for (const [of] of waiting) {
    expect(await space.ended(of)).toMatchObject({ state: '$$complete', exit: 0 });
  }
});
