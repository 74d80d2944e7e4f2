/** What no id may hold: characters that terminals act upon or that are not seen, half of a pair. */
const unfit = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * Why a new task, flow or job may not have this id, as the end of a sentence; undefined when it may.
 * Ids of one or two dots are those of folders: programs that build addresses leave them out.
 */
export function unfitId(id: string): string | undefined {
  if (id === '') return 'must not be empty';
  if (id.startsWith('_')) return 'must not begin with "_"';
  if (id === '.' || id === '..') return 'must not be "." or ".."';
  return unfit.test(id)
    ? 'must not hold control characters or characters without a shape'
    : undefined;
}

/** Why a new flow may not have this version, as the end of a sentence; undefined when it may. */
export function unfitVersion(version: string): string | undefined {
  if (version !== version.trim()) return 'must not begin or end with a space';
  return unfit.test(version)
    ? 'must not hold control characters or characters without a shape'
    : undefined;
}

/** An id within a sentence, in quotation marks; what is unfit in it is escaped as in JSON. */
export function shownId(id: string): string {
  const all = new RegExp(unfit, 'gu');
  const escaped = (character: string): string =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join('');
  return JSON.stringify(id).replace(all, escaped);
}
