import { bulkSender } from '../src/store/batch.js';
import type { Connection } from '../src/store/connection.js';
import { revisionsOf } from './project.js';

const flows = ['etl', 'billing', 'report', 'mail', 'import'] as const;

/** Stores jobs of all kinds that have ended, one begun each second up to now. */
export async function storeEnded(connection: Connection, count: number): Promise<void> {
  const send = bulkSender(connection);
  const first = Date.now() - count * 1_000;
  for (let made = 0; made < count; made += 1_000) {
    const docs = Array.from({ length: Math.min(1_000, count - made) }, (_, i) =>
      endedJob(made + i, first + (made + i) * 1_000),
    );
    revisionsOf(await send(JSON.stringify({ docs })));
  }
}

function endedJob(n: number, start: number): Record<string, unknown> {
  const failed = n % 25 === 0;
  const flow = flows[n % flows.length] ?? 'etl';
  const steps = ['extract', 'transform', 'load'].map((task, index) => ({
    ...{ index, path: String(index), name: task, task, attempt: 1, run: 1, phase: 'main' },
    ...{ plugin: 'work', engine: 'engine:box-1', pid: 7, claim: `c${n}:${index}` },
    params: { table: `t${n}`, batch: 100 },
    ...{ accepted: start + index * 100, start: start + index * 100, end: start + index * 100 + 90 },
    ...(failed && index === 2
      ? { state: '$$error', exit: 2, failure: { name: 'Error', message: 'The disk is full.' } }
      : { state: '$$complete', exit: 0, result: { rows: n } }),
  }));
  const failure = { name: 'Error', message: 'The disk is full.', step: 'load' };
  return {
    ...{ _id: `job-${String(n).padStart(6, '0')}`, type: 'job', flow, owner: 'DEFAULT' },
    ...{ state: '$$complete', exit: failed ? 2 : 0, start, end: start + 300, run: 1 },
    ...{ tasks: ['extract', 'transform', 'load'], tags: ['nightly'], keys: { n }, steps },
    ...(failed ? { failure } : {}),
  };
}

/** What goes on being changed: `made` tells how many changes there were so far, `stop` ends it. */
export type Changing = { readonly made: () => number; readonly stop: () => Promise<number> };

/** Changes so many of a hundred running jobs each second, until it is stopped. */
export async function keepChanging(connection: Connection, perSecond: number): Promise<Changing> {
  const send = bulkSender(connection);
  const everyMs = 100;
  const each = Math.max(1, Math.round((perSecond * everyMs) / 1_000));
  let jobs = Array.from({ length: 100 }, (_, n) => runningJob(n));
  let revs = revisionsOf(await send(JSON.stringify({ docs: jobs })));
  jobs = jobs.map((job, i) => ({ ...job, _rev: revs[i] }));
  let at = 0;
  let count = 0;
  let isOn = true;
  const began = performance.now();
  const run = async (): Promise<void> => {
    for (let turn = 1; isOn; turn += 1) {
      const places = Array.from({ length: each }, (_, i) => (at + i) % jobs.length);
      at += each;
      const docs = places.map((i) => ({ ...jobs[i], data: { turn } }));
      revs = revisionsOf(await send(JSON.stringify({ docs })));
      places.forEach((place, i) => {
        jobs[place] = { ...jobs[place], _rev: revs[i] };
      });
      count += each;
      const wait = began + turn * everyMs - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
  const done = run();
  return {
    made: () => count,
    stop: async () => {
      isOn = false;
      await done;
      return count;
    },
  };
}

function runningJob(n: number): Record<string, unknown> {
  const start = Date.now();
  const step = {
    ...{ index: 0, path: '0', name: 'work', task: 'work', attempt: 1, run: 1, phase: 'main' },
    ...{ plugin: 'work', engine: 'engine:box-1', pid: 7, claim: `r${n}:0`, params: {} },
    ...{ state: '$$active', accepted: start, start },
  };
  return {
    ...{ _id: `live-${n}`, type: 'job', flow: 'live', owner: 'DEFAULT', state: 'work-0', run: 1 },
    ...{ tasks: ['work'], definitions: {}, flow_definition: { name: 'live' }, start },
    steps: [step],
  };
}
