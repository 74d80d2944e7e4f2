import { beforeAll, describe, expect, test } from 'vitest';

import { ownServer, type OwnServer } from './own-server.js';

let server: OwnServer;
beforeAll(async () => {
  server = await ownServer();
  await server.request('PUT', '/db');
});

/** Makes a user and answers what signs in as one, by the session or by `Authorization`. */
async function user(name: string) {
  const doc = { name, password: 'right', roles: [], type: 'user' };
  await server.request('PUT', `/_users/org.couchdb.user:${name}`, doc);
  return signing(name);
}

const signing = (name: string) => ({
  session: (password: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${server.url}/_session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ name, password }),
    }),
  basic: (password: string) =>
    fetch(`${server.url}/_session`, {
      headers: { authorization: `Basic ${btoa(`${name}:${password}`)}` },
    }),
});

const statuses = async (
  tries: number,
  one: () => Promise<Response>,
): Promise<readonly number[]> => {
  const seen: number[] = [];
  for (let n = 0; n < tries; n += 1) seen.push((await one()).status);
  return seen;
};

describe('a guesser', () => {
  test.each(['session', 'basic'] as const)('is locked after five passwords (%s)', async (way) => {
    const ann = await user(`ann-${way}`);
    expect(await statuses(6, () => ann[way]('wrong'))).toEqual([401, 401, 401, 401, 401, 403]);
    const locked = await ann[way]('right');
    expect(locked.status).toBe(403);
    expect(await locked.json()).toMatchObject({
      reason: expect.stringMatching(/temporarily locked/) as unknown,
    });
    // The lock of the first failures is short.
    await expect.poll(async () => (await ann[way]('right')).status).toBe(200);
  });

  test('learns nothing about which names there are', async () => {
    const nobody = signing('nobody-there');
    const seen = await statuses(6, () => nobody.session('wrong'));
    expect(seen).toEqual([401, 401, 401, 401, 401, 403]);
  });

  test('does not lock out the admin', async () => {
    const { session } = signing(server.user);
    await statuses(8, () => session('wrong'));
    expect((await session('wrong')).status).toBe(403);
    expect((await session(server.password)).status).toBe(200);
    expect((await server.request('GET', '/db')).status).toBe(200);
  });

  test('does not sign visitors of another page in', async () => {
    const { session } = signing(server.user);
    expect((await session(server.password, { origin: 'http://evil.example' })).status).toBe(403);
    const { host } = new URL(server.url);
    expect((await session(server.password, { origin: `http://${host}` })).status).toBe(200);
  });
});
