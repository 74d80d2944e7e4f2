import { randomUUID } from 'node:crypto';

import { isDatabaseAdmin, type Security } from '../auth/security.js';
import { prepareUserDoc, USERS, type UserContext } from '../auth/users.js';
import type { FunctionPool } from '../functions/pool.js';
import { isJsonObject, type JsonObject } from '../http/body.js';
import { asCouchError, CouchError, refuse } from '../http/couch-error.js';
import { isGeneration, isRevision, isRevisionId } from '../storage/revision-ids.js';
import type { Doc, Parent, DocumentStore, DocWriteResult } from '../storage/storage.js';
import type { Catalog } from './catalog.js';
import { checkDesign } from './design.js';

export type WriteContext = {
  readonly name: string;
  readonly store: DocumentStore;
  readonly catalog: Catalog;
  readonly pool: FunctionPool;
  readonly security: Security;
  readonly user: UserContext;
};

/** One document on its way through the checks: it has no verdict until one of them refuses it. */
type Draft = { doc: Doc; refusal: CouchError | undefined };

/**
 * Writes a batch: user documents are hashed, design documents compiled, validation functions
 * asked for the whole batch at once, and what is left goes to the store together. Answers in
 * the order of the request; a refused document has its error there.
 */
export async function writeDocs(
  context: WriteContext,
  docs: readonly Doc[],
  newEdits: boolean,
): Promise<DocWriteResult[]> {
  const drafts: Draft[] = docs.map((doc) => ({ doc, refusal: undefined }));
  const locals = drafts.filter(({ doc }) => isLocal(doc));
  const stored = drafts.filter(({ doc }) => !isLocal(doc));

  await prepare(context, stored);
  await validate(context, stored, newEdits);
  const accepted = stored.filter(({ refusal }) => refusal === undefined);
  const written = await context.store.write(
    accepted.map(({ doc }) => doc),
    { newEdits },
  );
  const designs = accepted.filter(({ doc }) => isDesign(doc)).map(({ doc }) => doc._id);
  if (designs.length > 0) await context.catalog.refresh(designs);
  const localResults = new Map<Draft, DocWriteResult>();
  for (const draft of locals) localResults.set(draft, await writeLocal(context.store, draft.doc));

  if (!newEdits) return [...drafts.flatMap(refusalOf), ...written];
  const results = new Map(accepted.map((draft, i) => [draft, written[i]]));
  return drafts.flatMap((draft) => {
    const result = results.get(draft) ?? localResults.get(draft);
    return result === undefined ? refusalOf(draft) : [result];
  });
}

const isLocal = (doc: Doc): boolean => doc._id.startsWith('_local/');
const isDesign = (doc: Doc): boolean => doc._id.startsWith('_design/');

const refusalOf = ({ doc, refusal }: Draft): DocWriteResult[] =>
  refusal === undefined
    ? []
    : [{ id: doc._id, status: refusal.status, error: refusal.error, reason: refusal.reason }];

async function writeLocal(store: DocumentStore, doc: Doc): Promise<DocWriteResult> {
  if (doc._deleted !== true) return { ok: true, id: doc._id, rev: await store.putLocal(doc) };
  const removed = await store.removeLocal(doc._id);
  return removed
    ? { ok: true, id: doc._id, rev: '0-0' }
    : { id: doc._id, status: 404, error: 'not_found', reason: 'missing' };
}

/** Design documents need a database admin and must compile; user documents have rules of their own. */
async function prepare(context: WriteContext, drafts: readonly Draft[]): Promise<void> {
  const admin = isDatabaseAdmin(context.user, context.security);
  await Promise.all(
    drafts.map(async (draft) => {
      try {
        if (isDesign(draft.doc)) {
          if (!admin) throw refuse.forbidden('You are not a db or server admin.');
          if (draft.doc._deleted !== true) await checkDesign(draft.doc, context.pool);
        }
        if (context.name === USERS) draft.doc = await prepareUser(context, draft.doc);
      } catch (error) {
        draft.refusal = asCouchError(error);
      }
    }),
  );
}

async function prepareUser({ store, user }: WriteContext, doc: Doc): Promise<Doc> {
  const [parent] = await store.parents([doc]);
  const before = parent?.kind === 'leaf' ? (JSON.parse(parent.json) as JsonObject) : undefined;
  return prepareUserDoc(doc, before, user);
}

