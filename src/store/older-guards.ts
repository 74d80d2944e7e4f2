import { createHash } from 'node:crypto';

/**
 * SHA-256 of every text of the guard that was part of `_design/<app>` before it became a design
 * document of its own. What has another hash is the function of a user.
 */
const shipped = new Set([
  'c3b3718000537c99696636383e1aa22f806671f77fc1207dc53d49e98bcfe42c',
  '750a4be54af89e6755d0a752f1905279ce1f3d8855ac4b30ab1e87f04c6ef760',
  'f945853883dac77013655e84ae6eb7c5ef52893d21ce2fdc57daf4980ad5631f',
  '7065e41b755844acbb5fbae6625c97595483007f81c66d6382cf0517627c8e1b',
]);

/** Whether a `validate_doc_update` found in `_design/<app>` is the guard of an earlier version. */
export function isOlderGuard(validate: unknown): boolean {
  return (
    typeof validate === 'string' && shipped.has(createHash('sha256').update(validate).digest('hex'))
  );
}
