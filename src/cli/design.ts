import type { PreparedDatabase } from '../client.js';
import type { Io } from './io.js';

/** Prints what installing the design document did. */
export function showDesign(installed: PreparedDatabase['design'], app: string, io: Io): void {
  const changed = Object.entries(installed).filter(([, done]) => done !== 'unchanged');
  for (const [part, done] of changed) {
    io.out(`${done === 'inserted' ? 'inserting' : 'updating'}: _design/${app} ${part}`);
  }
  if (changed.length === 0) io.out(`skipping: _design/${app} (already up to date)`);
}
