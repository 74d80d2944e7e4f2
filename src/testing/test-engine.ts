import { randomUUID } from 'node:crypto';
import { cwd as currentFolder } from 'node:process';
import { createVirtualClock, type VirtualClock } from '../clock/virtual-clock.js';
import { startEngine, type Engine } from '../engine/engine.js';
import type { Log } from '../engine/log.js';
import type { StoredDocument } from '../model/document.js';
import type { HistoryEvent } from '../model/history-event.js';
import { isFinalState, type Job } from '../model/job.js';
import { toEpochMs } from '../model/scalars.js';
import { pluginOf } from '../model/task.js';
import type { PluginContext } from '../plugin/api.js';
import type { CodePolicy } from '../plugin/code-policy.js';
import { loadPlugins } from '../plugin/loader.js';
import { historyOf } from '../reading/history.js';
import type { Store } from '../store/store.js';
import { openTestStore, type TestStoreKind } from './stores.js';
import { createWork, type UnderWay } from './settling.js';
import { testSensitive, testSubject, type TestValues } from './sensitive.js';
import { standInPlugins, type StandIn, type StandInOptions, type TestCall } from './stand-ins.js';
import { assertJob, type ExpectedJob, type TestedJob } from './expectations.js';
import { standOf } from './stand.js';

/** Options of a test engine; each may be left out. */
export type TestEngineOptions = {
  /** Tasks, flows and other documents that are there from the beginning. */
  readonly documents?: readonly TestDocument[];
  /** Stand-ins by the name of the plugin that they replace. */
  readonly plugins?: Readonly<Record<string, StandIn>>;
  /** Stand-ins by the path (`0.map.7`) or the name of a step, or the name of a task; they come before those of plugins. */
  readonly tasks?: Readonly<Record<string, StandIn>>;
  /** Folders of real plugins; those that come with tws are always there. */
  readonly folders?: readonly string[];
  /** Whether a plugin that nothing stands in for may run; default: each may. */
  readonly mayRun?: (plugin: string) => boolean;
  /** Where documents are kept: in memory (default), or in an embedded server of its own. */
  readonly store?: TestStoreKind;
  /** How many engines run; default 1. */
  readonly engines?: number;
  /** When it begins, epoch ms or ISO 8601; default 2026-01-01T00:00:00Z. */
  readonly from?: number | string;
  /** Folder of the project, where plugins look for files; default: the current one. */
  readonly cwd?: string;
  readonly cryptoKey?: string | undefined;
  /** Sensitive values of the subject of each job, by name; jobs without a `subject` get one. */
  readonly sensitive?: TestValues | undefined;
  /** What documents may have run of code and programs; default: nothing. */
  readonly code?: CodePolicy | undefined;
  /** Ms of real time after which time passes although a plugin still runs; default 1000. */
  readonly patienceMs?: number;
  readonly log?: Log;
};

export type TestDocument = Readonly<Record<string, unknown>>;

/**
 * Engines on a database of their own, whose time passes only where a test has it pass. Nothing happens
 * between two calls; each resolves when everything that follows from it has happened, as far as that
 * needs no time. Durations in ms.
 */
