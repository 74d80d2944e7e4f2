import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import { createAccounts } from '../../src/embedded/auth/accounts.js';
import type { Hash } from '../../src/embedded/auth/hashing.js';
import { checkPassword, hashPassword } from '../../src/embedded/auth/passwords.js';
import { prepareUserDoc } from '../../src/embedded/auth/users.js';

describe('the hash in a user document', () => {
  const user = { name: 'ann', roles: [] };
  const doc = { _id: 'org.couchdb.user:ann', type: 'user', name: 'ann', roles: [] };
  const hash = { password_scheme: 'pbkdf2', pbkdf2_prf: 'sha256', salt: 's' };

  it.each([
    ['more rounds', { iterations: 10_000_000, derived_key: 'ab' }, /iterations/],
    ['no number of rounds', { iterations: '1e9', derived_key: 'ab' }, /iterations/],
    ['a longer key', { iterations: 10, derived_key: 'ab'.repeat(100_000) }, /derived_key/],
  ])('may not cost more than a sign-in may: %s', async (_title, more, reason) => {
    const next = { ...doc, ...hash, ...more };
    await expect(prepareUserDoc(next as never, doc, user)).rejects.toThrow(reason);
    expect(await checkPassword(next, 'x')).toBe(false);
  });

  it('may be one that the server made', async () => {
    const made = await hashPassword({ ...doc, password: 'secret' });
    expect(await prepareUserDoc(made as never, doc, user)).toEqual(made);
    expect(await checkPassword(made, 'secret')).toBe(true);
  });
});

describe('a sign-in with a wrong password', () => {
  const credentials = { user: 'admin', password: randomUUID(), secret: 's', file: '' };

  /** The hashes that one try costs, without the password itself. */
  async function costOf(doc: Record<string, unknown> | undefined): Promise<readonly unknown[]> {
    const asked = vi.spyOn(Worker.prototype, 'postMessage');
    const accounts = createAccounts({ credentials, findUser: () => Promise.resolve(doc) });
    expect(await accounts.check('ann', 'wrong', 'here')).toBeUndefined();
    const hashes = asked.mock.calls.map(([hash]) => ({ ...(hash as Hash), salt: 'any' }));
    asked.mockRestore();
    return hashes;
  }

  it('costs the same hash whether there is such a user or not', async () => {
    const known = await hashPassword({ name: 'ann', password: 'right' });
    const cost = await costOf(known);
    expect(cost).toMatchObject([{ password: 'wrong', iterations: 600_000, bytes: 32 }]);
    expect(await costOf(undefined)).toEqual(cost);
  });
});
