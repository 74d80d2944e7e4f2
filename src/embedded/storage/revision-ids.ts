/**
 * Whether a text can be the part of a revision behind its number. Documents are put together as text, so
 * nothing that JSON writes in another way is allowed, and no `-`, which ends the number.
 */
export const isRevisionId = (id: unknown): id is string =>
  typeof id === 'string' && /^[^-"\\\p{Cc}\p{Cs}]+$/u.test(id);

/** Whether a number can be that of a revision. */
export const isGeneration = (start: unknown): start is number =>
  Number.isInteger(start) && Number(start) > 0 && Number(start) < 1e15;

/** Whether a text is a revision as CouchDB writes it, `3-<id>`. */
export function isRevision(rev: unknown): rev is string {
  const [, start, id] = (typeof rev === 'string' && /^(\d{1,15})-(.*)$/s.exec(rev)) || [];
  return start !== undefined && isRevisionId(id);
}
