import { z } from 'zod';
import { problem } from '../../errors.js';
import type { Api } from '../api.js';
import { areDocsBuilt } from '../docs.js';
import { cookieIn, setCookie } from '../access/cookies.js';
import { principalOf, type Principal } from '../access/principal.js';
import { route } from '../route.js';
import { whoSchema } from '../operation-schemas.js';
import { known } from './common.js';

const cookieHeader = { 'set-cookie': 'The session: HttpOnly, SameSite=Strict.' };

export const signInRoute = route({
  method: 'POST',
  path: '/session',
  id: 'signIn',
  tag: 'session',
  summary: 'Sign in as a user of the CouchDB that this API works with.',
  access: 'open',
  body: {
    schema: z.strictObject({ name: z.string().min(1).max(200), password: z.string().max(1_000) }),
    // Everybody may send it.
    mostBytes: 16_384,
  },
  answers: { 200: { description: 'Signed in.', schema: whoSchema, headers: cookieHeader } },
  problems: ['sign_in_refused', 'sign_in_locked', 'too_many_requests', 'database_away'],
  handle: async ({ api, body: { name, password }, address }) => {
    const seconds = api.trySignIn(address);
    if (seconds !== undefined) throw problem('too_many_requests', { seconds });
    const signedIn = await api.client.signIn({ name, password, address });
    switch (signedIn.kind) {
      case 'refused':
        throw problem('sign_in_refused', {});
      case 'locked':
        throw problem('sign_in_locked', {});
      case 'signed_in':
        return {
          status: 200,
          body: shown(principalOf('user', signedIn.name, signedIn.roles), api),
          headers: { 'set-cookie': setCookie(signedIn.cookie, api.secure) },
        };
    }
  },
});

export const whoRoute = route({
  method: 'GET',
  path: '/session',
  id: 'getSession',
  tag: 'session',
  summary: 'Who you are, and what you may do.',
  access: 'none',
  answers: { 200: { description: 'You.', schema: whoSchema } },
  handle: ({ api, principal }) => ({ status: 200, body: shown(known({ principal }), api) }),
});

export const signOutRoute = route({
  method: 'DELETE',
  path: '/session',
  id: 'signOut',
  tag: 'session',
  summary: 'Sign out.',
  access: 'none',
  answers: { 204: { description: 'Signed out.', headers: cookieHeader } },
  handle: async ({ api, headers }) => {
    const cookie = cookieIn(headers.cookie);
    if (cookie !== undefined) await api.identify.end(cookie);
    return { status: 204, headers: { 'set-cookie': setCookie('', api.secure) } };
  },
});

function shown(principal: Principal, { client, project }: Api) {
  const { name, kind, level, owners, roles } = principal;
  const { url, database } = client.place;
  const mayOpen = level === 'admin' && owners === 'all';
  const fauxton = `${url}/_utils/#database/${encodeURIComponent(database)}/_all_docs`;
  const docs = areDocsBuilt();
  const place = { project, database, docs, ...(mayOpen ? { fauxton } : {}) };
  return { name, kind, level, owners, roles, ...(level === 'none' ? {} : { place }) };
}
