import { z } from 'zod';
import type { NamedKind } from '../../client.js';
import { problem } from '../../errors.js';
import { engineKeysOf } from '../../validate/document.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import type { Api } from '../api.js';
import { refuseDocument, firstMistakes } from '../answers/problems.js';
import { prefix, route, type Route, type RouteAnswer, type Tag } from '../route.js';
import { putSchema } from '../schemas.js';
import { despiteEngines, known } from './common.js';
import { visibleDefinition, prepared, revisionToReplace } from './definition-given.js';

/** What the routes that store, check and remove documents of a kind are made of. */
export type StoringRoutes = {
  readonly kind: NamedKind;
  /** The kind, as ids of routes and schemas write it. */
  readonly word: 'Task' | 'Flow' | 'Schedule' | 'Hook';
  readonly tag: Tag;
  readonly path: string;
  /** A document as it is given. */
  readonly document: z.ZodType;
  /** What a check answers, and what of it is found out beside problems and warnings. */
  readonly checked: {
    readonly schema: z.ZodType;
    readonly more: (api: Api, doc: StoredDocument) => object | Promise<object>;
  };
  /** Sentences of the reference. */
  readonly says: { readonly put: string; readonly remove: string };
};

/** Parameters of a route about one document, called by id or name. */
export const definitionIdParams = (kind: NamedKind) =>
  z.object({
    id: z.string().min(1).describe(`Id of the ${kind}, or its name, or name::owner.`),
  });

export const ownerParam = z
  .string()
  .optional()
  .describe('Owner of a name that is given without one.');

/** The routes that store, remove and check documents of a kind. */
export function storingRoutes(about: StoringRoutes): readonly Route[] {
  return [putRoute(about), removeRoute(about), checkRoute(about)];
}

const revisionsText =
  'Without If-Match only a new one is stored; `If-Match: *` replaces whatever is there, and only that; with `upsert=true` it is stored whether there is one or not, as deploy scripts want it.';

function putRoute({ kind, word, tag, path, document, says }: StoringRoutes): Route {
  return route({
    method: 'PUT',
    path: `${path}/{id}`,
    id: `put${word}`,
    tag,
    summary: `Store a ${kind}: a new one, or over the revision that you know.`,
    description: `${says.put} ${revisionsText}`,
    access: 'admin',
    params: definitionIdParams(kind),
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
      const ifMatch = headers['if-match'];
      const isUpsert = query.upsert === 'true';
      const put = async (): Promise<RouteAnswer> => {
        const { doc, before, checked } = await prepared(api, kind, { called: id, body }, principal);
        if (checked.problems.length > 0) refuseDocument(kind, checked.problems);
        const meant = revisionToReplace(kind, ifMatch, body, before);
        const rev = isUpsert ? (meant ?? before?._rev) : meant;
        assertReplaces(rev, before, { kind, id: doc._id });
        const { _rev: _old, ...content } = doc;
        const next = rev === undefined ? content : { ...content, _rev: rev };
        const written = await api.client.write({ ...next, _id: doc._id });
        const warnings = firstMistakes(checked.warnings);
        const created = before === undefined;
        const location = `${prefix}${path}/${encodeURIComponent(doc._id)}`;
        return {
          status: created ? 201 : 200,
          body: { id: doc._id, rev: written, warnings, created },
          ...(created ? { headers: { location } } : {}),
        };
      };
      return isBesideEngines(kind, ifMatch, body) ? despiteEngines(put) : put();
    },
  });
}

function removeRoute({ kind, word, tag, path, says }: StoringRoutes): Route {
  return route({
    method: 'DELETE',
    path: `${path}/{id}`,
    id: `remove${word}`,
    tag,
    summary: `Remove a ${kind}. ${says.remove}`,
    access: 'admin',
    params: definitionIdParams(kind),
    query: z.object({ owner: ownerParam }),
    headers: { 'if-match': 'Only while it is of this revision.' },
    answers: { 204: { description: 'It is gone.' } },
    problems: ['definition_missing', 'definition_ambiguous', 'document_conflict', 'owner_refused'],
    handle: async ({ api, params: { id }, query: { owner }, headers, principal: who }) => {
      const principal = known({ principal: who });
      const ifMatch = headers['if-match'];
      const remove = async (): Promise<RouteAnswer> => {
        const doc = await visibleDefinition(api.client, kind, { called: id, owner }, principal);
        const rev = revisionToReplace(kind, ifMatch, undefined, doc) ?? doc._rev;
        if (rev !== doc._rev) throw problem('document_conflict', { id: doc._id });
        await api.client.remove(doc._id, rev);
        return { status: 204 };
      };
      return isBesideEngines(kind, ifMatch, undefined) ? despiteEngines(remove) : remove();
    },
  });
}

function checkRoute({ kind, word, tag, path, document, checked: how }: StoringRoutes): Route {
  return route({
    method: 'POST',
    path: `${path}/check`,
    id: `check${word}`,
    tag,
    summary: `Check a ${kind} and store nothing.`,
    access: 'viewer',
    body: { schema: document, checkedBy: 'route' },
    answers: { 200: { description: 'What was found.', schema: how.schema } },
    problems: ['document_invalid', 'definition_ambiguous', 'owner_refused'],
    handle: async ({ api, body: given, principal }) => {
      const { doc, checked } = await prepared(api, kind, { body: given }, known({ principal }));
      const { problems, warnings } = checked;
      const body = {
        ok: problems.length === 0,
        problems: firstMistakes(problems),
        warnings: firstMistakes(warnings),
        ...(await how.more(api, doc)),
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
  about: { readonly kind: NamedKind; readonly id: string },
): void {
  if (rev === before?._rev) return;
  if (rev === undefined) throw problem('definition_exists', about);
  if (before === undefined) throw problem('definition_absent', about);
  throw problem('document_conflict', about);
}

/** Whether engines may write such a document at any time, and the caller names no edition of it. */
function isBesideEngines(kind: NamedKind, ifMatch: string | undefined, body: unknown): boolean {
  const isNamed = isObject(body) && typeof body['_rev'] === 'string';
  return (
    engineKeysOf(kind).length > 0 &&
    (ifMatch === undefined ? !isNamed : !/^(?:W\/)?"?\d+-/.test(ifMatch))
  );
}
