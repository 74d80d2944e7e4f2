import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Replaces a file as one step: after a crash it is the old one or the new one. Mode 0600. */
export async function replaceFile(file: string, content: string): Promise<void> {
  const next = `${file}.new`;
  const handle = await open(next, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
  await syncDirectory(dirname(file));
}

/** Makes names that were added to a directory outlive a loss of power; Windows has no such call. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
