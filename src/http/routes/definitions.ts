import { z } from 'zod';
import { newDefinitionId, type Client, type DefinitionKind } from '../../client.js';
import { problem } from '../../errors.js';
import { isObject } from '../../model/dialects.js';
import type { StoredDocument } from '../../model/parse.js';
import { defaultOwner, ownerOf } from '../../model/task.js';
import type { Api } from '../api.js';
import { assertOwner, mayHave, ownersFor } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { refuseDocument } from '../answers/problems.js';
import { withSecretsOf } from '../answers/redact.js';
import { checkDefinition, type Checked } from '../checks.js';
import { prefix, route, type Route } from '../route.js';
import {
  checkedSchema,
  definitionBodySchema,
  definitionSchema,
  enabledSchema,
  putSchema,
} from '../schemas.js';
import { known } from './common.js';
import { foreignIds, unknownSecret } from './new-job.js';

const idParams = (kind: DefinitionKind) =>
  z.object({
    id: z.string().min(1).describe(`Id of the ${kind}, or its name, or name::owner.`),
  });

/** List, get, check and store tasks or flows. */
function routesOf(kind: DefinitionKind): readonly Route[] {
  const word = kind === 'task' ? 'Task' : 'Flow';
  const path = `/${kind}s`;
  const stored = definitionSchema(kind);
  const document = definitionBodySchema(kind);
  return [
    route({
      method: 'GET',
      path,
      id: `list${word}s`,
      tag: 'definitions',
      summary: `All ${kind}s, by name.`,
      access: 'viewer',
      query: z.object({ owner: z.string().optional(), name: z.string().optional() }),
      answers: {
        200: {
          description: `The ${kind}s.`,
          schema: z.object({ [`${kind}s`]: z.array(stored) }).meta({ id: `${word}List` }),
        },
      },
      problems: ['owner_refused'],
      handle: async ({ api, query: { owner, name }, principal }) => {
        const owners = ownersFor(known({ principal }), owner);
        const docs = (await api.client.definitions(kind)).filter(
          (doc) =>
            (owners === undefined || owners.includes(ownerOf(doc))) &&
            (name === undefined || doc['name'] === name),
        );
        return { status: 200, body: { [`${kind}s`]: docs.map(shown) } };
      },
    }),
    route({
      method: 'GET',
      path: `${path}/{id}`,
      id: `get${word}`,
      tag: 'definitions',
      summary: `A ${kind}.`,
      access: 'viewer',
      params: idParams(kind),
      query: z.object({ owner: ownerParam }),
      answers: {
        200: { description: `The ${kind}.`, schema: stored, headers: { etag: 'The revision.' } },
      },
      problems: ['definition_missing', 'definition_ambiguous', 'owner_refused'],
      handle: async ({ api, params: { id }, query: { owner }, principal }) => {
        const doc = await definitionFor(
          api.client,
          kind,
          { called: id, owner },
          known({ principal }),
        );
        return { status: 200, body: shown(doc), headers: { etag: `"${doc._rev}"` } };
      },
    }),
    route({
      method: 'PUT',
      path: `${path}/{id}`,
      id: `put${word}`,
      tag: 'definitions',
      summary: `Store a ${kind}: a new one, or over the revision that you know.`,
      description:
        'It is checked as `tws push` checks it, by itself and against all others. Jobs that have begun keep the edition they began with.',
      access: 'admin',
      params: idParams(kind),
      headers: { 'if-match': 'The revision that is replaced; `_rev` in the body does as well.' },
      body: { schema: document, checkedBy: 'route' },
      answers: {
        200: { description: 'Replaced.', schema: putSchema },
        201: { description: 'New.', schema: putSchema, headers: { location: 'Its path.' } },
      },
      problems: ['document_invalid', 'document_conflict', 'definition_ambiguous', 'owner_refused'],
      handle: async ({ api, params: { id }, body, headers, principal: who }) => {
        const principal = known({ principal: who });
        const { doc, before, checked } = await prepared(api, kind, { called: id, body }, principal);
        if (checked.problems.length > 0) refuseDocument(kind, checked.problems);
        const rev = revOf(headers['if-match'], body);
        if (rev === undefined && before !== undefined) {
          throw problem('document_conflict', { id: before._id });
        }
        const { _rev: _old, ...content } = doc;
        const next = rev === undefined ? content : { ...content, _rev: rev };
        const written = await api.client.write({ ...next, _id: doc._id });
        const answer = { id: doc._id, rev: written, warnings: checked.warnings };
        const location = `${prefix}${path}/${encodeURIComponent(doc._id)}`;
        const created = before === undefined;
        return {
          status: created ? 201 : 200,
          body: { ...answer, created },
          ...(created ? { headers: { location } } : {}),
        };
      },
    }),
    route({
      method: 'POST',
      path: `${path}/check`,
      id: `check${word}`,
      tag: 'definitions',
      summary: `Check a ${kind} and store nothing.`,
      access: 'viewer',
      body: { schema: document, checkedBy: 'route' },
      answers: { 200: { description: 'What was found.', schema: checkedSchema } },
      problems: ['document_invalid', 'definition_ambiguous', 'owner_refused'],
      handle: async ({ api, body, principal }) => {
        const { checked } = await prepared(api, kind, { body }, known({ principal }));
        return { status: 200, body: { ok: checked.problems.length === 0, ...checked } };
      },
    }),
  ];
}

