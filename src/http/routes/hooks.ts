import { z } from 'zod';
import type { StoredDocument } from '../../model/document.js';
import { hookPath, hookStatus } from '../../reading/hook.js';
import { ownersFor } from '../access/owners.js';
import { hookBodySchema, hookListSchema, storedHookSchema } from '../hook-schemas.js';
import { route, type Route } from '../route.js';
import { checkedSchema } from '../schemas.js';
import { known } from './common.js';
import { namedAnswer, visibleDefinition } from './definition-given.js';
import { definitionIdParams, ownerParam, storingRoutes } from './definition-storing.js';

const listRoute = route({
  method: 'GET',
  path: '/hooks',
  id: 'listHooks',
  tag: 'hooks',
  summary: 'All hooks, by name.',
  access: 'viewer',
  query: z.object({ owner: z.string().optional() }),
  answers: { 200: { description: 'The hooks.', schema: hookListSchema } },
  problems: ['owner_refused'],
  handle: async ({ api, query: { owner }, principal }) => {
    const docs = await api.client.hooks(ownersFor(known({ principal }), owner));
    return { status: 200, body: { hooks: docs.map(answerOfHook) } };
  },
});

const getRoute = route({
  method: 'GET',
  path: '/hooks/{id}',
  id: 'getHook',
  tag: 'hooks',
  summary: 'A hook, and where its address is.',
  access: 'viewer',
  params: definitionIdParams('hook'),
  query: z.object({ owner: ownerParam }),
  answers: {
    200: {
      description: 'The hook.',
      schema: storedHookSchema,
      headers: { etag: 'Its edition: the same while only engines write it.' },
    },
  },
  problems: ['definition_missing', 'definition_ambiguous', 'owner_refused'],
  handle: async ({ api, params: { id }, query: { owner }, principal: who }) => {
    const principal = known({ principal: who });
    const doc = await visibleDefinition(api.client, 'hook', { called: id, owner }, principal);
    const body = answerOfHook(doc);
    return { status: 200, body, headers: { etag: `"${body.edition}"` } };
  },
});

/** List, get, check, store and remove hooks. */
export const hookRoutes: readonly Route[] = [
  listRoute,
  getRoute,
  ...storingRoutes({
    ...{ kind: 'hook', word: 'Hook', tag: 'hooks', path: '/hooks' },
    document: hookBodySchema,
    checked: { schema: checkedSchema, more: () => ({}) },
    says: {
      put: 'It is checked as `tws push` checks it. What engines write (`problems`) stays as it is stored, and may be left out. Its secrets are encrypted before, by `tws encrypt`.',
      remove: 'Its jobs stay; there is nothing at its address any more.',
    },
  }),
];

function answerOfHook(doc: StoredDocument) {
  return { ...namedAnswer('hook', doc), path: hookPath(doc), status: hookStatus(doc) };
}
