import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { makeUser, openApi } from './server.js';

type Tried = { readonly name: string; readonly password: string };

/** A sign-in from an address of this machine; answers the status. */
function signInFrom(
  localAddress: string,
  url: string,
  body: Tried,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = request(`${url}/_tws/session`, {
      method: 'POST',
      localAddress,
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    });
    asking.on('error', reject).on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asking.end(JSON.stringify(body));
  });
}

const always = { sign_in: 'always' } as const;
const wrong = (name: string): Tried => ({ name, password: 'not-that-one' });

// Other systems give loopback one address unless told otherwise.
describe.skipIf(process.platform !== 'linux')('wrong passwords from one address', () => {
  it('lock the name for that address, and not for others', async () => {
    const { url } = await openApi({ settings: always });
    const user = await makeUser('tws-viewer');
    const guesses: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      guesses.push(await signInFrom('127.0.0.2', url, wrong(user.name)));
    }
    expect(guesses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(await signInFrom('127.0.0.2', url, user)).toBeGreaterThanOrEqual(403);
    expect(await signInFrom('127.0.0.1', url, user)).toBe(200);
  });

  it(
    'lock nobody at other addresses, however many names are tried',
    { timeout: 600_000 },
    async () => {
      const { url } = await openApi({ settings: always });
      const user = await makeUser('tws-viewer');
      for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
        const names = [`nobody-${address}`];
        while (names.length < 8) names.push((await makeUser('tws-viewer')).name);
        for (const name of names) expect(await signInFrom(address, url, wrong(name))).toBe(401);
      }
      expect(await signInFrom('127.0.0.1', url, user)).toBe(200);
    },
  );

  it('are counted for that address, whatever a client says of where it is', async () => {
    const { url } = await openApi({ settings: always });
    const user = await makeUser('tws-viewer');
    const guesses: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const headers = { 'x-forwarded-for': `10.0.0.${n}` };
      guesses.push(await signInFrom('127.0.0.6', url, wrong(user.name), headers));
    }
    expect(guesses).toEqual([401, 401, 401, 401, 401, 403]);
  });
});
