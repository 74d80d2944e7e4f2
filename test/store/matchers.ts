import { expect } from 'vitest';

/** In an expected value: any text, or one that contains or matches `part`. */
export function text(part: string | RegExp = ''): unknown {
  return typeof part === 'string' ? expect.stringContaining(part) : expect.stringMatching(part);
}
