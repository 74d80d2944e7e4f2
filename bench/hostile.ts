import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredDocument } from '../src/model/document.js';
import { isFinalState } from '../src/model/job.js';
import type { Connection } from '../src/store/connection.js';
import { openStore, type Store } from '../src/store/store.js';
import { documentsOf, hostileKinds, patternedPlugin } from '../test/support/hostile/all.js';
import type { Kind } from '../test/support/hostile/kind.js';
import type { Bench } from './bench.js';
import { longer } from './blocks.js';
import { startEngines, type Engines } from './engines.js';
import { storeAll } from './project.js';

/** Normal jobs that run before anything is measured. */
const warmJobs = 20;
const normalEveryMs = 250;
const lookEveryMs = 250;
/** What has not ended by then waits for something, or the engines are behind. */
const mostMs = 120_000;
/** So much JSON goes into one request, characters. */
const mostInRequest = 4_000_000;

/**
 * The longest block of an engine's event loop while hostile jobs of one kind arrive, and how long a
 * normal job beside them waits for its first step. The engines go on from kind to kind, unless a kind
 * leaves something behind.
 */
export async function hostile(bench: Bench): Promise<void> {
  const { kinds: wanted } = bench.options;
  const known = new Set(hostileKinds.map(({ name }) => name));
  const unknown = wanted.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`--kind: there is no kind "${unknown}".`);
  const folder = await mkdtemp(join(tmpdir(), 'tws-bench-'));
  await writeFile(join(folder, 'patterned.mjs'), patternedPlugin);
  let site: Site | undefined;
  try {
    for (const kind of hostileKinds) {
      if (wanted.length > 0 && !wanted.includes(kind.name)) continue;
      site ??= await openSite(bench, folder);
      const open = await measure(bench, kind, site);
      if (open === 0) continue;
      await site.close();
      site = undefined;
    }
  } finally {
    await site?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A database with engines on it. */
type Site = {
  readonly store: Store;
  readonly engines: Engines;
  readonly close: () => Promise<void>;
};

async function openSite({ server, options }: Bench, folder: string): Promise<Site> {
  const { hostileEngines: size, slots, profile } = options;
  const connection: Connection = await server.database('project');
  await storeAll(connection, definitions());
  const engines = await startEngines({ connection, size, slots, profile, folder, quiet: true });
  const store = openStore(connection);
  // What engines load and compile when they first do something is no document's fault.
  await Promise.all(Array.from({ length: warmJobs }, () => waitOf(store)));
  await engines.blocks();
  return {
    store,
    engines,
    close: async () => {
      await engines.stop();
      await store.close();
      await server.remove(connection);
    },
  };
}

function definitions() {
  const task = (name: string) => ({ _id: `task:${name}`, type: 'task', name });
  const normal = { type: 'flow', name: 'normal', owner: 'bench', tasks: ['noop'] };
  return [task('noop'), task('jsonata'), task('patterned'), { _id: 'flow:normal', ...normal }];
}

/** Returns how many hostile jobs are still open in the end. */
async function measure({ options, say }: Bench, kind: Kind, site: Site): Promise<number> {
  const { hostile: jobs, hostileEngines } = options;
  const { store, engines } = site;
  const done = new AbortController();
  const normal = submitNow(store, done.signal);
  // Both are awaited below, unless something else fails before.
  normal.catch(() => undefined);
  const began = performance.now();
  await arrive(store, kind, jobs);
  const open = await settled(store);
  done.abort();
  const waits = await normal;
  const tookMs = performance.now() - began;
  const { wallMs, cpuMs } = (await engines.blocks()).reduce(longer);
  const facts = { unit: 'ms', kind: kind.name, jobs, engines: hostileEngines };
  say({ figure: 'longest block', value: cpuMs, ...facts, wallMs, tookMs, open });
  say({ figure: 'a normal job starts within', value: Math.max(...waits), ...facts });
  return open;
}

/** Stores the hostile documents; those that the database refuses are as good as told. */
async function arrive(store: Store, kind: Kind, count: number): Promise<void> {
  let waiting: Promise<unknown>[] = [];
  let size = 0;
  for (let n = 0; n < count; n += 1) {
    for (const document of documentsOf(kind, n)) {
      size += JSON.stringify(document).length;
      waiting.push(store.write(document));
    }
    if (size < mostInRequest) continue;
    await Promise.all(waiting);
    [waiting, size] = [[], 0];
  }
  await Promise.all(waiting);
}

/** Resolves to the jobs that are still open when all others have ended, or after a while. */
async function settled(store: Store): Promise<number> {
  const until = performance.now() + mostMs;
  for (;;) {
    const rows = await unlessBusy(store.view('unfinished', {}));
    const open = rows?.filter(({ id }) => id.startsWith('hostile')).length ?? Infinity;
    if (open === 0 || performance.now() > until) return open;
    await sleep(lookEveryMs);
  }
}

/** Submits a normal job now and then; resolves to how long (ms) each waited for its first step. */
async function submitNow(store: Store, until: AbortSignal): Promise<readonly number[]> {
  const jobs: Promise<number>[] = [];
  do {
    const wait = waitOf(store);
    wait.catch(() => undefined);
    jobs.push(wait);
    await sleep(normalEveryMs, undefined, { signal: until }).catch(() => undefined);
  } while (!until.aborted);
  return Promise.all(jobs);
}

async function waitOf(store: Store): Promise<number> {
  const _id = `normal:${randomUUID()}`;
  const submitted = Date.now();
  await store.write({ _id, type: 'job', flow: 'normal', owner: 'bench' });
  for (;;) {
    const job = await unlessBusy(store.get(_id));
    if (job !== undefined && isFinalState(job['state'])) return startOf(job) - submitted;
    await sleep(lookEveryMs);
  }
}

/** The server may be too busy with hostile documents to answer in time: it is asked again. */
async function unlessBusy<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch(() => undefined);
}

/** A claim that an engine gave back began nothing. */
function startOf(job: StoredDocument): number {
  const steps = job['steps'] as readonly { readonly start?: number }[];
  const start = steps.find((step) => step.start !== undefined)?.start;
  if (start === undefined) throw new Error(`The job ${job._id} did not run.`);
  return start;
}
