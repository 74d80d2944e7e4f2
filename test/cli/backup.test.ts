import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAll, type BackedUp } from '../../src/client-rules.js';
import { isMoving } from '../../src/client/moving.js';
import { createTally } from '../../src/cli/backup/tally.js';
import { backup } from '../../src/cli/commands/backup.js';
import { enable } from '../../src/cli/commands/enable.js';
import { restore } from '../../src/cli/commands/restore.js';
import { sensitiveDatabases } from '../../src/model/sensitive.js';
import { createKeyring } from '../../src/secrets/keyring.js';
import { openVault } from '../../src/sensitive/vault.js';
import { compareDocuments } from '../../src/store/same-documents.js';
import { openStore } from '../../src/store/store.js';
import { removeAfterwards } from '../support/couch.js';
import { openProject } from './database.js';
import { flow, task } from './terminal.js';

const file = 'b.tws.gz';
const key = 'k'.repeat(32);
const data = Buffer.from('a large result').toString('base64');

async function installation(more = 0) {
  const opened = await openProject();
  const { put, store, env } = opened;
  await put(
    { ...task('noop'), _id: 'task:DEFAULT:noop' },
    { ...flow('f', ['noop']), _id: 'flow:DEFAULT:f' },
    {
      ...{ _id: 'ended', type: 'job', flow: 'f', state: '$$complete', exit: 0, steps: [] },
      _attachments: { big: { content_type: 'text/plain', data } },
    },
    { _id: 'waits', type: 'job', flow: 'f', owner: 'DEFAULT' },
    ...Array.from({ length: more }, (_, n) => ({ _id: `event-${n}`, type: 'event', n })),
  );
  const { database } = store.connection;
  const restored = `${database}-restored`;
  removeAfterwards(restored);
  for (const name of [database, restored]) {
    const { values, keys } = sensitiveDatabases(name);
    for (const one of [values, keys]) removeAfterwards(one);
  }
  const target = openStore({ ...store.connection, database: restored });
  const there = { ...env, COUCH_DATABASE: restored, TWS_CRYPTO_KEY: key };
  return { ...opened, restored, target, there };
}

