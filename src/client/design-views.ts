import { isObject } from '../model/object.js';
import type { Store } from '../store/store.js';

/** A view of a design document of the database, ours or a user's. */
export type ListedView = {
  readonly name: string;
  /** `_design/tws` */
  readonly design: string;
  readonly map: unknown;
  readonly reduce?: unknown;
};

/** What the client knows of design documents. */
export type ViewsOfDesigns = {
  /** The views of all design documents, by name. */
  readonly views: () => Promise<readonly ListedView[]>;
};

/** The part of the client about design documents. */
export function viewsOfDesigns(store: Store): ViewsOfDesigns {
  return { views: () => designViews(store) };
}

async function designViews(store: Store): Promise<readonly ListedView[]> {
  const found: ListedView[] = [];
  for await (const { _id: design, views } of store.rangePages('_design/')) {
    if (!isObject(views)) continue;
    for (const [name, view] of Object.entries(views)) {
      const { map, reduce } = isObject(view) ? view : {};
      found.push({ name, design, map, ...(reduce === undefined ? {} : { reduce }) });
    }
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