export type TestEngine = {
  /** Epoch ms. */
  readonly now: () => number;
  /** Stores documents, as `curl` would; answers their ids. Rejects when one is refused. */
  readonly put: (...documents: readonly TestDocument[]) => Promise<readonly string[]>;
  readonly get: (id: string) => Promise<StoredDocument | undefined>;
  /** Stores a job; answers its id. */
  readonly submit: (job: TestDocument) => Promise<string>;
  /** Sends a signal to a job. */
  readonly signal: (job: string, name: string, data?: unknown) => Promise<void>;
  /** Asks something of a job: `cancel`, `pause`, `resume`, `skip` or `retry`. */
  readonly request: (job: string, action: string, more?: TestDocument) => Promise<void>;
  /** Has so much time pass, with everything that happens in it. */
  readonly pass: (ms: number) => Promise<void>;
  /** Has time pass until `isSo` holds for the job; rejects when nothing happens any more. */
  readonly until: (job: string, isSo: (job: TestedJob) => boolean) => Promise<TestedJob>;
  /** Has time pass until the job is final. */
  readonly ended: (job: string) => Promise<TestedJob>;
  /** The same, and throws with every difference from what is expected. */
  readonly expect: (job: string, expected: ExpectedJob) => Promise<TestedJob>;
  /** What happened in a job, in order. */
  readonly history: (job: string) => Promise<readonly HistoryEvent[]>;
  /** The calls of a plugin, or of all, in their order. */
  readonly calls: (plugin?: string) => readonly TestCall[];
  /** How many engines run. */
  readonly running: () => number;
  /** Starts one more engine. */
  readonly start: () => Promise<void>;
  /** Ends an engine as the death of its process does; default: the first one. */
  readonly kill: (engine?: number) => Promise<void>;
  /** Stops an engine in order; default: the first one. */
  readonly stop: (engine?: number) => Promise<void>;
  /** Ends all engines and removes the database. */
  readonly close: () => Promise<void>;
  /** Does what `close` does, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** Upkeep stops after a quiet time of this length: the end of leases, and the sweeps before it, fit into it, ms. */
const quietMs = 65_000;
/** Engines know of everything that becomes due within a century: no sweep has to bring it. */
const horizonMs = 36_525 * 86_400_000;
const usualFrom = '2026-01-01T00:00:00Z';
const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

/** Starts engines for a test. */
export async function createTestEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  return (await createTestGround(options)).engine;
}

/** What engines of a test stand on: whatever else works on their database has its stores and its time from here. */
export type TestGround = {
  readonly engine: TestEngine;
  readonly clock: VirtualClock;
  /** Opens the database; no time passes while a request of this store is under way. */
  readonly open: () => Store;
};

/** Starts engines for a test, each with the store that `engineStore` makes of the one it would have. */
export async function createTestGround(
  options: TestEngineOptions = {},
  engineStore: (store: Store) => Store = (store) => store,
): Promise<TestGround> {
  const { from = usualFrom, patienceMs = 1_000, engines: count = 1 } = options;
  const hasSubjects = options.sensitive !== undefined;
  const work = createWork(patienceMs);
  const clock = createVirtualClock({ from: toEpochMs(from), settle: work.settled, quietMs });
  const opened = await openTestStore(options.store ?? 'memory');
  /** How often each document was written. */
  const writes = new Map<string, number>();
  const open = (): Store =>
    work.watched(opened.open(), (id) => {
      writes.set(id, (writes.get(id) ?? 0) + 1);
      // Leases are renewed for ever.
      if (!id.startsWith('engine:')) clock.stir();
    });
  const store = open();
  const parts = await createParts(options, { clock, work });
  const engines: Engine[] = [];
  const start = async (): Promise<void> => {
    engines.push(await driven(clock, startEngine({ ...parts.engine, store: engineStore(open()) })));
    await work.settled();
  };
  const end = async (at: number, how: 'kill' | 'stop'): Promise<void> => {
    const [engine] = engines.splice(at, 1);
    if (engine === undefined) throw new Error(`There is no engine ${at} to ${how}.`);
    clock.stir();
    await driven(clock, engine[how]());
    await work.settled();
  };
  const put = async (documents: readonly TestDocument[]): Promise<readonly string[]> => {
    const ids = await Promise.all(documents.map((doc) => putOne(store, doc)));
    if (documents.some(({ type }) => type === 'task')) parts.learn(documents);
    await work.settled();
    return ids;
  };
  await put(options.documents ?? []);
  for (let n = 0; n < count; n += 1) await start();
  const close = async (): Promise<void> => {
    while (engines.length > 0) await end(0, 'kill');
    await store.close();
    await opened.close();
  };
  const engine: TestEngine = {
    ...createTestJobs({ ...{ clock, store, work, put, writes }, hasSubjects }),
    now: clock.now,
    put: (...documents) => put(documents),
    get: (id) => store.get(id),
    calls: (plugin) => parts.calls.filter((call) => plugin === undefined || call.plugin === plugin),
    running: () => engines.length,
    start,
    kill: (engine = 0) => end(engine, 'kill'),
    stop: (engine = 0) => end(engine, 'stop'),
    close,
    [Symbol.asyncDispose]: close,
  };
  return { engine, clock, open };
}

/** Has time pass until a promise has settled. */
async function driven<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = promise.finally(() => (isOver = true));
  await clock.run(() => isOver);
  return over;
}

type Around = { readonly clock: VirtualClock; readonly work: UnderWay };

