import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. The recursive `mkdir` of Node never ends where the system takes no new folder
 * and says that one above is missing, as it does below `/proc`. @throws Error of the file system
 */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  const above = dirname(folder);
  try {
    await makeOne(folder, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error;
    await makeFolder(above, mode);
    await makeOne(folder, mode);
  }
}

async function makeOne(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    if (!isThere || !(await stat(folder)).isDirectory()) throw error;
  }
}