const ownerParam = z.string().optional().describe('Owner of a name that is given without one.');

export const definitionRoutes: readonly Route[] = [...routesOf('task'), ...routesOf('flow')];

/** `enable` and `disable` of a flow. */
export const switchRoutes: readonly Route[] = (['enable', 'disable'] as const).map((word) =>
  route({
    method: 'POST',
    path: `/flows/{id}/${word}`,
    id: `${word}Flow`,
    tag: 'definitions',
    summary: word === 'enable' ? 'Let jobs for a flow run.' : 'Let new jobs for a flow fail.',
    access: 'operator',
    params: idParams('flow'),
    query: z.object({ owner: ownerParam }),
    answers: { 200: { description: 'It is so now.', schema: enabledSchema } },
    problems: ['definition_missing', 'definition_ambiguous', 'document_conflict', 'owner_refused'],
    handle: async ({ api, params: { id }, query: { owner }, principal: who }) => {
      const principal = known({ principal: who });
      const doc = await definitionFor(api.client, 'flow', { called: id, owner }, principal);
      const enabled = word === 'enable';
      const done = await api.client.setEnabled(doc._id, enabled, ownerOf(doc));
      return { status: 200, body: { ...done, enabled } };
    },
  }),
);

function shown(doc: StoredDocument) {
  const { _id: id, _rev: rev, name } = doc;
  return { id, rev, name: String(name), owner: ownerOf(doc), document: doc };
}

type Called = { readonly called: string; readonly owner?: string | undefined };

/** A definition that somebody may see. @throws TwsError `definition_missing`, `definition_ambiguous` */
async function definitionFor(
  client: Client,
  kind: DefinitionKind,
  { called, owner: asked }: Called,
  principal: Principal,
): Promise<StoredDocument> {
  const owner = ownersFor(principal, asked)?.[0] ?? defaultOwner;
  const doc = await client.definition(kind, called, owner);
  if (doc === undefined || !mayHave(principal, doc)) {
    throw problem('definition_missing', { kind, name: called, owner });
  }
  return doc;
}

type Given = { readonly called?: string; readonly body: unknown };
type Prepared = {
  readonly doc: StoredDocument;
  /** The document that it replaces. */
  readonly before: StoredDocument | undefined;
  readonly checked: Checked;
};

