import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bulkSender } from '../src/store/batch.js';
import type { NewDocument } from '../src/store/writer.js';
import type { Bench } from './bench.js';
import {
  openCheckout,
  type Checkout,
  type ProjectOptions,
  type RunningProject,
} from './checkout.js';
import { openSubmitter, type Ran, type Submitter } from './ends.js';
import { percentile, printer, sum, type Say } from './figure.js';
import { largeDocuments, measureLarge } from './large.js';
import type { Options } from './options.js';
import { cpuMsOf, peakMbOf } from './processes.js';
import type { ProductPart } from './product-parts.js';
import { flowName, newJobs, storeAll } from './project.js';
import { rawChain } from './raw.js';
import { countWay } from './way.js';

const steps = 3;
const warmUp = 200;
const sleepMs = 2_000;
const sleepers = 1_000;
const items = 10_000;
/** What `raw` writes: documents of this size, so often, so many at once. */
const raw = { bytes: 1_400, documents: 940, updates: 5, batch: 94 };

type Subject = { readonly checkout: Checkout; readonly options: Options; readonly say: Say };

const parts: Readonly<Record<ProductPart, (subject: Subject) => Promise<void>>> = {
  ...{
    raw: rawWrites,
    lone,
    backlog,
    'fan-out': fanOut,
    sleepers: wakeUps,
    crowd,
    lengths,
    large,
    way,
  },
};

/**
 * Measures the product of a checkout from outside: its own server (or a CouchDB), `tws start` as
 * processes, jobs as documents, ends by the feed. The same code measures any revision of the project.
 */
export async function product({ options }: Pick<Bench, 'options'>): Promise<void> {
  for (const part of options.parts) {
    // Each with a server of its own: what one leaves behind is in no figure of the next.
    const checkout = await openCheckout(options.checkout, options);
    const print = printer('product', checkout.kind);
    const say: Say = (figure) => print({ ...figure, part });
    try {
      await parts[part]({ checkout, options, say });
    } finally {
      await checkout.close();
    }
  }
}

/** What the store does without an engine and without a design document. */
async function rawWrites({ checkout, say, options }: Subject): Promise<void> {
  const connection = await checkout.plain();
  const send = bulkSender(connection);
  const text = 'x'.repeat(raw.bytes);
  let docs: readonly NewDocument[] = Array.from({ length: raw.documents }, () => ({
    ...{ _id: randomUUID(), text },
  }));
  let revs = await storeAll(connection, docs);
  const began = performance.now();
  for (let n = 0; n < raw.updates; n += 1) {
    docs = docs.map((doc, i) => ({ ...doc, _rev: String(revs[i]) }));
    const next: string[] = [];
    for (let from = 0; from < docs.length; from += raw.batch) {
      next.push(...(await storeAll(connection, docs.slice(from, from + raw.batch))));
    }
    revs = next;
  }
  const ms = performance.now() - began;
  const rate = (1000 * raw.documents * raw.updates) / ms;
  say({ figure: 'updates of documents', value: rate, unit: '1/s', ...raw });
  const chain = rawChain(send);
  const revisions = Array.from({ length: steps + 2 }, () => ({ _id: '', text }));
  const times: number[] = [];
  for (let n = 0; n < options.latencyJobs; n += 1) times.push(await chain(revisions));
  const value = percentile(times, 0.5);
  say({ figure: 'five writes of a document p50', value, unit: 'ms', documents: times.length });
}

/** How long one job takes when there is nothing else to do. */
async function lone(subject: Subject): Promise<void> {
  const { options, say } = subject;
  await withProject(subject, { engines: 1 }, async ({ run }) => {
    const times: number[] = [];
    for (let n = 0; n < options.latencyJobs; n += 1)
      times.push(...(await run(chains(1))).map(msOf));
    for (const share of [0.5, 0.99]) {
      const value = percentile(times, share);
      say({ figure: `job of three steps p${share * 100}`, value, unit: 'ms', jobs: times.length });
    }
  });
}

/** Jobs per second of a backlog, and what they cost. */
async function backlog(subject: Subject): Promise<void> {
  const { options, say, checkout } = subject;
  const jobs = options.backlog;
  for (const engines of [1, 2]) {
    await withProject(subject, { engines }, async ({ run, pids }) => {
      const server = checkout.serverPid;
      const before = { engines: cpuOf(pids), server: cpuMsOf(server ?? 0) };
      const ran = await run(chains(jobs));
      const conditions = { engines, jobs };
      const perJob = (ms: number): number => ms / jobs;
      say({ figure: 'jobs', value: (1000 * jobs) / spanOf(ran), unit: '1/s', ...conditions });
      const engineMs = perJob(cpuOf(pids) - before.engines);
      say({ figure: 'cpu of engines per job', value: engineMs, unit: 'ms', ...conditions });
      const engineMb = Math.max(...pids.map(peakMbOf));
      say({ figure: 'memory of an engine', value: engineMb, unit: 'MB', ...conditions });
      if (server === undefined) return;
      const serverMs = perJob(cpuMsOf(server) - before.server);
      say({ figure: 'cpu of server per job', value: serverMs, unit: 'ms', ...conditions });
      say({ figure: 'memory of server', value: peakMbOf(server), unit: 'MB', ...conditions });
    });
  }
}

