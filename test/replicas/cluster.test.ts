import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEngine } from '../../src/engine/engine.js';
import type { Log } from '../../src/engine/log.js';
import { loadPlugins } from '../../src/plugin/loader.js';
import { createDatabase } from '../../src/store/database.js';
import { installDesign } from '../../src/store/design.js';
import { openStore, type Store } from '../../src/store/store.js';
import type { NewDocument } from '../../src/store/writer.js';
import { couchKind, couchUrl, removeAfterwards, request } from '../support/couch.js';
import { withGuard } from '../support/guard.js';
import { connect } from '../store/connect.js';

/** Where the nodes of the cluster are, if it has three; an embedded server has none. */
async function nodeUrls(): Promise<readonly string[]> {
  if (couchKind() !== 'couchdb') return [];
  const { body } = await request('GET', '/_membership');
  const names = (body['cluster_nodes'] ?? []) as readonly string[];
  const ports = names.map((name) =>
    request<string>('GET', `/_node/${name}/_config/chttpd/port`).then((answer) => answer.body),
  );
  const { protocol, hostname } = new URL(couchUrl());
  return (await Promise.all(ports)).map((port) => `${protocol}//${hostname}:${port}`);
}

const nodes = await nodeUrls();

describe.skipIf(nodes.length < 3)('on a cluster that keeps three copies', () => {
  it('engines at different nodes run every step of 50 jobs once', async () => {
    const { store, stores, folder } = await threeCopies();
    const witness = join(folder, 'witness');
    await writeFile(
      join(folder, 'noted.mjs'),
      `import { appendFileSync } from 'node:fs';
       export default ({ job, step, params }) =>
         appendFileSync(params.witness, job._id + ' ' + step.path + '\\n');`,
    );
    await put(store, {
      _id: 'task:DEFAULT:noted',
      type: 'task',
      name: 'noted',
      params: { witness },
    });
    const tasks = ['noted', 'noted', 'noted'];
    await put(store, { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks });
    const ids = Array.from({ length: 50 }, (_, i) => `job-${i}`);
    await Promise.all(ids.slice(0, 25).map((_id) => put(store, jobOf(_id))));
    const plugins = await loadPlugins({ folders: [folder], log: () => undefined });
    const engines = await Promise.all(
      stores
        .slice(0, 2)
        .map((one) => startEngine({ store: one, plugins, log: silent, cwd: folder })),
    );
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.stop()));
    });
    await Promise.all(ids.slice(25).map((_id) => put(store, jobOf(_id))));

    const unfinished = async (): Promise<number> => (await store.view('unfinished')).length;
    await expect.poll(unfinished, { interval: 500 }).toBe(0);
    const calls = (await readFile(witness, 'utf8')).trim().split('\n').sort();
    const wanted = ids.flatMap((id) => tasks.map((_task, i) => `${id} ${i}`)).sort();
    expect(calls).toEqual(wanted);
    for (const id of ids) {
      const leaves = await store.leaves(id, 3);
      expect(leaves).toHaveLength(1);
      expect(leaves[0]).toMatchObject({ state: '$$complete', exit: 0 });
    }
  });
});

/** A database with three copies, seen through each node. */
async function threeCopies() {
  const database = `tws-test-${randomUUID()}`;
  const connections = nodes.map((url) => connect(database, url));
  const made = await createDatabase(connect(database), { copies: 3 });
  removeAfterwards(database);
  expect(made.copies).toBe(3);
  await installDesign(connect(database), { guard: withGuard });
  const folder = await mkdtemp(join(tmpdir(), 'tws-cluster-'));
  const stores = connections.map((connection) => openStore(connection));
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await rm(folder, { recursive: true, force: true });
  });
  return { store: stores[2] as Store, stores, folder };
}

async function put(store: Store, doc: NewDocument) {
  const result = await store.write(doc);
  if (result.kind !== 'written') throw new Error(`${doc._id}: ${JSON.stringify(result)}`);
}

const jobOf = (_id: string) => ({ _id, type: 'job', flow: 'f', owner: 'me' });

const ignore = (): void => undefined;
const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
