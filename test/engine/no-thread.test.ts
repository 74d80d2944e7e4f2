import { createRequire } from 'node:module';
import { expect, it, onTestFinished } from 'vitest';
import { flow, job, task } from '../support/documents.js';
import { openWorkspace } from '../support/workspace.js';

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

it.each([
  ['a condition', [{ task: 'echo', when: dear }], {}],
  ['the case of a choice', [{ choice: [{ when: dear, then: 'echo' }] }], {}],
  ['its output', ['echo'], { output: dear }],
  ['the schema of its flow', ['echo'], { schema: words }],
])(
  'while no thread starts a job waits for %s, can be cancelled, and fails nothing',
  async (_of, steps, more) => {
    const space = await openWorkspace({ 'echo.mjs': 'export default () => 1;' });
    await space.put(task('echo'), flow('f', steps, more));
    await space.engine();
    const allowThreads = refuseThreads();
    const params = { word: 'ab' };
    await space.put(job('f', { _id: 'j', params }), job('f', { _id: 'unwanted', params }));
    for (const id of ['j', 'unwanted']) {
      await space.logged(({ message }) =>
        message.startsWith(`Job ${id} cannot be decided now: its`),
      );
    }
    await space.put({ type: 'request', job: 'unwanted', action: 'cancel' });
    expect(await space.ended('unwanted')).toMatchObject({ state: '$$cancelled' });
    allowThreads();
    expect(await space.ended('j')).toMatchObject({ state: '$$complete', exit: 0 });
  },
);
