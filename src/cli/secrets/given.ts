import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import { createKeyring, keysIn, type Keyring } from '../../secrets/keyring.js';
import type { Io } from '../io.js';
import { questions } from '../prompt.js';

/** The keyring of the settings. @throws TwsError `crypto_key_missing` */
export function keyringOf({ cryptoKey, olderSecrets }: Config): Keyring {
  if (keysIn(cryptoKey).length === 0) throw problem('crypto_key_missing', {});
  return createKeyring(cryptoKey, olderSecrets);
}

/** A value that is typed without being shown, or all of stdin but for the last line end. @throws TwsError `usage` */
export async function valueFrom(question: string, io: Io): Promise<string> {
  const value = io.interactive
    ? await (await questions(io, question)).hidden(question)
    : (await io.readInput()).replace(/\r?\n$/, '');
  if (value === '')
    throw problem('usage', { reason: 'There is no value: type it, or pipe it in.' });
  return value;
}
