import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';

import { cheapHash } from '../support/users.js';
import { ownServer, type OwnServer } from './own-server.js';

let server: OwnServer;
beforeAll(async () => {
  server = await ownServer();
  await server.request('PUT', '/db');
});

/** Makes a user and answers what signs in as one, by the session or by `Authorization`. */
async function user(name: string) {
  const doc = { name, roles: [], type: 'user', ...cheapHash('right') };
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

  test('gains nothing by many tries at the same time', async () => {
    const bob = await user('bob');
    const seen = await Promise.all(Array.from({ length: 40 }, () => bob.session('wrong')));
    expect(seen.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(seen.filter(({ status }) => status === 403)).toHaveLength(35);
  });

  test.skipIf(!existsSync('/proc/self/task'))('has passwords hashed at low priority', async () => {
    await signing('nobody').session('wrong');
    const tasks = `/proc/${server.pid}/task`;
    const priorities = (await readdir(tasks)).map(async (task) => {
      const [, rest = ''] = (await readFile(`${tasks}/${task}/stat`, 'utf8')).split(') ');
      return Number(rest.split(' ')[16]);
    });
    const known = await Promise.all(priorities);
    const usual = Math.min(...known);
    expect(known.filter((one) => one > usual)).toEqual(usual < 10 ? [10] : []);
  });

  test('O5: learns nothing about which names there are', async () => {
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

  test('is told apart from others by the address that an admin names, and only by that', async () => {
    // The address of this machine has failed too often with the other one.
    server = await ownServer();
    const cid = await user('cid');
    const from = (address: string, authorization?: string) => ({
      'x-forwarded-for': address,
      ...(authorization === undefined ? {} : { authorization }),
    });
    const behind = (address: string) => cid.session('wrong', from(address, server.authorization));
    expect(await statuses(6, () => behind('10.0.0.1'))).toEqual([401, 401, 401, 401, 401, 403]);
    expect((await cid.session('right', from('10.0.0.2', server.authorization))).status).toBe(200);
    expect((await cid.session('right')).status).toBe(200);

    await user('dan');
    const dan = `Basic ${btoa('dan:right')}`;
    const forged = [undefined, dan].map((proof) => (n: number) => from(`10.1.0.${n}`, proof));
    for (const [i, headers] of forged.entries()) {
      const eve = await user(`eve-${i}`);
      let n = 0;
      const seen = await statuses(6, () => eve.session('wrong', headers((n += 1))));
      expect(seen).toEqual([401, 401, 401, 401, 401, 403]);
    }
    const proof = `Basic ${btoa(`${server.user}:wrong`)}`;
    expect((await cid.session('right', from('10.0.0.3', proof))).status).toBe(401);
  });
});
