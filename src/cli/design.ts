import type { PreparedDatabase } from '../client.js';
import type { Io } from './io.js';

type Done = PreparedDatabase['design'][string];

const verbs: Partial<Record<Done, string>> = {
  inserted: 'inserting',
  updated: 'updating',
  removed: 'removing',
};

/** Prints what installing the design documents did. */
export function showDesign(installed: PreparedDatabase['design'], app: string, io: Io): void {
  const { guard, ...parts } = installed;
  const changed = Object.entries(parts).filter(([, done]) => verbs[done] !== undefined);
  for (const [part, done] of changed) io.out(`${verbs[done]}: _design/${app} ${part}`);
  const isGuardChanged = guard !== undefined && verbs[guard] !== undefined;
  if (isGuardChanged) io.out(`${verbs[guard]}: _design/${app}_guard`);
  if (changed.length === 0 && !isGuardChanged) {
    io.out(`skipping: _design/${app} (already up to date)`);
  }
  if (guard === 'left_out') {
    io.out(`leaving out: _design/${app}_guard (--guard of tws init installs it)`);
  }
  if (parts['validate_doc_update'] === 'kept') {
    io.out(`keeping: _design/${app} validate_doc_update (it is not of tws)`);
  }
}