/**
 * The document as it would be stored, and what is found wrong with it.
 * @throws Refused, TwsError `owner_refused`, `definition_ambiguous`, `document_conflict`
 */
async function prepared(
  api: Api,
  kind: DefinitionKind,
  { called, body }: Given,
  principal: Principal,
): Promise<Prepared> {
  if (!isObject(body)) {
    refuseDocument(kind, [{ path: '', message: `A ${kind} must be a JSON object.` }]);
  }
  const { $schema: _schema, ...given } = body;
  const own: Record<string, unknown> = { type: kind, ...given };
  if (own['type'] !== kind) {
    refuseDocument(kind, [{ path: 'type', message: `type must be "${kind}", or be left out.` }]);
  }
  const owner = ownerOf(own);
  assertOwner(principal, owner);
  const name = typeof own['name'] === 'string' ? own['name'] : '';
  const id = typeof own['_id'] === 'string' ? own['_id'] : undefined;
  const before = await replaced(api.client, kind, { called, id, name, owner }, principal);
  const { doc, lost } = withSecretsOf(own, before);
  if (lost.length > 0) refuseDocument(kind, lost.map(unknownSecret));
  const attachments = isObject(before?.['_attachments'])
    ? { _attachments: before['_attachments'] }
    : {};
  const whole = {
    ...attachments,
    ...doc,
    _id: before?._id ?? newIdOf(kind, { called, id, name, owner }, principal),
    _rev: '0-0',
  };
  const checked = await checkDefinition(whole, api.client, api.plugins);
  return { doc: whole, before, checked };
}

type Named = {
  readonly called: string | undefined;
  readonly id: string | undefined;
  readonly name: string;
  readonly owner: string;
};

/** What is stored under the id or the name already. */
async function replaced(
  client: Client,
  kind: DefinitionKind,
  { called, id, name, owner }: Named,
  principal: Principal,
): Promise<StoredDocument | undefined> {
  const found = await client.definition(kind, id ?? called ?? name, owner);
  const byName = found ?? (name === '' ? undefined : await client.definition(kind, name, owner));
  if (byName === undefined) {
    const other = await client.get(id ?? called ?? name);
    if (other !== undefined) throw problem('document_conflict', { id: other._id });
    return undefined;
  }
  if (!mayHave(principal, byName)) throw problem('document_conflict', { id: byName._id });
  return byName;
}

/**
 * The id of a new one: the one that is wished for in the path or the document, or one that tells what
 * it is. @throws Refused
 */
function newIdOf(
  kind: DefinitionKind,
  { called, id, name, owner }: Named,
  { owners }: Principal,
): string {
  const usual = newDefinitionId(kind, name, owner);
  const isId = called?.startsWith(`${kind}:`) === true;
  if (called !== undefined && !isId && ![name, `${name}::${owner}`, id].includes(called)) {
    const message = `name must be that of the path, ${JSON.stringify(called)}; it is ${JSON.stringify(name)}.`;
    refuseDocument(kind, [{ path: 'name', message }]);
  }
  const wished = id ?? (isId ? called : undefined) ?? usual;
  const foreign = foreignIds.find((one) => wished.startsWith(one) && one !== `${kind}:`);
  if (foreign !== undefined || (owners !== 'all' && wished !== usual)) {
    const because =
      foreign === undefined
        ? `must be "${usual}", or be left out`
        : `must not begin with "${foreign}"`;
    refuseDocument(kind, [
      { path: '_id', message: `_id ${because}; it is ${JSON.stringify(wished)}.` },
    ]);
  }
  return wished;
}

/** The revision that somebody means to replace: of the header, else of the document. */
function revOf(header: string | undefined, body: unknown): string | undefined {
  const tag = /^(?:W\/)?"?([^"]+)"?$/.exec(header ?? '')?.[1];
  const inBody = isObject(body) ? body['_rev'] : undefined;
  return tag ?? (typeof inBody === 'string' ? inBody : undefined);
}
