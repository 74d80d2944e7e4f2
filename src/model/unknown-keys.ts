import type { z } from 'zod';

/** Refuses keys that nothing reads: a mistyped one would change what happens against the author's will. */
export function refuseUnknown(
  value: object,
  known: readonly string[],
  context: z.core.$RefinementCtx<unknown>,
): void {
  for (const key of Object.keys(value).filter((one) => !known.includes(one))) {
    const message = `must be left out: there can be only ${known.join(', ')}`;
    context.addIssue({ code: 'custom', path: [key], message, params: { isComplete: true } });
  }
}
