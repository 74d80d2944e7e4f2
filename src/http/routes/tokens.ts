import { z } from 'zod';
import { assertAllOwners } from '../access/owners.js';
import { roles } from '../access/principal.js';
import { prefix, route, type Route } from '../route.js';
import { newTokenSchema, tokenListSchema } from '../operation-schemas.js';
import { known, timeParam } from './common.js';

const levels = [roles.viewer, roles.operator, roles.admin];
const roleText = `must be ${levels.join(', ')} or ${roles.owner}NAME`;
const roleSchema = z
  .string()
  .max(200, { error: roleText })
  .refine((role) => levels.some((level) => level === role) || role.startsWith(roles.owner), {
    error: roleText,
  });

/** A token can have any role, so whoever makes or ends one must be an admin of all owners. */
const what = 'make, see or revoke tokens';

const createRoute = route({
  method: 'POST',
  path: '/tokens',
  id: 'createToken',
  tag: 'session',
  summary: 'Make a bearer token for a program.',
  description: 'The token is told in this answer and nowhere else; what is stored is its hash.',
  access: 'admin',
  body: {
    schema: z.strictObject({
      name: z.string().min(1).max(200).describe('What it is for.'),
      roles: z.array(roleSchema).min(1).max(100).describe('As those of a user of CouchDB.'),
      expires: timeParam.optional().describe('Not valid from then on.'),
    }),
  },
  answers: {
    201: {
      description: 'Made.',
      schema: newTokenSchema,
      headers: { location: 'Path of the token.' },
    },
  },
  problems: ['owners_needed'],
  handle: async ({ api, body, principal }) => {
    assertAllOwners(known({ principal }), what);
    const made = await api.client.createToken(body);
    return {
      status: 201,
      // The one secret that an answer shows: what is sent as text is not searched for secrets.
      type: 'application/json; charset=utf-8',
      body: JSON.stringify(made),
      headers: { location: `${prefix}/tokens/${made.id}` },
    };
  },
});

const listRoute = route({
  method: 'GET',
  path: '/tokens',
  id: 'listTokens',
  tag: 'session',
  summary: 'The tokens, without what proves them.',
  access: 'admin',
  answers: { 200: { description: 'The tokens.', schema: tokenListSchema } },
  problems: ['owners_needed'],
  handle: async ({ api, principal }) => {
    assertAllOwners(known({ principal }), what);
    return { status: 200, body: { tokens: await api.client.tokens() } };
  },
});

const revokeRoute = route({
  method: 'DELETE',
  path: '/tokens/{id}',
  id: 'revokeToken',
  tag: 'session',
  summary: 'Make a token invalid, at the latest in ten seconds.',
  access: 'admin',
  params: z.object({ id: z.string().min(1).describe('Id of the token.') }),
  answers: { 204: { description: 'It is no token any more.' } },
  problems: ['owners_needed', 'document_missing'],
  handle: async ({ api, params: { id }, principal }) => {
    assertAllOwners(known({ principal }), what);
    await api.client.revokeToken(id);
    return { status: 204 };
  },
});

/** Tokens of programs. */
export const tokenRoutes: readonly Route[] = [createRoute, listRoute, revokeRoute];
