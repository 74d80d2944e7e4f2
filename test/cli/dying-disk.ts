import { realDisk, type FileDisk } from '../../src/cli/disk.js';

/** A disk of a process that is killed before the write with this number. */
export function dying(at: number): FileDisk & { readonly count: () => number } {
  let n = 0;
  const unlessDead = <T extends readonly unknown[]>(act: (...args: T) => Promise<void>) => {
    return async (...args: T): Promise<void> => {
      n += 1;
      if (n > at) throw new Error('killed');
      await act(...args);
    };
  };
  const { write, rename, remove } = realDisk;
  return {
    write: unlessDead(write),
    rename: unlessDead(rename),
    remove: unlessDead(remove),
    count: () => n,
  };
}
