import { createRequire } from 'node:module';

/** One side of a replication, spoken to over HTTP whichever server it is on. */
export type ReplicationPeer = {
  readonly url: string;
  readonly auth?: { readonly username: string; readonly password: string };
  readonly headers?: Readonly<Record<string, string>>;
};

export type ReplicationOptions = {
  readonly live: boolean;
  readonly retry: boolean;
  readonly filter?: string;
  readonly doc_ids?: readonly string[];
  readonly selector?: object;
  readonly query_params?: object;
  readonly since?: string;
};

/** What a replication did so far. */
export type ReplicationProgress = {
  readonly docs_read: number;
  readonly docs_written: number;
  readonly doc_write_failures: number;
  readonly last_seq: string | number;
  /** Told with each change: the documents that were written since the last one. */
  readonly docs?: readonly { readonly _id: string; readonly _rev: string }[];
};

export type RunningReplication = {
  /** Settles when it is complete, failed or cancelled. */
  readonly done: Promise<ReplicationProgress>;
  cancel(): void;
};

type Replication = Promise<ReplicationProgress> & {
  cancel(): void;
  on(event: 'change', listener: (progress: ReplicationProgress) => void): Replication;
};
type PouchClass = {
  new (url: string, options: object): object;
  plugin(plugin: unknown): PouchClass;
  fetch(url: string, options: { headers: Headers }): Promise<unknown>;
  replicate(source: object, target: object, options: object): Replication;
};

let pouch: PouchClass | undefined;

/** Few programs ever replicate: what that takes is loaded when one does. */
function loadPouch(): PouchClass {
  const load = createRequire(import.meta.url) as (name: string) => unknown;
  const core = load('pouchdb-core') as PouchClass;
  return core.plugin(load('pouchdb-adapter-http')).plugin(load('pouchdb-replication'));
}

/** Starts PouchDB's replicator between two databases. */
export function replicate(
  source: ReplicationPeer,
  target: ReplicationPeer,
  options: ReplicationOptions,
  changed: (progress: ReplicationProgress) => void,
): RunningReplication {
  const PouchDB = (pouch ??= loadPouch());
  const running = PouchDB.replicate(connect(PouchDB, source), connect(PouchDB, target), {
    ...options,
    batch_size: 100,
  });
  void running.on('change', changed);
  return { done: running.then((progress) => progress), cancel: () => running.cancel() };
}

const connect = (PouchDB: PouchClass, { url, auth, headers = {} }: ReplicationPeer): object =>
  new PouchDB(url, {
    adapter: url.startsWith('https:') ? 'https' : 'http',
    // Whether the target has to exist or be made is decided before.
    skip_setup: true,
    ...(auth === undefined ? {} : { auth }),
    fetch: (address: string, options: { headers: Headers }) => {
      for (const [name, value] of Object.entries(headers)) options.headers.set(name, value);
      return PouchDB.fetch(address, options);
    },
  });
