import { listening } from '../support/listening.js';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { clockFindings } from '../../src/cli/doctor/server.js';
import { assertClock } from '../../src/cli/server-clock.js';
import type { Config } from '../../src/config/load.js';

/** Settings that lead to a server whose answers have this `Date`. */
async function serverAt(date: string | undefined): Promise<Config> {
  const server = createServer((_request, response) => {
    response.sendDate = false;
    if (date !== undefined) response.setHeader('date', date);
    response.statusCode = 401;
    response.end('{}');
  });
  return { url: await listening(server), database: 'd', app: 'a' } as Config;
}

const hour = 3_600_000;

it('a clock far ahead of that of the server is refused and found by tws doctor, any other is not', async () => {
  const date = 'Thu, 03 Jan 2030 12:00:00 GMT';
  const at = Date.parse(date);
  const config = await serverAt(date);
  await expect(assertClock(config, () => at + 50 * hour)).rejects.toMatchObject({
    code: 'clock_ahead',
    message: expect.stringMatching(
      /^The clock of this machine is 2 d.* 2 h.* ahead of that of/,
    ) as string,
  });
  expect(await clockFindings(config, () => at + hour)).toMatchObject([
    {
      what: 'clock',
      verdict: 'fail',
      says: expect.stringContaining('ahead of that of the database server') as string,
    },
  ]);
  for (const now of [at, at + 60_000, at - 50 * hour]) {
    await assertClock(config, () => now);
    expect(await clockFindings(config, () => now)).toEqual([]);
  }
  await assertClock(await serverAt(undefined));
  await assertClock(await serverAt('no date'));
  const nowhere = { ...config, url: 'http://127.0.0.1:1' };
  await expect(assertClock(nowhere)).rejects.toMatchObject({ code: 'couch_unreachable' });
});
