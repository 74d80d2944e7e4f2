import type { StepForm } from './step.js';

/* Links by which people answer a form without signing in. */

/** What a link is bound to: one wait of one job, and the user it was made for. Times are epoch ms. */
export type LinkPlace = {
  readonly job: string;
  /** Path and attempt of the step, and when it began to wait. */
  readonly path: string;
  readonly attempt: number;
  readonly since: number;
  /** The user who answers by it. */
  readonly for: string;
  /** It is good until then. */
  readonly until: number;
};

/** A link as its step has it: whose it is, until when it is good, and the hash of its token. */
export type StepLink = NonNullable<StepForm['links']>[number];

/** What decisions ask of the key from which links are made. The same arguments give the same answers. */
export type LinkProofs = {
  /** The hash of the token of a link. */
  readonly hashOf: (place: LinkPlace) => string;
  /** The text in the parameters of a notification in whose place an attempt gets the link. */
  readonly markOf: (notification: string, hash: string) => string;
  /** Whether an answer with these data was given by the holder of that link. */
  readonly proves: (proof: unknown, place: LinkPlace, data: unknown) => boolean;
};

/**
 * Links by which people answer. A token is `<job>.<code>`, the code an HMAC-SHA-256 (256 bits) of what the link is
 * bound to: nobody without the key can make one, and documents hold only its hash.
 */
export type AnswerLinks = LinkProofs & {
  /** The job and the code of a token; undefined: it is none. */
  readonly read: (token: string) => { readonly job: string; readonly code: string } | undefined;
  /** The token of a link; undefined: no key that is known made the one with this hash. */
  readonly tokenOf: (place: LinkPlace, hash: string) => string | undefined;
  /** Whether a code is that of a link. Takes the same time for any code. */
  readonly holds: (code: string, place: LinkPlace, hash: string) => boolean;
  /** What an answer by a link carries; bound to its data. */
  readonly proofOf: (place: LinkPlace, data: unknown) => string;
};

/** So long a link is good where neither the entry nor its `due` says so, ms. */
export const usualLinkMs = 7 * 86_400_000;

/** As what somebody answers by a link. */
export const byLink = 'link';

/** The place of a link of a step. */
export function linkPlace(
  step: Pick<LinkPlace, 'job' | 'path' | 'attempt' | 'since'>,
  { for: user, until }: Pick<StepLink, 'for' | 'until'>,
): LinkPlace {
  const { job, path, attempt, since } = step;
  return { job, path, attempt, since, for: user, until };
}
