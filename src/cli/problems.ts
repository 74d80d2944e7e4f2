import { problem } from '../errors.js';
import type { FileProblem } from '../validate/written.js';
import type { Io } from './io.js';

/** `file: JSON path: sentence`; a sentence that begins with the path says it once. */
export function problemLine({ file, path, message }: FileProblem): string {
  const hasPath =
    path === '' || (message.startsWith(path) && !/^[\w.[]/.test(message.slice(path.length)));
  return hasPath ? `${file}: ${message}` : `${file}: ${path}: ${message}`;
}

/**
 * Prints what is wrong with files, if anything is, and ends the command.
 * @throws TwsError `documents_invalid`
 */
export function refuseProblems(
  problems: readonly FileProblem[],
  warnings: readonly FileProblem[],
  io: Io,
): void {
  if (problems.length === 0) return;
  tellProblems(problems, warnings, io);
  const files = new Set(problems.map(({ file }) => file)).size;
  throw problem('documents_invalid', { count: problems.length, files });
}

/**
 * Prints which files and documents have both changed, if any have, and ends the command.
 * @throws TwsError `push_conflicts`
 */
export function refusePushConflicts(
  conflicts: readonly FileProblem[],
  warnings: readonly FileProblem[],
  io: Io,
): void {
  if (conflicts.length === 0) return;
  tellProblems(conflicts, warnings, io);
  throw problem('push_conflicts', { count: conflicts.length });
}

function tellProblems(
  problems: readonly FileProblem[],
  warnings: readonly FileProblem[],
  io: Io,
): void {
  if (io.mode === 'json') io.json({ problems, warnings });
  else for (const found of problems) io.fail(problemLine(found));
  showWarnings(warnings, io);
}

/** Prints what may be wrong; with `--json` it is part of the result instead. */
export function showWarnings(warnings: readonly FileProblem[], io: Io): void {
  if (io.mode === 'json') return;
  for (const found of warnings) {
    io.warn(`${io.style('yellow', 'warning:', 'stderr')} ${problemLine(found)}`);
  }
}
