import { z } from 'zod';
import { problem } from '../../errors.js';
import { isEncrypted } from '../../model/encrypted.js';
import { decrypt as toClear, encrypt as toCipher } from '../../secrets/encryption.js';
import { isOlderFormat, type OlderFormat } from '../../secrets/older-format.js';
import { command, type Command } from '../command.js';
import type { Io } from '../io.js';
import { questions } from '../prompt.js';

/** `tws encrypt`: the value never stands on the command line, where others could read it. */
export const encrypt = converter('Value to encrypt', toCipher);

/** `tws decrypt`. */
export const decrypt = converter('Value to decrypt', (value, key, older) => {
  const text = value.trim();
  if (!isEncrypted(text) && !isOlderFormat(text)) throw problem('secret_not_encrypted', {});
  return toClear(text, key, undefined, older);
});

type Convert = (value: string, key: string, older: OlderFormat | undefined) => string;

function converter(question: string, convert: Convert): Command {
  return command(z.object({}), async ({ config }, io) => {
    const { cryptoKey, olderSecrets } = config();
    if (cryptoKey === undefined) throw problem('crypto_key_missing', {});
    const converted = convert(await valueFrom(question, io), cryptoKey, olderSecrets);
    io.out(converted);
    io.json({ value: converted });
    return 0;
  });
}

async function valueFrom(question: string, io: Io): Promise<string> {
  const value = io.interactive
    ? await (await questions(io, question)).hidden(question)
    : (await io.readInput()).replace(/\r?\n$/, '');
  if (value === '')
    throw problem('usage', { reason: 'There is no value: type it, or pipe it in.' });
  return value;
}
