import type { CouchKind } from '../support/couch-server.js';

/** A check in which one kind of server does not do what CouchDB does, and why. */
export type Difference = { readonly server: CouchKind; readonly reason: string };

const notOffered = (what: string): Difference => ({
  server: 'embedded',
  reason: `the embedded server does not offer ${what} and says so with 501`,
});

/** All differences, by the title of the check. A title that no check has is an error. */
export const differences: Readonly<Record<string, Difference>> = {
  'creates a partitioned database': notOffered('partitions'),
  'goes on behind a bookmark whose document was deleted': {
    server: 'couchdb',
    reason: 'CouchDB 3.4 skips the document that comes after it',
  },
  'keeps the rows of a document that was made again before its tombstone was to be purged': {
    server: 'couchdb',
    reason: 'CouchDB 3.4 leaves them out until the document is written again',
  },
  'renders a document through a show function': notOffered('show functions'),
  'renders a view through a list function': notOffered('list functions'),
  'changes a document through an update function': notOffered('update functions'),
  'rewrites a path through a design document': notOffered('rewrites'),
};
