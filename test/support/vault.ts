import { onTestFinished } from 'vitest';
import { createKeyring } from '../../src/secrets/keyring.js';
import { openVault, type Vault } from '../../src/sensitive/vault.js';
import type { Workspace } from './workspace.js';

/** The main key of tests with sensitive values. */
export const vaultKey = 'the main key of this test';

/** The sensitive values beside the database of a workspace, set up unless `prepared` is false. */
export async function vaultOf(
  { store }: Pick<Workspace, 'store'>,
  now: () => number = Date.now,
  prepared = true,
): Promise<{ readonly vault: Vault }> {
  const vault = openVault(store.connection, createKeyring(vaultKey), now);
  onTestFinished(vault.close);
  if (prepared) await vault.prepare();
  return { vault };
}