/** What the engines of a test are given. */
async function createParts(options: TestEngineOptions, { clock, work }: Around) {
  const { plugins = {}, tasks = {}, folders = [], cwd = currentFolder(), log = silent } = options;
  const calls: TestCall[] = [];
  const wanted = new Set<string>();
  const mayRun = options.mayRun ?? (() => true);
  const refuse: StandInOptions['refuse'] = (plugin, { step }) =>
    mayRun(plugin)
      ? undefined
      : `Task "${String(step['task'])}" has no mock, and a test runs plugin "${plugin}" only where it says so`;
  const registry = standInPlugins({
    ...{ plugins, tasks, refuse, wanted: () => [...wanted] },
    real: await loadPlugins({ folders, log: ignore }),
    tools: ({ signal }: PluginContext) => ({
      sleep: async (ms) => {
        await work.asleep(() => clock.sleep(ms, signal));
        signal.throwIfAborted();
      },
    }),
    onCall: (call) => void calls.push(call),
  });
  const learn = (documents: readonly TestDocument[]): void => {
    for (const { type, name, plugin, flow } of documents) {
      if (type !== 'task' || typeof name !== 'string' || flow !== undefined) continue;
      wanted.add(pluginOf(typeof plugin === 'string' ? { name, plugin } : { name }));
    }
    registry.changed();
  };
  const { cryptoKey, code, sensitive } = options;
  const meters = { attempt: work.meter };
  return {
    calls,
    learn,
    engine: {
      ...{ plugins: registry, clock, cwd, log, cryptoKey, code, meters, horizonMs },
      ...(sensitive === undefined ? {} : { sensitive: testSensitive(sensitive) }),
      keyless: true,
    },
  };
}

async function putOne(store: Store, given: TestDocument): Promise<string> {
  const { _id: id = `${String(given['type'])}:${randomUUID()}`, ...doc } = given;
  const result = await store.write({ ...doc, _id: String(id) });
  if (result.kind === 'written') return String(id);
  const why = 'reason' in result ? result.reason : result.kind;
  throw new Error(`The document ${String(id)} is not stored: ${why}`);
}

type JobsParts = Around & {
  readonly store: Store;
  readonly put: (documents: readonly TestDocument[]) => Promise<readonly string[]>;
  readonly writes: ReadonlyMap<string, number>;
  /** Jobs without a `subject` get one. */
  readonly hasSubjects: boolean;
};

/** What a test does with jobs. */
function createTestJobs({ clock, store, work, put, writes, hasSubjects }: JobsParts) {
  const read = async (id: string): Promise<TestedJob> => {
    const job = await store.get(id);
    if (job === undefined) throw new Error(`There is no job "${id}".`);
    return job;
  };
  const until: TestEngine['until'] = async (id, isSo) => {
    await work.settled();
    for (;;) {
      const seen = writes.get(id);
      const job = await read(id);
      if (isSo(job)) return job;
      const goes = await clock.run(() => writes.get(id) !== seen);
      if (!goes) throw new Error(`Nothing happens any more. ${standOf(await read(id))}`);
    }
  };
  const ended: TestEngine['ended'] = (id) => until(id, ({ state }) => isFinalState(state));
  return {
    until,
    ended,
    submit: async (job: TestDocument): Promise<string> => {
      const subject = hasSubjects ? { subject: testSubject } : {};
      const [id] = await put([{ owner: 'DEFAULT', ...subject, ...job, type: 'job' }]);
      return id as string;
    },
    signal: async (job: string, name: string, data?: unknown): Promise<void> => {
      await put([{ type: 'signal', job, name, ...(data === undefined ? {} : { data }) }]);
    },
    request: async (job: string, action: string, more: TestDocument = {}): Promise<void> => {
      await put([{ ...more, type: 'request', job, action }]);
    },
    pass: async (ms: number): Promise<void> => {
      let isOver = false;
      void clock.sleep(ms).then(() => (isOver = true));
      await clock.run(() => isOver);
    },
    expect: async (id: string, expected: ExpectedJob): Promise<TestedJob> => {
      const job = await ended(id);
      assertJob(job, expected);
      return job;
    },
    history: async (id: string): Promise<readonly HistoryEvent[]> =>
      historyOf((await read(id)) as unknown as Job),
  };
}
