import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../make-folder.js';
import type { ArchiveObjects, ByteRange } from './batches.js';

/** Files of a folder, which is made when the first is written. A file is on disk, or not there. */
export function folderObjects(folder: string, name: string): ArchiveObjects {
  return {
    name,
    put: async (file, bytes) => {
      await makeFolder(folder, 0o700);
      const draft = join(folder, `.${file}.${process.pid}`);
      try {
        await using(draft, 'w', async (handle) => {
          await handle.writeFile(bytes);
          await handle.sync();
        });
        await rename(draft, join(folder, file));
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined);
        throw error;
      }
      await syncFolder(folder);
    },
    get: (file, range) => using(join(folder, file), 'r', (handle) => readBytes(handle, range)),
    async *names() {
      const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      yield* found.filter((file) => !file.startsWith('.'));
    },
    close: () => Promise.resolve(),
  };
}

async function using<T>(
  path: string,
  flags: 'r' | 'w',
  run: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await open(path, flags, 0o600);
  try {
    return await run(handle);
  } finally {
    await handle.close();
  }
}

async function readBytes(handle: FileHandle, range: ByteRange | undefined): Promise<Buffer> {
  if (range === undefined) return handle.readFile();
  const wanted = range.last - range.first + 1;
  const buffer = Buffer.alloc(wanted);
  let read = 0;
  while (read < wanted) {
    const { bytesRead } = await handle.read(buffer, read, wanted - read, range.first + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}

/** A name is safe only when its folder is; Windows opens no folders, and needs no such thing. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using(folder, 'r', (handle) => handle.sync());
}
