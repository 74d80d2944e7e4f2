import { describe, expect, it } from 'vitest';
import { attempt, pluginsOf } from './attempt.js';

/** For plugins: how they wait, with and without noticing the stop. */
const arrival = `
  /** Resolves when the stop has come. A plugin does not notice the stop by it. */
  const stopArrives = new Promise((resolve) => {
    const { abort } = AbortController.prototype;
    AbortController.prototype.abort = function (...reason) {
      AbortController.prototype.abort = abort;
      abort.apply(this, reason);
      resolve();
    };
  });
  /** A timer that only its signal ends. */
  const untilAborted = (signal) => sleep(60_000, 0, { signal }).catch(() => 1);
  /** A timer that listens to its signal and is over. */
  const endedTimer = (signal) => sleep(1, 0, { signal });`;

/** Runs a plugin that is told to stop as soon as it says that it runs. */
async function stopped(body: string, isolate?: 'thread' | 'process') {
  const { registry } = await pluginsOf({
    'x.mjs': `import { setTimeout as sleep } from 'node:timers/promises';
      ${isolate === undefined ? '' : `export const isolate = '${isolate}';`}
      ${arrival}
      export default ${body};`,
  });
  const aborting = new AbortController();
  const log = (): void => aborting.abort(new DOMException('told to stop', 'AbortError'));
  return attempt(registry, 'x', {}, { signal: aborting.signal, log });
}

const stop = { kind: 'failed', failure: { name: 'AbortError', message: 'told to stop' } };

const noticing: readonly (readonly [string, string])[] = [
  [
    'catches what a heartbeat throws',
    `async ({ log, heartbeat }) => { log('runs'); await stopArrives; try { heartbeat(); } catch { return 1; } }`,
  ],
  [
    'has a listener',
    `async ({ log, signal }) => { signal.addEventListener('abort', () => {}); log('runs'); await stopArrives; return 1; }`,
  ],
  [
    'passed the signal to a timer',
    `async ({ log, signal }) => { const slept = untilAborted(signal); log('runs'); return slept; }`,
  ],
  [
    'combined the signal with others',
    `async ({ log, signal }) => {
       const combined = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
       log('runs'); await stopArrives; return combined.aborted;
     }`,
  ],
  [
    'passed a combination of the signal with others to a timer',
    `async ({ log, signal }) => {
       const combined = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
       const slept = untilAborted(combined); log('runs'); return slept;
     }`,
  ],
  [
    'listens to a combination of a combination',
    `async ({ log, signal }) => {
       const combined = AbortSignal.any([AbortSignal.any([signal]), AbortSignal.timeout(60_000)]);
       combined.addEventListener('abort', () => {}); log('runs'); await stopArrives; return 1;
     }`,
  ],
  [
    'asks a combination for its reason',
    `async ({ log, signal }) => {
       const combined = AbortSignal.any([signal]); log('runs'); await stopArrives; return String(combined.reason);
     }`,
  ],
  [
    'reads that it was aborted',
    `async ({ log, signal }) => { log('runs'); await stopArrives; return signal.aborted ? 1 : 2; }`,
  ],
  [
    'asks for the reason',
    `async ({ log, signal }) => { log('runs'); await stopArrives; return String(signal.reason); }`,
  ],
];
const complete: readonly (readonly [string, string])[] = [
  [
    'says that it is done',
    `async ({ log, signal, done }) => { log('runs'); await stopArrives; if (signal.aborted) return done(7); }`,
  ],
  ['does not notice', `async ({ log, signal }) => { log('runs'); await stopArrives; return 7; }`],
  [
    'is done with what it combined the signal for',
    `async ({ log, signal }) => {
       const combined = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
       await endedTimer(combined); if (combined.aborted) return 1;
       log('runs'); await stopArrives; return 7;
     }`,
  ],
  [
    'asked before and has no listener any more',
    `async ({ log, signal }) => {
       await endedTimer(signal); if (signal.aborted) return 1;
       log('runs'); await stopArrives; return 7;
     }`,
  ],
];

describe.each([['the process'], ['thread'], ['process']] as const)(
  'a plugin that is told to stop, in %s',
  (where) => {
    const isolate = where === 'the process' ? undefined : where;

    it.each(noticing)('has not finished when it %s and returns', async (_title, body) => {
      expect(await stopped(body, isolate)).toMatchObject(stop);
    });

    it.each(complete)('has finished when it %s', async (_title, body) => {
      expect(await stopped(body, isolate)).toMatchObject({ kind: 'done', result: 7 });
    });
  },
);

it.each(['thread', 'process'] as const)(
  'in %s, what a heartbeat of a timer throws ends the attempt',
  async (isolate) => {
    const body =
      '({ log, heartbeat }) => new Promise(() => { log("runs"); setInterval(heartbeat, 5); })';
    expect(await stopped(body, isolate)).toMatchObject({ kind: 'failed' });
  },
);

it('a plugin that is told to stop before its call is not called', async () => {
  const { registry } = await pluginsOf({ 'x.mjs': 'export default () => 1;' });
  const signal = AbortSignal.abort(new DOMException('told to stop', 'AbortError'));
  expect(await attempt(registry, 'x', {}, { signal })).toMatchObject(stop);
});
