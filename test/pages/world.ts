import { flow, task } from '../cli/terminal.js';
import { unlessHeld } from './hold.js';
import { openApi, type TestApi, type TestOptions } from '../http/server.js';

/** Fails until it is told that all is well; tells what it does. */
const gate = `
export default async ({ params, log, progress }) => {
  log('The gate is asked.', { ok: params.ok === true });
  progress({ percent: 40 });
  if (params.ok !== true) throw new Error('The gate is closed: params.ok is not true.');
  return { passed: true };
};
`;

/** Takes so many milliseconds, and longer while it is held. */
const slow = `
export default async ({ params, signal, progress, cwd }) => {
  progress({ percent: 20 });
  await new Promise((resolve, reject) => {
    const end = setTimeout(resolve, params.ms);
    signal.addEventListener('abort', () => { clearTimeout(end); reject(new Error('Stopped.')); });
  });
  ${unlessHeld}
  return { slept: params.ms };
};
`;

/** An API with tasks and flows of all kinds, without an engine. */
export async function openWorld(options: TestOptions = {}): Promise<TestApi> {
  const files = { 'gate.mjs': gate, 'slow.mjs': slow };
  const api = await openApi({ files, ...options });
  const named = (name: string, tasks: readonly unknown[], more: object = {}) => ({
    ...flow(name, tasks, { timeout: 0, ...more }),
    _id: `flow:DEFAULT:${name}`,
  });
  await api.put(
    { ...task('echo'), _id: 'task:DEFAULT:echo' },
    { ...task('gate', { plugin: 'gate' }), _id: 'task:DEFAULT:gate' },
    {
      ...task('nap', { plugin: 'slow', timeout: 120_000, params: { ms: 100 } }),
      _id: 'task:DEFAULT:nap',
    },
    {
      ...task('sleep', { plugin: 'slow', timeout: 120_000, params: { ms: 100_000 } }),
      _id: 'task:DEFAULT:sleep',
    },
    { ...task('sap', { plugin: 'sap-connector' }), _id: 'task:DEFAULT:sap' },
    named('greet', ['echo', 'nap', { task: 'echo', name: 'bye' }]),
    named('gated', ['echo', 'gate', { task: 'echo', name: 'after' }]),
    named('each', [
      'echo',
      {
        map: {
          over: 'job.params.list',
          tolerate: '2%',
          do: { task: 'gate', params: { ok: '{{item.ok}}' } },
        },
      },
    ]),
    named('wide', [
      { parallel: Array.from({ length: 60 }, (_, i) => ({ task: 'echo', name: `region-${i}` })) },
      { graph: { extract: 'echo', load: { task: 'echo', after: ['extract'] } } },
    ]),
    named('approval', [
      'echo',
      { name: 'decision', wait: { signal: 'decision' } },
      { parallel: ['echo', 'nap'] },
    ]),
    named('long', ['echo', 'sleep']),
    named('stuck', ['echo', 'sap']),
  );
  return api;
}
