import { createMemo } from '../memo.js';
import { loadRe2 } from '../plugin/late-packages.js';
import { patternWeight } from './pattern-weight.js';

/** A regular expression of a user: it can be matched, or the reason says why not. */
export type Pattern =
  | { readonly ok: true; readonly matches: (text: string) => boolean }
  | { readonly ok: false; readonly reason: string };

/** Number of compiled patterns that are kept. */
const kept = 500;

/**
 * Weight (see `patternWeight`) of the heaviest pattern. Compiling it and matching it against a target
 * of the greatest length take some tens of milliseconds together, on the event loop.
 */
export const heaviestPattern = 1_000;

const patterns = createMemo<Pattern>(kept);

/**
 * Reads a regular expression in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax). It
 * matches anywhere in the text, in a time that grows with the length of the text only: patterns come
 * from users, and one of them must not stop an engine.
 */
export function readPattern(text: string): Pattern {
  return patterns(text, () => compile(text));
}

/** Reads the `locks` of a job: a pattern that is also bounded in size. */
export function readLockPattern(text: string): Pattern {
  return lockPatterns(text, () => {
    const weight = patternWeight(text);
    return weight > heaviestPattern ? tooHeavy : readPattern(text);
  });
}

/** Whether a lock that is held has a pattern that no engine judges, though an earlier version gave it. */
export function isTooHeavy(text: string): boolean {
  return readLockPattern(text) === tooHeavy;
}

const lockPatterns = createMemo<Pattern>(kept);

const tooHeavy: Pattern = {
  ok: false,
  reason: `it repeats its parts too often (written out, more than ${heaviestPattern} of them); use "*" or "+", or smaller counts`,
};

/** Why the `locks` of a job cannot be read, or undefined. */
export function checkLockPattern(text: string): string | undefined {
  const pattern = readLockPattern(text);
  return pattern.ok ? undefined : pattern.reason;
}

function compile(text: string): Pattern {
  const { RE2JS } = loadRe2();
  try {
    const compiled = RE2JS.compile(text);
    return { ok: true, matches: (target) => compiled.test(target) };
  } catch (error) {
    const { message } = error as { message?: unknown };
    return { ok: false, reason: String(message).replace(/^error parsing regexp: /, '') };
  }
}
