import { problem } from '../errors.js';
import { findPackage } from '../plugin/packages.js';

/** Loads a package that only the mailbox needs. Throws `part_missing`. */
export async function loadPart<Module>(name: string, folder: string): Promise<Module> {
  const found = findPackage(name, folder);
  if (found === undefined) throw problem('part_missing', { part: 'The mailbox', package: name });
  return (await found.load()) as Module;
}

/** What to throw when listening failed: `mailbox_port_taken`, or the error itself for another cause. */
export function portTaken(error: unknown, port: number, what: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' ? problem('mailbox_port_taken', { port, what }) : error;
}
