import { z } from 'zod';
import type { DefinitionKind } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { ownerOf } from '../../model/task.js';
import { ownersFor } from '../access/owners.js';
import { route, type Route, type RouteAnswer } from '../route.js';
import {
  checkedSchema,
  definitionBodySchema,
  definitionSchema,
  enabledSchema,
} from '../schemas.js';
import { known } from './common.js';
import { visibleDefinition } from './definition-given.js';
import {
  definitionIdParams,
  ownerParam,
  storingRoutes,
  type StoringRoutes,
} from './definition-storing.js';
import { textOf } from '../../words.js';

/** List, get, check and store tasks or flows. */
function routesOf(kind: DefinitionKind): readonly Route[] {
  const word = kind === 'task' ? 'Task' : 'Flow';
  const keep = 'Jobs that have begun keep the edition they began with.';
  const about: Kind = {
    ...{ kind, word, tag: 'definitions', path: `/${kind}s` },
    stored: definitionSchema(kind),
    document: definitionBodySchema(kind),
    checked: { schema: checkedSchema, more: () => ({}) },
    says: {
      put: `It is checked as \`tws push\` checks it, by itself and against all others. ${keep}`,
      remove: keep,
    },
  };
  return [listRoute(about), getRoute(about), ...storingRoutes(about)];
}

/** What the routes of a kind are made of. */
type Kind = StoringRoutes & {
  readonly kind: DefinitionKind;
  /** A definition as it is answered. */
  readonly stored: ReturnType<typeof definitionSchema>;
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
    params: definitionIdParams(kind),
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
      return definitionAnswer(doc);
    },
  });
}

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
    params: definitionIdParams('flow'),
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

/** The answer that a definition is. */
export function definitionAnswer(doc: StoredDocument): RouteAnswer {
  return { status: 200, body: shown(doc), headers: { etag: `"${doc._rev}"` } };
}

function shown(doc: StoredDocument) {
  const { _id: id, _rev: rev, name } = doc;
  return { id, rev, name: textOf(name), owner: ownerOf(doc), document: doc };
}
