import { z } from 'zod';
import type { DefinitionKind } from '../../client.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { ownerOf } from '../../model/task.js';
import { ownersFor } from '../access/owners.js';
import { refuseDocument, firstMistakes } from '../answers/problems.js';
import { prefix, route, type Route } from '../route.js';
import {
  checkedSchema,
  definitionBodySchema,
  definitionSchema,
  enabledSchema,
  putSchema,
} from '../schemas.js';
import { known } from './common.js';
import { visibleDefinition, prepared, revisionToReplace } from './definition-given.js';
import { textOf } from '../../words.js';

const idParams = (kind: DefinitionKind) =>
  z.object({
    id: z.string().min(1).describe(`Id of the ${kind}, or its name, or name::owner.`),
  });

/** List, get, check and store tasks or flows. */
function routesOf(kind: DefinitionKind): readonly Route[] {
  const about: Kind = {
    kind,
    word: kind === 'task' ? 'Task' : 'Flow',
    path: `/${kind}s`,
    stored: definitionSchema(kind),
    document: definitionBodySchema(kind),
  };
  return [
    listRoute(about),
    getRoute(about),
    putRoute(about),
    removeRoute(about),
    checkRoute(about),
  ];
}

/** What the routes of a kind are made of. */
type Kind = {
  readonly kind: DefinitionKind;
  /** The kind, as ids of routes and schemas write it. */
  readonly word: 'Task' | 'Flow';
  readonly path: string;
  /** A definition as it is answered, and as it is given. */
  readonly stored: ReturnType<typeof definitionSchema>;
  readonly document: ReturnType<typeof definitionBodySchema>;
};

function listRoute({ kind, word, path, stored }: Kind): Route {
  return route({
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
  });
}

function getRoute({ kind, word, path, stored }: Kind): Route {
  return route({
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
      const doc = await visibleDefinition(
        api.client,
        kind,
        { called: id, owner },
        known({ principal }),
      );
      return { status: 200, body: shown(doc), headers: { etag: `"${doc._rev}"` } };
    },
  });
}

function putRoute({ kind, word, path, document }: Kind): Route {
  return route({
    method: 'PUT',
    path: `${path}/{id}`,
    id: `put${word}`,
    tag: 'definitions',
    summary: `Store a ${kind}: a new one, or over the revision that you know.`,
    description:
      'It is checked as `tws push` checks it, by itself and against all others. Jobs that have begun keep the edition they began with. Without If-Match only a new one is stored; `If-Match: *` replaces whatever is there, and only that; with `upsert=true` it is stored whether there is one or not, as deploy scripts want it.',
    access: 'admin',
    params: idParams(kind),
    query: z.object({
      upsert: z
        .enum(['true', 'false'])
        .optional()
        .describe('true: store it whether there is one or not; without If-Match and `_rev`.'),
    }),
    headers: { 'if-match': 'The revision that is replaced; `_rev` in the body does as well.' },
    body: { schema: document, checkedBy: 'route' },
    answers: {
      200: { description: 'Replaced.', schema: putSchema },
      201: { description: 'New.', schema: putSchema, headers: { location: 'Its path.' } },
    },
    problems: [
      ...(['document_invalid', 'document_conflict', 'definition_exists'] as const),
      ...(['definition_absent', 'definition_ambiguous', 'owner_refused'] as const),
    ],
    handle: async ({ api, params: { id }, query, body, headers, principal: who }) => {
      const principal = known({ principal: who });
      const { doc, before, checked } = await prepared(api, kind, { called: id, body }, principal);
      if (checked.problems.length > 0) refuseDocument(kind, checked.problems);
      const meant = revisionToReplace(headers['if-match'], body, before);
      const rev = query.upsert === 'true' ? (meant ?? before?._rev) : meant;
      assertReplaces(rev, before, { kind, id: doc._id });
      const { _rev: _old, ...content } = doc;
      const next = rev === undefined ? content : { ...content, _rev: rev };
      const written = await api.client.write({ ...next, _id: doc._id });
      const answer = { id: doc._id, rev: written, warnings: firstMistakes(checked.warnings) };
      const location = `${prefix}${path}/${encodeURIComponent(doc._id)}`;
      const created = before === undefined;
      return {
        status: created ? 201 : 200,
        body: { ...answer, created },
        ...(created ? { headers: { location } } : {}),
      };
    },
  });
}

function removeRoute({ kind, word, path }: Kind): Route {
  return route({
    method: 'DELETE',
    path: `${path}/{id}`,
    id: `remove${word}`,
    tag: 'definitions',
    summary: `Remove a ${kind}. Jobs that have begun keep the edition they began with.`,
    access: 'admin',
    params: idParams(kind),
    query: z.object({ owner: ownerParam }),
    headers: { 'if-match': 'Only while it is of this revision.' },
    answers: { 204: { description: 'It is gone.' } },
    problems: ['definition_missing', 'definition_ambiguous', 'document_conflict', 'owner_refused'],
    handle: async ({ api, params: { id }, query: { owner }, headers, principal }) => {
      const called = { called: id, owner };
      const doc = await visibleDefinition(api.client, kind, called, known({ principal }));
      const rev = revisionToReplace(headers['if-match'], undefined, doc) ?? doc._rev;
      if (rev !== doc._rev) throw problem('document_conflict', { id: doc._id });
      await api.client.remove(doc._id, rev);
      return { status: 204 };
    },
  });
}

function checkRoute({ kind, word, path, document }: Kind): Route {
  return route({
    method: 'POST',
    path: `${path}/check`,
    id: `check${word}`,
    tag: 'definitions',
    summary: `Check a ${kind} and store nothing.`,
    access: 'viewer',
    body: { schema: document, checkedBy: 'route' },
    answers: { 200: { description: 'What was found.', schema: checkedSchema } },
    problems: ['document_invalid', 'definition_ambiguous', 'owner_refused'],
    handle: async ({ api, body: given, principal }) => {
      const { checked } = await prepared(api, kind, { body: given }, known({ principal }));
      const { problems, warnings } = checked;
      const body = {
        ok: problems.length === 0,
        problems: firstMistakes(problems),
        warnings: firstMistakes(warnings),
      };
      return { status: 200, body };
    },
  });
}

/**
 * Whether the revision that somebody means to replace, or none, is what is there.
 * @throws TwsError `definition_exists`, `definition_absent`, `document_conflict`
 */
function assertReplaces(
  rev: string | undefined,
  before: StoredDocument | undefined,
  about: { readonly kind: DefinitionKind; readonly id: string },
): void {
  if (rev === before?._rev) return;
  if (rev === undefined) throw problem('definition_exists', about);
  if (before === undefined) throw problem('definition_absent', about);
  throw problem('document_conflict', about);
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
      const doc = await visibleDefinition(api.client, 'flow', { called: id, owner }, principal);
      const enabled = word === 'enable';
      const done = await api.client.setEnabled(doc._id, enabled, ownerOf(doc));
      return { status: 200, body: { ...done, enabled } };
    },
  }),
);

function shown(doc: StoredDocument) {
  const { _id: id, _rev: rev, name } = doc;
  return { id, rev, name: textOf(name), owner: ownerOf(doc), document: doc };
}
