import type { LevelDown } from 'leveldown';

import type { Doc, StoredChange } from './storage.js';

/** Called with what each write changed, oldest first, once it is on disk; undefined: it has to be read. */
export type WriteListener = (changes: readonly StoredChange[] | undefined) => void;

type Operation = { readonly type: string; readonly key: unknown; readonly value?: unknown };

const BODIES = '\u00ffby-sequence\u00ff';
const TREES = '\u00ffdocument-store\u00ff';

/**
 * Overhears what PouchDB writes into its LevelDB: whoever follows the changes need not read them
 * from disk again. Tells of plain updates only (one body and one tree for each document, no
 * attachments, no conflicts); everything else it tells as "has to be read".
 */
export function tapWrites(level: LevelDown, onWrite: WriteListener): void {
  const batch = level._batch.bind(level);
  level._batch = (operations, options, done) =>
    batch(operations, options, (error) => {
      if (!error) tell(operations, onWrite);
      done(error);
    });
}

function tell(operations: readonly Operation[], onWrite: WriteListener): void {
  const bodies = putsBelow(operations, BODIES);
  if (bodies.length === 0) return;
  const trees = new Map(putsBelow(operations, TREES));
  const changes: StoredChange[] = [];
  for (const [key, body] of bodies) {
    const change = changeOf(Number(key), body, trees);
    if (change === undefined) return onWrite(undefined);
    changes.push(change);
  }
  onWrite(changes.sort((a, b) => a.seq - b.seq));
}

/** Keys (without the prefix) and values of what is put into one of PouchDB's stores. */
function putsBelow(operations: readonly Operation[], prefix: string): [string, string][] {
  return operations.flatMap(({ type, key, value }): [string, string][] => {
    const isOurs = type === 'put' && typeof key === 'string' && key.startsWith(prefix);
    return isOurs && typeof value === 'string' ? [[key.slice(prefix.length), value]] : [];
  });
}

/** PouchDB puts `_id` and `_rev` last, CouchDB shows them first. */
function changeOf(
  seq: number,
  body: string,
  trees: ReadonlyMap<string, string>,
): StoredChange | undefined {
  const at = body.lastIndexOf(',"_id":"');
  const [, quotedId = '', rev = ''] = IDENTITY.exec(body.slice(at)) ?? [];
  if (at < 0 || rev === '' || body.includes('"_attachments"')) return undefined;
  const id = JSON.parse(quotedId) as string;
  if (!isPlainTree(trees.get(id) ?? '', seq, rev)) return undefined;
  const json = `{"_id":${quotedId},"_rev":"${rev}",${body.slice(1, at)}}`;
  return withLazyDoc({ seq, id, deleted: false, leaves: [rev], conflicts: [], json });
}

const IDENTITY = /^,"_id":("(?:[^"\\]|\\.)*"),"_rev":"([^"\\]*)"\}$/;

/**
 * Whether this revision is the only leaf of the tree, and not a deletion. The tree is not parsed: it
 * is some kilobytes for each update. Siblings and further roots cannot hide, since a text in the
 * JSON has no bare quotes; a document whose id looks like them is merely read.
 */
function isPlainTree(tree: string, seq: number, rev: string): boolean {
  return (
    tree.includes(`"winningRev":"${rev}","deleted":false`) &&
    (tree.includes(`"seq":${seq},`) || tree.endsWith(`"seq":${seq}}`)) &&
    !tree.includes('],["') &&
    !tree.includes('},{"pos":')
  );
}

/** Most feeds show the text and never look into the document. */
function withLazyDoc(change: Omit<StoredChange, 'doc'>): StoredChange {
  let doc: Doc | undefined;
  return {
    ...change,
    get doc() {
      return (doc ??= JSON.parse(change.json) as Doc);
    },
  };
}
