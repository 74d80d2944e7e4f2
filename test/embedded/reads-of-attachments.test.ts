import { randomBytes } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

import { hasSqlite } from '../../src/embedded/storage/sqlite/node-sqlite.js';
import { Absent } from '../../src/embedded/storage/storage.js';
import { needsSqlite, openKind, testDirectory } from './storages.js';

test.skipIf(!hasSqlite())(
  `an attachment is read while what others write is not on disk yet${needsSqlite}`,
  async () => {
    const store = await openKind('sqlite');
    const data = randomBytes(300_000);
    const files = { file: { content_type: 'text/plain', data } };
    await store.write([{ _id: 'doc', _attachments: files }], { newEdits: true });
    const found = await store.attachment('doc', 'file');
    if (found === undefined || found instanceof Absent) throw new Error('not there');

    let sync = (): void => undefined;
    const synced = new Promise<void>((resolve) => (sync = resolve));
    const probe = await open(join(await testDirectory(), 'probe'), 'w');
    const handles = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
    const waits = vi.spyOn(handles, 'datasync').mockImplementation(() => synced);
    let isWritten = false;
    const writing = store.write([{ _id: 'other' }], { newEdits: true }).then(() => {
      isWritten = true;
    });
    await expect.poll(() => waits.mock.calls.length).toBeGreaterThan(0);

    const pieces: Buffer[] = [];
    for await (const piece of found.read(0, data.length - 1)) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(data)).toBe(true);
    expect(isWritten).toBe(false);
    sync();
    await writing;
    found.close();
  },
);