/** One job with a hundred steps at the same time. */
async function fanOut(subject: Subject): Promise<void> {
  await withProject(subject, { engines: 1 }, async ({ run }) => {
    const times: number[] = [];
    for (let n = 0; n < 10; n += 1) times.push(...(await run(jobsOf('fan-out'))).map(msOf));
    const value = percentile(times, 0.5);
    subject.say({ figure: 'hundred steps at once p50', value, unit: 'ms', jobs: times.length });
  });
}

/** How late jobs wake that are due in the same moment, as their submitter sees it. */
async function wakeUps(subject: Subject): Promise<void> {
  await withProject(subject, { engines: 1 }, async ({ run }) => {
    const ran = await run(Array.from({ length: sleepers }, () => jobsOf('sleep')).flat());
    const late = ran.map((one) => msOf(one) - sleepMs);
    for (const share of [0.5, 0.99]) {
      const figure = `late p${share * 100}`;
      subject.say({ figure, value: percentile(late, share), unit: 'ms', jobs: sleepers });
    }
  });
}

/** What engines cost together, the more of them there are. */
async function crowd(subject: Subject): Promise<void> {
  const { options, say } = subject;
  for (const engines of options.claimEngines) {
    await withProject(subject, { engines, slots: 10 }, async ({ run, pids }) => {
      const measure = async (kind: string, jobs: number, work: () => Promise<unknown>) => {
        const before = cpuOf(pids);
        await work();
        const value = (cpuOf(pids) - before) / jobs;
        say({ figure: `cpu of all engines per job, ${kind}`, value, unit: 'ms', engines, jobs });
      };
      const { trickleJobs, trickleMs, jobs } = options;
      await measure('backlog', jobs, () => run(chains(jobs)));
      await measure('trickle', trickleJobs, async () => {
        const all: Promise<unknown>[] = [];
        for (let n = 0; n < trickleJobs; n += 1) {
          all.push(run(chains(1)));
          await sleep(trickleMs);
        }
        await Promise.all(all);
      });
    });
  }
}

/** What long jobs and long lists take. */
async function lengths(subject: Subject): Promise<void> {
  const { options, say } = subject;
  await withProject(subject, { engines: 1 }, async ({ run }) => {
    for (const length of options.steps) {
      const [ran] = await run(newJobs(1, length));
      const value = msOf(ran as Ran) / length;
      say({ figure: 'a step of a long job', value, unit: 'ms', steps: length });
    }
    const [ran] = await run(jobsOf('list'));
    say({ figure: 'an item of a long list', value: msOf(ran as Ran) / items, unit: 'ms', items });
  });
}

/** What jobs with large results take. */
async function large(subject: Subject): Promise<void> {
  const { say, checkout } = subject;
  await withProject(subject, { engines: 1 }, ({ run, pids, connection }) =>
    measureLarge({ run, pids, connection, serverPid: checkout.serverPid, say }),
  );
}

/** What an engine calls for the plainest job. */
async function way(subject: Subject): Promise<void> {
  await withProject(subject, { engines: 1, counting: true }, ({ run, counted }) =>
    countWay({ run, counted, say: subject.say, isListed: subject.options.list }),
  );
}

type Tools = Pick<Submitter, 'run'> & Pick<RunningProject, 'pids' | 'counted' | 'connection'>;

/** Runs `work` in a new project whose engines have done some jobs. */
async function withProject(
  { checkout, options }: Subject,
  { slots = 100, ...how }: Pick<ProjectOptions, 'engines' | 'counting'> & { slots?: number },
  work: (tools: Tools) => Promise<void>,
): Promise<void> {
  const documents = definitions([...new Set([1, steps, ...options.steps])]);
  const { guard, copies } = options;
  const project = await checkout.project({ ...how, slots, documents, guard, copies });
  const submitter = await openSubmitter(project.connection);
  try {
    await submitter.run(chains(warmUp));
    const { pids, counted, connection } = project;
    await work({ run: submitter.run, pids, counted, connection });
  } finally {
    await submitter.close();
    await project.close();
  }
}

function definitions(lengths: readonly number[]): readonly NewDocument[] {
  const flow = (name: string, tasks: unknown): NewDocument => ({
    ...{ _id: `flow:bench:${name}`, type: 'flow', name, owner: 'bench', timeout: 0, tasks },
  });
  const chain = (length: number) =>
    Array.from({ length }, (_, i) => ({ task: 'step', name: `s${i}` }));
  const list = { over: `[1..${items}]`, do: 'step', slice: 100, limit: 400 };
  return [
    { _id: 'task:DEFAULT:step', type: 'task', name: 'step', plugin: 'step' },
    flow('fan-out', [{ map: { over: '[1..100]', do: 'step', limit: 100 }, name: 'leaves' }]),
    flow('sleep', [{ delay: sleepMs }]),
    ...largeDocuments,
    flow('list', [{ map: list, name: 'items' }]),
    ...lengths.map((length) => flow(flowName(length), chain(length))),
  ];
}

const chains = (count: number): readonly NewDocument[] => newJobs(count, steps);

function jobsOf(flow: string): readonly NewDocument[] {
  return [{ _id: randomUUID(), type: 'job', flow, owner: 'bench' }];
}

const msOf = ({ submitted, ended }: Ran): number => ended - submitted;
const cpuOf = (pids: readonly number[]): number => sum(pids.map(cpuMsOf));

/** From before the first submit to the last end, ms. */
function spanOf(ran: readonly Ran[]): number {
  const first = Math.min(...ran.map(({ submitted }) => submitted));
  return Math.max(...ran.map(({ ended }) => ended)) - first;
}
