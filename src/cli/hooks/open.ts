import type { Config } from '../../config/load.js';
import type { StoredDocument } from '../../model/document.js';
import { encryptedIn } from '../../model/encrypted-values.js';
import { hookSecrets, type Hook } from '../../model/hook.js';
import { createKeyring } from '../../secrets/keyring.js';
import { placeIn } from '../../secrets/parameters.js';

/** Opens the secrets of hooks with the keys of these settings. What it makes rejects with a TwsError. */
export function hookOpener({
  cryptoKey,
  olderSecrets,
}: Pick<Config, 'cryptoKey' | 'olderSecrets'>) {
  const keyring = createKeyring(cryptoKey, olderSecrets);
  return async (doc: StoredDocument, hook: Hook): Promise<readonly string[]> => {
    const encrypted = encryptedIn(doc);
    return Promise.all(
      hookSecrets(hook).map(async ({ field, text }) => {
        const cipher = encrypted.get(field);
        return cipher === undefined ? text : keyring.decrypt(cipher, placeIn(doc, field));
      }),
    );
  };
}
