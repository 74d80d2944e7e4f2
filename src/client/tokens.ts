import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { StoredDocument } from '../model/document.js';
import { tokenPrefix, tokenSchema, type TokenDocument } from '../model/token.js';
import type { Store } from '../store/store.js';
import { removeDocument, writeDocument } from './writes.js';
import { problem, TwsError } from '../errors.js';

/** A token without what proves it. Times in epoch ms. */
export type TokenFacts = Pick<TokenDocument, 'name' | 'roles' | 'created' | 'expires'> & {
  readonly id: string;
};

export type NewToken = {
  readonly name: string;
  readonly roles: readonly string[];
  /** Not valid from then on (epoch ms). */
  readonly expires?: number | undefined;
};

/** The token as its user shows it: `tws_<id>_<secret>`; an id has 12, a secret 43 characters. */
const tokenForm = /^tws_([0-9A-Za-z]{12})_([\w-]{43})$/;

/** Makes a token. `token` is told this once and kept nowhere. */
export async function createToken(
  store: Store,
  { name, roles, expires }: NewToken,
  now: number,
): Promise<TokenFacts & { readonly token: string }> {
  const id = newId();
  const secret = randomBytes(32).toString('base64url');
  const facts = {
    name,
    roles: [...roles],
    created: now,
    ...(expires === undefined ? {} : { expires }),
  };
  await writeDocument(store, {
    _id: `${tokenPrefix}${id}`,
    type: 'token',
    ...facts,
    hash: hashOf(secret),
  });
  return { id, ...facts, token: `tws_${id}_${secret}` };
}

/** All tokens, without what proves them. */
export async function listTokens(store: Store): Promise<readonly TokenFacts[]> {
  const docs = await store.range(tokenPrefix);
  return docs.flatMap((doc) => {
    const { success, data } = tokenSchema.safeParse(doc);
    if (!success) return [];
    const { name, roles, created, expires } = data;
    const more = expires === undefined ? {} : { expires };
    return [{ id: doc._id.slice(tokenPrefix.length), name, roles, created, ...more }];
  });
}

/** Makes a token invalid. @throws TwsError `document_missing` */
export async function revokeToken(store: Store, id: string): Promise<void> {
  const _id = `${tokenPrefix}${id}`;
  for (let tries = 1; ; tries += 1) {
    const doc = await store.get(_id);
    if (doc === undefined) throw problem('document_missing', { id: _id });
    try {
      await removeDocument(store, _id, doc._rev);
      return;
    } catch (error) {
      // Somebody has changed or revoked it meanwhile.
      const isRace = error instanceof TwsError && error.code === 'document_conflict';
      if (!isRace || tries === mostTries) throw error;
    }
  }
}

const mostTries = 5;

/** What a token that somebody shows stands for; undefined when it is none, or not valid any more. */
export async function checkToken(
  store: Store,
  token: string,
  now: number,
): Promise<TokenFacts | undefined> {
  const [, id, secret] = tokenForm.exec(token) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const doc: StoredDocument | undefined = await store.get(`${tokenPrefix}${id}`);
  const { success, data } = tokenSchema.safeParse(doc);
  if (!success || !isSame(data.hash, hashOf(secret))) return undefined;
  const { name, roles, created, expires } = data;
  if (expires !== undefined && expires <= now) return undefined;
  return { id, name, roles, created, ...(expires === undefined ? {} : { expires }) };
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** It names the token and need not be secret. */
function newId(): string {
  return [...randomBytes(12)].map((byte) => letters[byte % letters.length]).join('');
}
