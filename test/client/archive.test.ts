import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../src/client.js';
import { bucketObjects } from '../../src/client/archive/bucket.js';
import { folderObjects } from '../../src/client/archive/folder.js';
import { bucketCredentials, startBucketServer } from '../../src/mailbox/bucket-server.js';
import type { Retain } from '../../src/model/retain.js';
import type { Connection } from '../../src/store/connection.js';
import { removeAfterwards, request } from '../support/couch.js';
import { openWorkspace } from '../support/workspace.js';

const now = Date.UTC(2026, 0, 31);
const day = 86_400_000;

/** A job that ended so many days before now. */
const ended = (_id: string, days: number, more: object = {}) => ({
  ...{ _id, type: 'job', flow: 'f', owner: 'me', state: '$$complete', exit: 0, steps: [] },
  ...{ start: now - days * day - 1_000, end: now - days * day },
  ...more,
});
const child = (job: string) => ({ parent: { job, step: 's' } });
const bytes = Buffer.from([0, 255, 254, 10, 13]);
const _attachments = {
  'r.bin': { content_type: 'application/octet-stream', data: bytes.toString('base64') },
};

const family = () => [
  ended('a', 40, { params: { ü: '😀' } }),
  ended('b', 40, { ...child('a'), _attachments }),
  { _id: 'q', type: 'signal', job: 'a', name: 'go', _attachments },
  ended('c', 35, { flow: 'g' }),
  ended('new', 1),
];

type Archive = NonNullable<Retain['archive']>;

