import { encryptedIn, mapEncrypted } from '../model/encrypted-values.js';
import { fieldOf } from '../model/secret-reference.js';
import type { Keyring, SecretPlace } from './keyring.js';

/** The place of an encrypted value in `tws.json`: `field` is its path there (`webhooks.0.secret`). */
export function placeInSettings(field: string): SecretPlace {
  return { kind: 'settings', owner: '', name: 'tws.json', field };
}

/** A part of the settings in clear, and the texts that were decrypted; `at` is its path in `tws.json`. */
export async function openSettings<T>(
  part: T,
  at: string,
  keyring: Keyring,
): Promise<{ readonly value: T; readonly clear: readonly string[] }> {
  const opened = new Map<string, string>();
  for (const [field, text] of encryptedIn(part)) {
    opened.set(field, await keyring.decrypt(text, placeInSettings(`${at}.${field}`)));
  }
  const value = mapEncrypted(part, (_text, keys) => opened.get(fieldOf(keys)));
  return { value: value as T, clear: [...opened.values()] };
}