/** Asks every `validate_doc_update` of the database; design documents are beyond them. */
async function validate(
  { store, catalog, user, name, security }: WriteContext,
  drafts: readonly Draft[],
  newEdits: boolean,
): Promise<void> {
  const validators = (await catalog.all()).filter((design) => design.validates);
  if (validators.length === 0) return;
  const subjects = drafts.filter(({ doc, refusal }) => refusal === undefined && !isDesign(doc));
  const parents = await parentsOf(store, subjects, newEdits);
  const context = JSON.stringify([{ db: name, ...user }, security]).slice(1, -1);

  for (const design of validators) {
    const asked = subjects.flatMap((draft, i) => {
      const parent = parents[i];
      // A write that is a conflict anyway is not shown to validation functions.
      if (draft.refusal !== undefined || parent === undefined || parent.kind === 'conflict')
        return [];
      const old = parent.kind === 'leaf' ? parent.json : 'null';
      return [{ draft, call: `[${JSON.stringify(withoutBodies(draft.doc))},${old},${context}]` }];
    });
    const refusals = await design.validate(asked.map(({ call }) => call));
    asked.forEach(({ draft }, i) => (draft.refusal = refusals[i]));
  }
}

/** Replicated revisions come with their history: their parent is the one named there, if it is known. */
async function parentsOf(
  store: DocumentStore,
  drafts: readonly Draft[],
  newEdits: boolean,
): Promise<Parent[]> {
  if (newEdits) return store.parents(drafts.map(({ doc }) => doc));
  const parents = await store.parents(
    drafts.map(({ doc }) => {
      const { start, ids } = (doc['_revisions'] ?? {}) as { start?: number; ids?: string[] };
      const before = ids?.[1];
      const { _rev, ...rest } = doc;
      return start === undefined || before === undefined
        ? rest
        : { ...rest, _rev: `${start - 1}-${before}` };
    }),
  );
  return parents.map((parent) => (parent.kind === 'conflict' ? { kind: 'none' } : parent));
}

/** Validation functions see attachments as stubs. */
function withoutBodies(doc: Doc): Doc {
  const { _attachments: attachments } = doc;
  if (attachments === undefined) return doc;
  const stubs = Object.entries(attachments as Record<string, JsonObject>).map(
    ([name, { data: _, ...about }]) => [name, { ...about, stub: true }],
  );
  return { ...doc, _attachments: Object.fromEntries(stubs) as JsonObject };
}

/** CouchDB's default of `_revs_limit`. */
const MAX_HISTORY = 1_000;

const SPECIAL = new Set([
  '_id',
  '_rev',
  '_deleted',
  '_attachments',
  '_revisions',
  '_replication_id',
  '_replication_state',
  '_replication_state_time',
  '_replication_state_reason',
  '_replication_stats',
]);
/** Members that CouchDB shows on request and does not store. */
const SHOWN = new Set(['_revs_info', '_conflicts', '_deleted_conflicts', '_local_seq']);

/**
 * Reads a document as a client sends it; an id is made when it has none.
 * @throws CouchError 400 for what CouchDB refuses as a document
 */
export function parseDoc(value: unknown, id?: string): Doc {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse.badRequest('Document must be a JSON object');
  }
  const doc: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (SHOWN.has(name)) continue;
    if (name.startsWith('_') && !SPECIAL.has(name)) {
      throw new CouchError(400, 'doc_validation', `Bad special document member: ${name}`);
    }
    doc[name] = member;
  }
  const given = id ?? doc['_id'] ?? randomUUID().replaceAll('-', '');
  doc['_id'] = checkId(given);
  checkRev(doc['_rev']);
  if (doc['_revisions'] !== undefined) doc['_revisions'] = parseRevisions(doc['_revisions']);
  if (doc['_deleted'] !== undefined && typeof doc['_deleted'] !== 'boolean') {
    throw refuse.badRequest('_deleted must be a boolean');
  }
  if (doc['_deleted'] === false) delete doc['_deleted'];
  return doc as Doc;
}

/** The history of a replicated revision, newest first; what is older than anybody keeps is cut off. */
function parseRevisions(value: unknown): { start: number; ids: string[] } {
  const { start, ids } = isJsonObject(value) ? value : {};
  if (
    !isGeneration(start) ||
    !Array.isArray(ids) ||
    ids.length === 0 ||
    ids.length > start ||
    !ids.every(isRevisionId)
  ) {
    throw new CouchError(400, 'doc_validation', '_revisions is not a history of revisions');
  }
  return { start, ids: ids.slice(0, MAX_HISTORY) };
}

/** @throws CouchError 400 */
export function checkId(id: unknown): string {
  const illegal = (reason: string): CouchError => new CouchError(400, 'illegal_docid', reason);
  if (typeof id !== 'string') throw illegal('Document id must be a string');
  if (id === '') throw illegal('Document id must not be empty');
  if (id.includes('\u0000')) throw illegal('Document id must not contain U+0000');
  if (id === '_design/' || id === '_local/') throw illegal(`Illegal document id \`${id}\``);
  if (id.startsWith('_') && !/^_(design|local)\//.test(id)) {
    throw illegal('Only reserved document ids may start with underscore.');
  }
  return id;
}

/** @throws CouchError 400 */
export function checkRev(rev: unknown): void {
  if (rev === undefined) return;
  if (!isRevision(rev)) throw refuse.badRequest('Invalid rev format');
}
