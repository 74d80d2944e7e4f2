import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startEngine, type Engine, type EngineOptions } from '../../src/engine/engine.js';
import type { Log } from '../../src/engine/log.js';
import type { StoredDocument } from '../../src/model/document.js';
import { loadPlugins } from '../../src/plugin/loader.js';
import { createDatabase } from '../../src/store/database.js';
import { installDesign } from '../../src/store/design.js';
import { openStore, type Store } from '../../src/store/store.js';
import { admin, couchUrl, freshDatabase } from './couch.js';
import { withGuard } from './guard.js';

/** A line that an engine logged. */
export type LogLine = {
  readonly level: string;
  readonly about: Readonly<Record<string, unknown>>;
  readonly message: string;
};

/** A database with the design document, plugins of the test's own, and engines on both. */
export type Workspace = {
  readonly store: Store;
  readonly folder: string;
  readonly log: readonly LogLine[];
  /** Stores documents; throws when one is not stored. Answers with the ids. */
  readonly put: (...documents: readonly Record<string, unknown>[]) => Promise<readonly string[]>;
  readonly engine: (options?: Partial<EngineOptions>) => Promise<Engine>;
  /** Waits until an engine logged such a line. */
  readonly logged: (wanted: (line: LogLine) => boolean, withinMs?: number) => Promise<LogLine>;
  /** Waits until the job is final. */
  readonly ended: (id: string, withinMs?: number) => Promise<Ended>;
  /** Waits until the newest version of a document is as wanted. */
  readonly until: (
    id: string,
    wanted: (doc: StoredDocument) => boolean,
    withinMs?: number,
  ) => Promise<StoredDocument>;
};

/** A final job as tests read it. */
export type Ended = StoredDocument & {
  readonly state: string;
  readonly exit: number;
  readonly failure?: { readonly name: string; readonly message: string };
  readonly steps: readonly (Record<string, unknown> & { readonly state: string })[];
};

/**
 * `plugins`: file name -> source. Everything is stopped and removed when the test has finished.
 * `url`: a server of the test's own, with credentials, instead of the one of the run. `guard`: whether
 * the database has the guard.
 */
export async function openWorkspace(
  plugins: Readonly<Record<string, string>> = {},
  url?: string,
  guard = withGuard,
): Promise<Workspace> {
  const connection = { ...(await databaseAt(url)), app: 'tws' };
  await createDatabase(connection);
  await installDesign(connection, { guard });
  const folder = await mkdtemp(join(tmpdir(), 'tws-test-'));
  for (const [name, source] of Object.entries(plugins)) {
    await writeFile(join(folder, name), source);
  }
  const store = openStore(connection);
  const watched = watch(store);
  const lines: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  const push = (line: LogLine): void => {
    lines.push(line);
    for (const listener of listeners) listener(line);
  };
  const engines: Engine[] = [];
  onTestFinished(async () => {
    await Promise.all(engines.map((engine) => engine.stop()));
    await watched.stop();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  const until: Workspace['until'] = (id, wanted, withinMs = 240_000) =>
    watched.until(id, wanted, withinMs);
  return {
    store,
    folder,
    log: lines,
    logged: (wanted, withinMs = 240_000) =>
      new Promise((resolve, reject) => {
        const seen = lines.find(wanted);
        if (seen !== undefined) return resolve(seen);
        const listener = (line: LogLine): void => {
          if (!wanted(line)) return;
          end();
          resolve(line);
        };
        const timer = setTimeout(() => {
          end();
          const last = lines.slice(-20).map(({ message }) => message);
          reject(new Error(`No such line in ${withinMs} ms, but:\n${last.join('\n')}`));
        }, withinMs);
        const end = (): void => {
          clearTimeout(timer);
          listeners.delete(listener);
        };
        listeners.add(listener);
      }),
    until,
    put: async (...documents) => Promise.all(documents.map((doc) => putOne(store, doc))),
    ended: async (id, withinMs) =>
      (await until(
        id,
        (doc) => /^\$\$(complete|cancelled)$/.test(String(doc['state'])),
        withinMs,
      )) as Ended,
    engine: async (options = {}) => {
      const registry = await loadPlugins({ folders: [folder], log: () => undefined });
      const engine = await startEngine({
        store: openStore(connection),
        plugins: registry,
        log: recorder(push),
        cwd: folder,
        // Retries begin at once: tests need not wait.
        retry: { delay: 0 },
        ...options,
      });
      engines.push(engine);
      return engine;
    },
  };
}

async function databaseAt(url: string | undefined) {
  if (url === undefined) return { url: couchUrl(), ...admin(), database: await freshDatabase() };
  const { username, password } = new URL(url);
  return { url, user: username, password, database: 'tws-test' };
}

async function putOne(store: Store, doc: Record<string, unknown>): Promise<string> {
  const id = typeof doc['_id'] === 'string' ? doc['_id'] : crypto.randomUUID();
  const result = await writeNew(store, { ...doc, _id: id });
  if (result.kind === 'written') return id;
  throw new Error(`${id}: ${JSON.stringify(result)}`);
}

/**
 * Writes a new document. On a busy machine an answer may be late: then the document is there, or is
 * written again.
 */
export async function writeNew(
  store: Store,
  doc: { readonly _id: string },
): Promise<Awaited<ReturnType<Store['write']>> | { readonly kind: 'written' }> {
  let result = await store.write(doc);
  for (let left = 5; result.kind === 'unknown' && left > 0; left -= 1) {
    result = await store.write(doc);
    if (result.kind === 'conflict') return { kind: 'written' };
  }
  return result;
}

type Watch = {
  readonly until: (
    id: string,
    wanted: (doc: StoredDocument) => boolean,
    withinMs: number,
  ) => Promise<StoredDocument>;
  readonly stop: () => Promise<void>;
};

/** Follows the feed from the beginning and remembers every version: none is missed, nothing is polled. */
function watch(store: Store): Watch {
  const abort = new AbortController();
  const versions = new Map<string, StoredDocument[]>();
  const waiting = new Set<(doc: StoredDocument) => void>();
  const following = (async () => {
    for await (const { id, doc } of store.follow({ since: '0', signal: abort.signal })) {
      if (doc === undefined) continue;
      versions.set(id, [...(versions.get(id) ?? []), doc]);
      for (const look of waiting) look(doc);
    }
  })();
  return {
    stop: async () => {
      abort.abort();
      await following;
    },
    until: (id, wanted, withinMs) => {
      const seen = versions.get(id)?.find(wanted);
      if (seen !== undefined) return Promise.resolve(seen);
      return new Promise((resolve, reject) => {
        const look = (doc: StoredDocument): void => {
          if (doc._id !== id || !wanted(doc)) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(doc);
        };
        const timer = setTimeout(() => {
          waiting.delete(look);
          const last = JSON.stringify(versions.get(id)?.at(-1), null, 1);
          reject(new Error(`${id} is not as wanted after ${withinMs} ms: ${last}`));
        }, withinMs);
        waiting.add(look);
      });
    },
  };
}

function recorder(push: (line: LogLine) => void): Log {
  const at = (level: string) => (about: LogLine['about'], message: string) => {
    push({ level, about, message });
    if (process.env['TWS_TEST_LOG']) console.log(level, message, JSON.stringify(about));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
