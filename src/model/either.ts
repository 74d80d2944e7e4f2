import type { z } from 'zod';
import { toProblems, type Problem } from './problems.js';

type Valid<K extends string, V> = {
  readonly kind: K;
  readonly ok: true;
  readonly value: V;
};
export type Invalid<K extends string> = {
  readonly kind: K;
  readonly ok: false;
  readonly problems: readonly [Problem, ...Problem[]];
};
/** A document of a kind as it is read, or what is wrong with it. */
export type Either<K extends string, V> = Valid<K, V> | Invalid<K>;

/** What zod found in a document, as sentences. */
export function invalid<K extends string>(
  kind: K,
  issues: readonly z.core.$ZodIssue[],
  doc: object,
): Invalid<K> {
  const [first, ...others] = toProblems(issues, doc);
  const problems: readonly [Problem, ...Problem[]] = [
    first ?? { path: '', message: 'The document is not valid.' },
    ...others,
  ];
  return { kind, ok: false, problems };
}
