import { guard, guardText } from '../../guard.js';
import type { CallResult } from './program.js';

/**
 * Whether a `validate_doc_update` is the guard of this version, byte for byte. It comes with the
 * package, as the server does, so it needs no sandbox; any other text does.
 */
export function isShippedGuard(source: string): boolean {
  return source === guardText;
}

/**
 * Runs the guard in this thread. `call` is JSON, `[new, old, user, security]`, as the sandbox gets it:
 * what JSON does not hold, such as a prototype, does not reach the guard either.
 */
export function callGuard(call: string): CallResult {
  const [next, old, user, security] = JSON.parse(call) as readonly unknown[];
  try {
    guard(next, old, user, security);
    return { ok: 'null' };
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'forbidden' in error) {
      return { ok: JSON.stringify({ forbidden: error.forbidden }) };
    }
    const { name, message } = error as Error;
    return { threw: { name, message } };
  }
}
