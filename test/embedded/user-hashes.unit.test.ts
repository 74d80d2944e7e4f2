import { describe, expect, it } from 'vitest';
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
