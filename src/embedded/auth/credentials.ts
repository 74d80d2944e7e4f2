import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { replaceFile } from '../storage/replace-file.js';

/** The server admin, and the key that cookies are signed with. */
export type Credentials = {
  readonly user: string;
  readonly password: string;
  readonly secret: string;
  /** Where name and password are kept: `{"user", "password"}`, mode 0600. */
  readonly file: string;
};

/** Reads `admin.json` and the cookie secret of a directory; makes both, at random, at the first run. */
export async function loadCredentials(dir: string): Promise<Credentials> {
  const file = join(dir, 'admin.json');
  const admin = await readOrMake(file, () =>
    JSON.stringify({ user: 'admin', password: randomBytes(18).toString('base64url') }),
  );
  const secret = await readOrMake(join(dir, 'cookie-secret'), () =>
    randomBytes(32).toString('base64url'),
  );
  const { user, password } = JSON.parse(admin) as { user: string; password: string };
  return { user, password, secret, file };
}

async function readOrMake(file: string, make: () => string): Promise<string> {
  const known = await readFile(file, 'utf8').catch(() => undefined);
  if (known !== undefined) return known;
  const content = make();
  await replaceFile(file, content);
  return content;
}