async function ready(archiveIn: (folder: string, database: string) => Archive) {
  const workspace = await openWorkspace();
  const { store } = workspace;
  const root = await mkdtemp(join(tmpdir(), 'tws-archive-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const database = `${store.connection.database}-old`;
  removeAfterwards(database);
  const archive = archiveIn(root, database);
  const usual: Retain = { succeeded: { age: 'P30D' }, archive };
  const client = createClient({ store });
  const retain = (more: object = {}) => client.retain({ now, usual, root, ...more });
  return { ...workspace, client, root, usual, retain, from: { usual, root } };
}

async function bucket(): Promise<Archive> {
  const dir = await mkdtemp(join(tmpdir(), 'tws-bucket-'));
  const server = await startBucketServer({ port: 0, dir, buckets: ['old'] });
  onTestFinished(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  vi.stubEnv('AWS_ACCESS_KEY_ID', bucketCredentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', bucketCredentials.secretAccessKey);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { s3: { bucket: 'old', prefix: 'jobs/', endpoint: server.endpoint, path_style: true } };
}

describe.each<[string, () => Promise<(folder: string, database: string) => Archive>]>([
  ['a folder', () => Promise.resolve(() => ({ folder: 'old/jobs' }))],
  ['a database', () => Promise.resolve((_folder, database) => ({ database }))],
  [
    'a bucket',
    async () => {
      const place = await bucket();
      return () => place;
    },
  ],
])('an archive in %s', (_title, place) => {
  // Shows X-37.
  it('U31: has what retention removed, shows it and puts it back as it was', async () => {
    const { put, retain, client, from, store } = await ready(await place());
    await put(...family());
    const before = await store.get('a');
    const result = await retain();
    expect(result).toMatchObject({ archived: 2, documents: 4, failures: [], kept: [] });
    expect((await store.getMany(['a', 'b', 'q', 'c', 'new'])).size).toBe(1);

    const listed = await client.archived(from);
    expect(listed.map(({ job, documents }) => [job, documents])).toEqual([
      ['c', 1],
      ['a', 3],
    ]);
    expect(await client.archived(from, { flow: 'g::me' })).toHaveLength(1);
    expect(await client.archived(from, { since: now - 36 * day })).toHaveLength(1);
    const shown = await client.archivedJob(from, { job: 'a' });
    expect(shown.docs[0]).toMatchObject({ _id: 'a', params: { ü: '😀' } });
    expect(shown.docs.map(({ _id }) => _id).sort()).toEqual(['a', 'b', 'q']);
    const signal = shown.docs.find(({ _id }) => _id === 'q');
    expect(signal?.['_attachments']).toMatchObject(_attachments);

    expect((await client.restore(from, 'a')).stored).toEqual(['b', 'a']);
    const again = await client.restore(from, 'a');
    expect(again).toEqual({ stored: [], there: expect.arrayContaining(['a', 'b']) as unknown });
    const { _rev, restored, ...after } = (await store.get('a')) as Record<string, unknown>;
    expect(restored).toMatchObject({ from: expect.any(String) as string });
    expect({ ...after, _rev: before?._rev }).toEqual(before);
    const copy = await store.copy('b', String((await store.get('b'))?._rev));
    const files = copy?.['_attachments'] as typeof _attachments;
    expect(files['r.bin'].data).toBe(bytes.toString('base64'));
    // It stays as long as if it had ended when it came back.
    await retain();
    expect((await store.getMany(['a', 'b'])).size).toBe(2);

    await retain({ now: Date.now() + 31 * day });
    expect(await client.archived(from)).toHaveLength(3);
    await expect(client.archivedJob(from, { job: 'none' })).rejects.toMatchObject({
      code: 'archived_missing',
    });
  });
});

describe('an archive', () => {
  it('keeps jobs that it cannot take, and those of others go', async () => {
    const { put, retain, store, root } = await ready(() => ({ folder: 'file' }));
    await writeFile(join(root, 'file'), '');
    await put(
      { _id: 'g', type: 'flow', name: 'g', owner: 'me', tasks: ['t'], retain: { archive: {} } },
      ...family(),
    );
    const flow = await store.get('g');
    await put({ ...flow, retain: { succeeded: { age: 'P30D' }, archive: {} } });
    const { kept, failures, archived } = await retain();
    expect(kept).toEqual([{ id: 'a', because: 'archive', job: 'a' }]);
    expect(failures).toMatchObject([{ archive: 'folder file' }]);
    expect(archived).toBe(0);
    expect([...(await store.getMany(['a', 'b', 'c'])).keys()].sort()).toEqual(['a', 'b']);
  });

  it('in a folder is gzip: every line can be read without us, and a changed one is noticed', async () => {
    const { put, retain, root, client, from } = await ready(() => ({ folder: 'old' }));
    await put(...family());
    await retain();
    const names = await readdir(join(root, 'old'));
    const data = names.find((name) => name.endsWith('.jsonl.gz')) ?? '';
    const file = join(root, 'old', data);
    const written = await readFile(file);
    const lines = gunzipSync(written).toString().trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(data).toContain(createHash('sha256').update(written).digest('hex').slice(0, 16));
    written[written.length - 5] = (written[written.length - 5] ?? 0) ^ 1;
    await writeFile(file, written);
    const shown = Promise.allSettled(['a', 'c'].map((job) => client.archivedJob(from, { job })));
    const codes = (await shown).map((one) =>
      one.status === 'rejected' ? (one.reason as { code: string }).code : 'fine',
    );
    expect(codes.sort()).toEqual(['archive_failed', 'fine']);
  });

  it('U32: lists no batch whose index is missing, and one that was stored twice once', async () => {
    const { put, retain, root, client, from } = await ready(() => ({ folder: 'old' }));
    const folder = join(root, 'old');
    const index = async () => (await readdir(folder)).filter((name) => name.endsWith('.json'));
    await put(...family());
    await retain();
    await client.restore(from, 'a');
    await retain({ now: Date.now() + 31 * day });
    expect(await index()).toHaveLength(2);
    await writeFile(join(folder, 'other.index.json'), '{"at": 1, "data": "../x", "jobs": []');
    expect(await client.archived(from)).toHaveLength(3);
    for (const name of await index()) await rm(join(folder, name));
    expect(await client.archived(from)).toEqual([]);
  });

  it.each([
    ['by name', ({ database }: Connection) => database],
    [
      'under another address',
      ({ url, database }: Connection) => {
        const there = new URL(url);
        there.hostname = there.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
        return `${there.href}${database}`;
      },
    ],
  ])('is not the database of the jobs, %s', async (_title, addressOf) => {
    const { put, retain, store, root } = await ready(() => ({}));
    await put(...family());
    const usual = {
      succeeded: { age: 'P30D' },
      archive: { database: addressOf(store.connection) },
    };
    expect((await retain({ usual, root })).failures).toMatchObject([
      { message: expect.stringContaining('it is the database of the jobs') as string },
    ]);
    expect((await store.getMany(['a', 'c'])).size).toBe(2);
    const locals = await request('GET', `/${store.connection.database}/_local_docs`);
    expect(locals.text).not.toContain('tws-mark');
  });

  it('in a folder leaves no draft of a file that cannot be written', async () => {
    const root = await mkdtemp(join(tmpdir(), 'tws-archive-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    await mkdir(join(root, 'a'));
    await expect(folderObjects(root, 'folder').put('a', Buffer.from('x'))).rejects.toThrow();
    // Nothing can be made there, and the system says of each folder that it is missing.
    if (process.platform === 'linux') {
      const nowhere = folderObjects('/proc/none/deep/archive', 'folder');
      await expect(nowhere.put('a', Buffer.from('x'))).rejects.toThrow(
        "ENOENT: no such file or directory, mkdir '/proc/none'",
      );
    }
    expect(await readdir(root)).toEqual(['a']);
  });

  it.each([
    [undefined, undefined, 'us-east-1'],
    [undefined, 'eu-central-1', 'eu-central-1'],
    ['eu-west-1', 'eu-central-1', 'eu-west-1'],
  ])(
    'in a bucket with the region %s, and %s of the environment, signs for %s',
    async (...given) => {
      const [region, ofEnvironment, wanted] = given;
      const signed: string[] = [];
      const server = createServer((request, response) => {
        signed.push(request.headers.authorization ?? '');
        response.end('x');
      }).listen(0, '127.0.0.1');
      onTestFinished(() => void server.close());
      await once(server, 'listening');
      const { s3 } = await bucket();
      vi.stubEnv('AWS_REGION', ofEnvironment);
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const there = { ...s3, bucket: 'old', endpoint, ...(region === undefined ? {} : { region }) };
      const objects = bucketObjects(there, process.cwd(), 'bucket');
      await objects.get('a');
      await objects.close();
      expect(signed).toEqual([expect.stringContaining(`/${wanted}/s3/`)]);
    },
  );

  it('leaves the settings of a database that exists', async () => {
    const { put, retain, store } = await ready((_folder, database) => ({ database }));
    const old = `/${store.connection.database}-old`;
    await request('PUT', old);
    await request('PUT', `${old}/_revs_limit`, { body: 500 });
    await put(...family());
    expect((await retain()).archived).toBe(2);
    expect((await request('GET', `${old}/_revs_limit`)).body).toBe(500);
  });

  it('restores nothing when another document has one of the ids', async () => {
    const { put, retain, client, from, store } = await ready(() => ({ folder: 'old' }));
    await put(...family());
    await retain();
    await put(ended('b', 1, { params: 'other' }));
    await expect(client.restore(from, 'a')).rejects.toMatchObject({ code: 'restore_taken' });
    expect(await store.get('a')).toBeUndefined();
  });

  it('is told to be missing where none is named', async () => {
    const { client, root } = await ready(() => ({}));
    await expect(client.archived({ root })).rejects.toMatchObject({ code: 'archive_unset' });
  });
});
