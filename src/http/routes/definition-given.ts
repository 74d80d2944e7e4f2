import { newDefinitionId, type Client, type NamedKind } from '../../client.js';
import { problem } from '../../errors.js';
import { versionOf } from '../../model/flow-versions.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { twinScheduleId, twinText } from '../../model/schedule.js';
import { defaultOwner, ownerOf } from '../../model/task.js';
import type { Api } from '../api.js';
import { assertOwner, hasOwner, mayHave, ownersFor } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { refuseDocument } from '../answers/problems.js';
import { withSecretsOf } from '../answers/redact.js';
import { authoredEdition, engineFieldsIn, withoutEngineFields } from '../../validate/authored.js';
import { checkDefinition, type CheckedDefinition } from '../../validate/single.js';
import { tooLongName } from '../../validate/limits.js';
import { textOf } from '../../words.js';
import { foreignId, unknownSecret } from './new-job.js';

type Called = { readonly called: string; readonly owner?: string | undefined };

/** A definition that somebody may see. @throws TwsError `definition_missing`, `definition_ambiguous` */
export async function visibleDefinition(
  client: Client,
  kind: NamedKind,
  { called, owner: asked }: Called,
  principal: Principal,
): Promise<StoredDocument> {
  const owner = ownersFor(principal, asked)?.[0] ?? defaultOwner;
  const doc = await definitionCalled(client, kind, { called, owner }, principal);
  if (doc === undefined) {
    throw problem('definition_missing', { kind, name: called, owner });
  }
  return doc;
}

/**
 * The definition of that id or name that somebody may see; of those of others nothing is told, not even
 * that there are several. @throws TwsError `definition_ambiguous`
 */
async function definitionCalled(
  client: Client,
  kind: NamedKind,
  { called, owner }: { readonly called: string; readonly owner: string },
  principal: Principal,
): Promise<StoredDocument | undefined> {
  const [, ofOwner = owner] = called.split('::');
  if (hasOwner(principal, ofOwner)) {
    return client.definition(kind, called, owner, (doc) => mayHave(principal, doc));
  }
  const byId = await client.get(called);
  return byId?.['type'] === kind && mayHave(principal, byId) ? byId : undefined;
}

/** What a document is shown with, and may come back with. */
const ofCouch: readonly string[] = ['_id', '_rev', '_attachments'];

type Given = { readonly called?: string; readonly body: unknown };
type Prepared = {
  readonly doc: StoredDocument;
  /** The document that it replaces. */
  readonly before: StoredDocument | undefined;
  readonly checked: CheckedDefinition;
};

/**
 * The document as it would be stored, and what is found wrong with it.
 * @throws Refused, TwsError `owner_refused`, `definition_ambiguous`, `document_conflict`
 */
export async function prepared(
  api: Api,
  kind: NamedKind,
  { called, body }: Given,
  principal: Principal,
): Promise<Prepared> {
  if (!isObject(body)) {
    refuseDocument(kind, [{ path: '', message: `A ${kind} must be a JSON object.` }]);
  }
  const { $schema: _schema, ...given } = body;
  const own: Record<string, unknown> = { type: kind, ...withoutEngineFields(kind, given) };
  if (own['type'] !== kind) {
    refuseDocument(kind, [{ path: 'type', message: `type must be "${kind}", or be left out.` }]);
  }
  const foreign = Object.keys(own).find((key) => key.startsWith('_') && !ofCouch.includes(key));
  if (foreign !== undefined) {
    const message = `${foreign} must be left out: keys that begin with "_" are CouchDB's own.`;
    refuseDocument(kind, [{ path: foreign, message }]);
  }
  const long = tooLongName(own);
  if (long !== undefined) refuseDocument(kind, [long]);
  const owner = ownerOf(own);
  assertOwner(principal, owner);
  const name = typeof own['name'] === 'string' ? own['name'] : '';
  const id = typeof own['_id'] === 'string' ? own['_id'] : undefined;
  const version = kind === 'flow' ? versionOf(own) : undefined;
  const named = { called, id, name, owner, version };
  const before = await replaced(api.client, kind, named, principal);
  const { doc, lost } = withSecretsOf(own, before);
  if (lost.length > 0) refuseDocument(kind, lost.map(unknownSecret));
  const attachments = isObject(before?.['_attachments'])
    ? { _attachments: before['_attachments'] }
    : {};
  const { _attachments: _shown, ...content } = doc;
  const kept = {
    _id: before?._id ?? (await newId(api.client, kind, named, principal)),
    _rev: '0-0',
  };
  // What is found is told with the values that are wrong: it is looked for where secrets are hidden.
  const checked = await checkDefinition({ ...own, ...kept }, api.client, api.plugins);
  const ofEngines = engineFieldsIn(kind, before);
  return { doc: { ...attachments, ...content, ...ofEngines, ...kept }, before, checked };
}

