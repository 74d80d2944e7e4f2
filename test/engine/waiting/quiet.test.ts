import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, it, onTestFinished } from 'vitest';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

const everything = [{ on: ['late', 'stuck', 'waiting'], after: 0, url: 'http://127.0.0.1:1/' }];
const signal = { wait: { signal: 'x' } };
const inADay = () => new Date(Date.now() + 86_400_000).toISOString();

/** A flow for each thing that a job waits for; `jobs`: what its jobs have beside it, one for each. */
const kinds: readonly (readonly [
  name: string,
  tasks: unknown,
  more?: Readonly<Record<string, unknown>>,
  jobs?: readonly Readonly<Record<string, unknown>>[],
])[] = [
  ['signal', [signal]],
  ['event', [{ wait: { event: 'x' } }]],
  ['told', [signal], { notify: everything }],
  ['delay', [{ delay: 600_000 }]],
  ['child', [{ flow: 'signal' }]],
  ['stuck', ['nowhere']],
  ['stuck-told', ['nowhere'], { notify: everything }],
  ['late', [signal], { expected: 1_000, notify: everything }],
  ['retry', ['bad']],
  ['limit', [signal], { max_running: 1 }, [{}, {}]],
  ['keys', [signal], { concurrency: { key: '"a"', limit: 1, strategy: 'round_robin' } }, [{}, {}]],
  ['rate', [signal], { rate: { limit: 1, per: 'PT1H' } }, [{}, {}]],
  ['paused', ['ok'], { paused: true }],
  ['queue', ['ok'], {}, [{ queue: 'q' }]],
  ['target', [signal], {}, [{ target: '/a' }, { locks: '^/a' }]],
  ['later', ['ok'], {}, [{ exec_after: inADay() }]],
  ['none', ['ok'], { timeout: 1_000 }, [{ flow: 'no such flow' }]],
];

it('two engines ask the store next to nothing about jobs that wait, whatever for', async () => {
  const space = await openWorkspace({
    'ok.mjs': 'export default () => 1;',
    'bad.mjs': 'export default () => { throw new Error("no"); };',
  });
  await space.put(
    ...[task('ok'), task('nowhere'), task('bad', { retry: 3, initial_delay: 600_000 })],
    { _id: 'queue-control:q', type: 'queue-control', queue: 'q', paused: true },
    ...kinds.map(([name, tasks, more]) => flow(name, tasks, { timeout: 0, ...more })),
  );
  await space.engine();
  await space.engine();
  let asked = 0;
  const count = () => void (asked += 1);
  subscribe('http.client.request.start', count);
  onTestFinished(() => void unsubscribe('http.client.request.start', count));
  await space.put(
    ...kinds.flatMap(([name, , , jobs = [{}]]) =>
      jobs.map((more, i) => job(name, { _id: `${name}-${i}`, ...more })),
    ),
  );
  for (const id of ['told-0', 'stuck-told-0', 'late-0']) {
    await space.until(id, ({ notifications }) => notifications !== undefined);
  }
  await space.until('child-0', ({ steps }) => Array.isArray(steps) && steps.length > 0);
  // A job that waits for a permit is looked at now and then.
  let before = 0;
  const sinceThen = (): number => {
    const more = asked - before;
    before = asked;
    return more;
  };
  await expect.poll(sinceThen, { interval: 1_000 }).toBeLessThan(40);
  expect(asked).toBeLessThan(1_500);
});
