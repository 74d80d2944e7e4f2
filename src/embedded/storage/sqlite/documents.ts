import type { Doc, StoredChange } from '../storage.js';
import { allLeaves, type Revisions } from './histories.js';
import type { Statement } from './node-sqlite.js';

/** The row of a document, its body apart. */
export type Head = Revisions & {
  readonly key: number;
  readonly id: string;
  readonly seq: number;
  /** Whether a leaf has attachments. */
  readonly files: boolean;
};

/** A row with the body of the winning leaf. */
export type Whole = Head & { readonly body: string };

type Row = NonNullable<ReturnType<Statement['get']>>;

export const headOf = (row: Row): Head => ({
  key: row['key'] as number,
  id: row['id'] as string,
  seq: row['seq'] as number,
  rev: row['rev'] as string,
  deleted: row['deleted'] === 1,
  files: row['files'] === 1,
  line: row['line'] as string,
  tree: row['tree'] as string | null,
});

export const wholeOf = (row: Row): Whole => ({ ...headOf(row), body: row['body'] as string });

/** A document as CouchDB shows it, from the body of a leaf. */
export function jsonOf(id: string, rev: string, deleted: boolean, body: string): string {
  const rest = body === '{}' ? '}' : `,${body.slice(1)}`;
  return `{"_id":${JSON.stringify(id)},"_rev":"${rev}"${deleted ? ',"_deleted":true' : ''}${rest}`;
}

/** The body of a leaf: everything but its identity. */
export function bodyOf(doc: Doc): string {
  const { _id, _rev, _deleted, _revisions, _attachments, ...body } = doc;
  return JSON.stringify(body);
}

/** The newest state of a document, for those who follow the changes. */
export function storedChange(whole: Whole): StoredChange {
  const { id, seq, rev, deleted } = whole;
  const leaves = allLeaves(whole);
  const others = leaves.length > 1 ? leaves.slice(1).filter((leaf) => !leaf.deleted) : [];
  return withLazyDoc({
    seq,
    id,
    deleted,
    leaves: leaves.map((leaf) => leaf.rev),
    conflicts: others.map((leaf) => leaf.rev),
    json: jsonOf(id, rev, deleted, whole.body),
  });
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