/** What schedules and hooks are answered with. */
export function namedAnswer(kind: NamedKind, doc: StoredDocument) {
  const { _id: id, _rev: rev, name } = doc;
  const edition = authoredEdition(kind, doc);
  return { id, rev, name: textOf(name), owner: ownerOf(doc), edition, document: doc };
}

type Named = {
  readonly called: string | undefined;
  readonly id: string | undefined;
  readonly name: string;
  readonly owner: string;
  /** Of a flow. */
  readonly version: string | undefined;
};

/** What is stored under the id or the name already. */
async function replaced(
  client: Client,
  kind: NamedKind,
  { called, id, name, owner, version }: Named,
  principal: Principal,
): Promise<StoredDocument | undefined> {
  if (kind === 'flow') return replacedFlow(client, { called, id, name, owner, version }, principal);
  for (const one of new Set([id ?? called ?? name, name])) {
    const words = { called: one, owner };
    const found = one === '' ? undefined : await definitionCalled(client, kind, words, principal);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The flow of that id, or the document of that version. @throws TwsError `definition_ambiguous` */
async function replacedFlow(
  client: Client,
  { called, id, name, owner, version }: Named,
  principal: Principal,
): Promise<StoredDocument | undefined> {
  const byId = await client.get(id ?? called ?? name);
  if (byId?.['type'] === 'flow' && mayHave(principal, byId)) return byId;
  if (name === '') return undefined;
  const named = await client.find('flow', name, owner);
  const [same, ...others] = named.filter((doc) => versionOf(doc) === version);
  if (others.length === 0) return same;
  const ids = [same, ...others].flatMap((doc) => doc?._id ?? []);
  throw problem('definition_ambiguous', { kind: 'flow', name, owner, ids });
}

/** The id of a new one, which must be free. @throws Refused, TwsError `document_conflict` */
async function newId(
  client: Client,
  kind: NamedKind,
  named: Named,
  principal: Principal,
): Promise<string> {
  const id = newIdOf(kind, named, principal);
  if ((await client.get(id)) !== undefined) throw problem('document_conflict', { id });
  const twin = kind === 'schedule' ? await client.get(twinScheduleId(id)) : undefined;
  if (twin?.['type'] === kind)
    refuseDocument(kind, [{ path: '_id', message: `_id ${twinText(twin._id)}.` }]);
  return id;
}

/**
 * The id of a new one: the one that is wished for in the path or the document, or one that tells what
 * it is. @throws Refused
 */
function newIdOf(
  kind: NamedKind,
  { called, id, name, owner, version }: Named,
  { owners }: Principal,
): string {
  const usual = newDefinitionId(kind, name, owner, version);
  const isId = called?.startsWith(`${kind}:`) === true;
  if (called !== undefined && !isId && ![name, `${name}::${owner}`, id].includes(called)) {
    const message = `name must be that of the path, ${JSON.stringify(called)}; it is ${JSON.stringify(name)}.`;
    refuseDocument(kind, [{ path: 'name', message }]);
  }
  const wished = id ?? (isId ? called : undefined) ?? usual;
  const foreign = foreignId(wished, `${kind}:`);
  if (foreign !== undefined || (owners !== 'all' && wished !== usual)) {
    const because =
      foreign === undefined ? `must be "${usual}", or be left out` : `must not ${foreign}`;
    refuseDocument(kind, [
      { path: '_id', message: `_id ${because}; it is ${JSON.stringify(wished)}.` },
    ]);
  }
  return wished;
}

/**
 * The revision that somebody means to replace: one of the header, where `*` is whatever is `there` and an
 * edition the revision that has it, else that of the document; undefined for none.
 */
export function revisionToReplace(
  kind: string,
  header: string | undefined,
  body: unknown,
  there: StoredDocument | undefined,
): string | undefined {
  if (header === undefined) {
    const inBody = isObject(body) ? body['_rev'] : undefined;
    return typeof inBody === 'string' ? inBody : undefined;
  }
  // What cannot be read is a condition that does not hold, never none.
  const tags = header.split(',').map((tag) => tag.trim().replace(/^(?:W\/)?"(.*)"$/, '$1'));
  const names = there === undefined ? [] : ['*', there._rev, authoredEdition(kind, there)];
  if (there !== undefined && tags.some((tag) => names.includes(tag))) return there._rev;
  return tags[0] ?? '';
}
