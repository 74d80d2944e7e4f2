import { LAST, scanLevel } from './level.js';
import type { Pouch, PouchError } from './pouch.js';
import type { Session } from './session.js';
import type { Doc, DocumentStore } from './storage.js';

/** PouchDB's own notes, which nobody asked for. */
const HIDDEN = new Set(['_local/compaction']);
const PREFIX = '\u00fflocal-store\u00ff';

/** The `_local` documents of a store on PouchDB. */
export function locals({
  use,
  pouch,
  level,
}: Session): Pick<DocumentStore, 'getLocal' | 'putLocal' | 'removeLocal' | 'listLocal'> {
  return {
    getLocal: (id) => use(() => read(pouch(), id)),
    putLocal: (doc) => use(() => overwrite(pouch(), doc)),
    removeLocal: (id) =>
      use(async () => {
        const current = await read(pouch(), id);
        if (current === undefined) return false;
        await pouch().remove(current).catch(ignoreConflict);
        return true;
      }),
    listLocal: () =>
      use(async () => {
        const docs: Doc[] = [];
        for await (const { value } of scanLevel(level(), { from: PREFIX, to: PREFIX + LAST })) {
          docs.push(JSON.parse(value) as Doc);
        }
        return docs.filter((doc) => !HIDDEN.has(doc._id));
      }),
  };
}

/** PouchDB compares revisions here and CouchDB does not: whoever comes last wins. */
async function overwrite(pouch: Pouch, { _rev, ...body }: Doc): Promise<string> {
  for (;;) {
    const current = await read(pouch, body._id);
    const next = current?._rev === undefined ? body : { ...body, _rev: current._rev };
    const written = await pouch.put(next).catch(ignoreConflict);
    if (written !== undefined) return written.rev;
  }
}

const read = (pouch: Pouch, id: string): Promise<Doc | undefined> =>
  pouch.get(id, {}).catch((error: PouchError) => {
    if (error.status === 404) return undefined;
    throw error as Error;
  });

const ignoreConflict = (error: PouchError): undefined => {
  if (error.status === 409 || error.status === 404) return undefined;
  throw error as Error;
};
