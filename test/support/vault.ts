import { onTestFinished } from 'vitest';
import { createKeyring } from '../../src/secrets/keyring.js';
import { openVault, type Vault } from '../../src/sensitive/vault.js';
import type { Workspace } from './workspace.js';

/** The main key of tests with sensitive values. */
export const vaultKey = 'the main key of this test';

/** The sensitive values beside the database of a workspace, set up. */
export async function vaultOf(
  { store }: Pick<Workspace, 'store'>,
  now: () => number = Date.now,
): Promise<{ readonly vault: Vault }> {
  const vault = openVault(store.connection, createKeyring(vaultKey), now);
  onTestFinished(vault.close);
  await vault.prepare();
  return { vault };
}
