import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether there is room on the disk. LevelDB takes no more writes once one has failed. */
export type Disk = {
  readonly isFull: () => boolean;
  /** A write failed for want of room: the stores are opened again as soon as there is some. */
  readonly noticed: () => void;
  readonly close: () => Promise<void>;
};

export type DiskOptions = {
  /** The directory of the stores. */
  readonly dir: string;
  /** Opens all stores again. Rejects when one cannot be opened, which may be asked again. */
  readonly reopen: () => Promise<void>;
  /** Called once when the disk is full, and once when it has room again. */
  readonly tell: (message: string) => void;
  /** Whether so many bytes can be written into the directory; by default it is tried. */
  readonly hasRoom?: (bytes: number) => Promise<boolean>;
  /** Between two looks, ms. */
  readonly everyMs?: number;
};

/** What opening LevelDB may write: the log it recovers, as a table. */
const roomBytes = 4_000_000;
const usualEveryMs = 1_000;

export function watchDisk(options: DiskOptions): Disk {
  const { dir, reopen, tell, everyMs = usualEveryMs } = options;
  const { hasRoom = (bytes: number) => canWrite(dir, bytes) } = options;
  let full = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    const isBack = await hasRoom(roomBytes).then((room) => room && reopen().then(() => true));
    if (!isBack) return lookLater();
    full = false;
    tell('There is room on the disk again: everything is stored as before.');
  };
  const lookLater = (): void => {
    if (closed) return;
    timer = setTimeout(() => {
      looking = look().catch(lookLater);
    }, everyMs).unref();
  };
  return {
    isFull: () => full,
    noticed: () => {
      if (full || closed) return;
      full = true;
      tell(`No space left on the disk of ${dir}: nothing is stored until there is some.`);
      lookLater();
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

/** Whether an error says that there is no room: of the file system, of LevelDB, PouchDB or SQLite. */
export function isDiskFull(error: unknown): boolean {
  const { code, message, reason } = (error ?? {}) as Record<string, unknown>;
  if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  return [message, reason].some((text) =>
    /No space left on device|Disk quota|database or disk is full/.test(String(text)),
  );
}

async function canWrite(dir: string, bytes: number): Promise<boolean> {
  const file = join(dir, '.room');
  try {
    const handle = await open(file, 'w', 0o600);
    try {
      await handle.writeFile(Buffer.alloc(bytes));
      await handle.sync();
    } finally {
      await handle.close();
    }
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}
