import { TestRunner } from 'vitest';
import { findProgram, type Program } from '../../bench/programs.js';

/**
 * Skips the running test, with a note, on a machine without these programs. Where
 * `TWS_TESTS_SKIP=never` (continuous integration) a missing program fails the test instead.
 */
export function needPrograms(...wanted: readonly Program[]): void {
  const missing = wanted.filter((program) => findProgram(program) === undefined);
  if (missing.length === 0) return;
  const note = skipNote(missing);
  if (process.env['TWS_TESTS_SKIP'] === 'never') throw new Error(`This test ${note}.`);
  TestRunner.getCurrentTest()?.context.skip(note);
}

/** Says in a skipped test what it needs; `programsIn` reads it. */
export const skipNote = (missing: readonly string[]): string => `needs ${missing.join(', ')}`;

/** The programs that a note of `skipNote` names. */
export function programsIn(note: string | undefined): readonly string[] {
  const [, list] = /^needs (.+)$/.exec(note ?? '') ?? [];
  return list?.split(', ') ?? [];
}