describe('tws backup and tws restore', () => {
  // Shows X-59.
  it('keep documents, revisions and attachments, and let nobody work on the copy until it is enabled', async () => {
    const { tws, store, target, there, put, root, restored, engine } = await installation();
    await put({ ...(await store.get('ended')), tags: ['later'] });
    const made = await tws(backup, { args: [file] });
    expect(made.exit, made.err).toBe(0);
    const { database } = store.connection;
    const documents = (await store.info()).documents;
    expect(made.out).toContain(`${database}: ${documents} documents\nwritten: ${file}, SHA-256`);
    expect(await readdir(root)).not.toContain(`${file}.part`);
    const seen = await tws(backup, { args: [file], flags: { verify: true } });
    expect(seen.json).toMatchObject({
      databases: [{ database, part: 'main', documents, live_jobs: 1 }],
    });
    const { exit, out, err } = await tws(restore, { args: [file], env: there });
    expect(exit, err).toBe(0);
    expect(out).toContain(`restored: ${restored}, ${documents} documents, each compared`);
    expect(out).toContain('1 job has not ended. No engine and no worker begins a step here.');
    const isDesign = (id: string): boolean => id.startsWith('_design/');
    const compared = await compareDocuments(store.connection, target.connection, isDesign);
    expect(compared).toMatchObject({ documents: 4, different: 0 });
    expect(await target.attachment('ended', 'big')).toBe('a large result');

    expect(await target.get('engine-control:*')).toMatchObject({ enabled: false });
    expect(await isMoving(target)).toBe(true);
    expect((await tws(enable, { args: ['*'], env: there })).exit).toBe(0);
    expect(await isMoving(target)).toBe(false);
    await engine({ store: target });
    await expect.poll(async () => (await target.get('waits'))?.['state']).toBe('$$complete');
    expect((await store.get('waits'))?.['state']).toBeUndefined();
  });

  // Shows M-04, X-59.
  it('keep sensitive values encrypted, and their keys only where these are asked for', async () => {
    const { tws, store, target, there, root } = await installation();
    const vault = openVault(store.connection, createKeyring(key));
    await vault.prepare();
    const of = await vault.put('DEFAULT', 'ada', { iban: 'DE02120300000000202051' });
    await vault.close();
    await tws(backup, { args: [file] });
    await tws(backup, { args: ['keys.gz'], flags: { subjectKeys: true } });
    const parts = async (name: string): Promise<unknown> =>
      (await tws(backup, { args: [name], flags: { verify: true } })).json;
    expect(await parts(file)).toMatchObject({ databases: [{ part: 'main' }, { part: 'values' }] });
    expect((await readFile(join(root, 'keys.gz'))).includes('DE0212')).toBe(false);
    const { exit, err } = await tws(restore, { args: ['keys.gz'], env: there });
    expect(exit, err).toBe(0);
    expect(err).not.toContain('no keys of subjects');
    const again = { args: [file], env: there, flags: { intoUsed: true } };
    expect((await tws(restore, again)).err).toContain('The backup holds no keys of subjects');
    const copy = openVault(target.connection, createKeyring(key));
    expect(await copy.open(of, 'iban')).toBe('DE02120300000000202051');
    await copy.close();
  });

  it('refuse a database with documents, a file that is there, and one that is no whole backup', async () => {
    const { tws, there, root, target } = await installation();
    expect((await tws(backup)).error?.code).toBe('usage');
    await tws(backup, { args: [file] });
    expect((await tws(backup, { args: [file] })).error?.code).toBe('usage');
    expect((await tws(restore, { args: [file] })).error?.code).toBe('restore_target_used');
    expect((await tws(restore, { args: ['none.gz'], env: there })).error?.code).toBe(
      'file_missing',
    );
    const whole = await readFile(join(root, file));
    const middle = Math.floor(whole.length / 2);
    for (const [name, bytes] of [
      ['cut.gz', whole.subarray(0, whole.length - 30)],
      ['changed.gz', Buffer.from(whole).fill(7, middle, middle + 9)],
      ['text.gz', Buffer.from('{}\n')],
    ] as const) {
      await writeFile(join(root, name), bytes);
      const damaged = await tws(restore, { args: [name], env: there });
      expect(damaged.error?.code, name).toBe('backup_damaged');
      const seen = await tws(backup, { args: [name], flags: { verify: true } });
      expect(seen.error?.code, name).toBe('backup_damaged');
    }
    await expect(target.info()).rejects.toMatchObject({ code: 'database_missing' });
  });

  // Shows X-59.
  it('go on where a restore was interrupted', async () => {
    const { tws, there, store, target } = await installation(450);
    await tws(backup, { args: [file] });
    const stopping = new AbortController();
    const first = await tws(restore, {
      ...{ args: [file], env: there, stop: stopping.signal },
      onErr: (text) => {
        if (text.includes('writing ')) stopping.abort();
      },
    });
    expect(first.error?.code).toBe('interrupted');
    const begun = (await target.info()).documents;
    expect(begun).toBeLessThan(400);
    const second = await tws(restore, { args: [file], env: there });
    expect(second.exit, second.err).toBe(0);
    const isDesign = (id: string): boolean => id.startsWith('_design/');
    const { different } = await compareDocuments(store.connection, target.connection, isDesign);
    expect(different).toBe(0);
  });

  it('take along what is changed and deleted while a backup is made', async () => {
    const { store, put } = await installation(250);
    const tally = createTally();
    const all: BackedUp[] = [];
    let isFirst = true;
    for await (const { docs } of readAll(store.connection, new AbortController().signal)) {
      all.push(...docs);
      for (const doc of docs) tally.add(doc);
      if (!isFirst) continue;
      isFirst = false;
      const [one, other] = docs.filter(({ _id }) => _id.startsWith('event-'));
      await put(
        { ...(await store.get(String(one?._id))), n: 'changed' },
        { ...(await store.get(String(other?._id))), _deleted: true },
      );
    }
    const current = tally.current();
    expect(current.size).toBe((await store.info()).documents);
    const changed = all.findLast(({ n }) => n === 'changed');
    expect(current.get(String(changed?._id))?.rev).toBe(changed?._rev);
  });
});
