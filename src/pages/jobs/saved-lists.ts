/** A list of jobs that somebody gave a name: its filter, order and columns, as the address says them. */
export type SavedList = { readonly name: string; readonly search: string };

/** So many may be saved of one database. */
export const mostSaved = 100;

/** The lists that a browser has kept, as a text. */
export function listsIn(text: string | null): readonly SavedList[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(kept) ? kept.filter(isSaved) : [];
  } catch {
    // Somebody has changed it.
    return [];
  }
}

function isSaved(value: unknown): value is SavedList {
  if (typeof value !== 'object' || value === null) return false;
  const { name, search } = value as Partial<Record<keyof SavedList, unknown>>;
  return typeof name === 'string' && typeof search === 'string';
}

/** The lists with this one, in the place of one with its name. */
export function withList(lists: readonly SavedList[], list: SavedList): readonly SavedList[] {
  return [...withoutList(lists, list.name), list].toSorted((a, b) => a.name.localeCompare(b.name));
}

export function withoutList(lists: readonly SavedList[], name: string): readonly SavedList[] {
  return lists.filter((one) => one.name !== name);
}
