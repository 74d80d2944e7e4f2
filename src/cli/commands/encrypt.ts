import { z } from 'zod';
import type { Config } from '../../config/load.js';
import { problem, TwsError } from '../../errors.js';
import { isEncrypted, isOlderFormat } from '../../model/encrypted.js';
import { fieldOf, keysOf } from '../../model/secret-reference.js';
import type { Keyring, SecretPlace } from '../../secrets/keyring.js';
import { placeInSettings } from '../../secrets/settings.js';
import { counted } from '../../words.js';
import { defineCommand, type Command } from '../command.js';
import type { Io } from '../io.js';
import { rotateSubjectKeys } from '../sensitive-values.js';
import { encryptInFile } from '../secrets/in-file.js';
import { keyringOf, valueFrom } from '../secrets/given.js';
import { rewriteFiles, rewriteStored, type RewriteMode } from '../secrets/rewrite.js';

const placeFlags = { for: z.string().optional(), field: z.string().optional() };
const flagsSchema = z.object({
  ...placeFlags,
  upgrade: z.boolean().optional(),
  rotate: z.boolean().optional(),
});

/**
 * `tws encrypt`: for a place (`--for`, `--field`), in a file, or all that is stored (`--upgrade`,
 * `--rotate`). A value never stands on the command line, where others could read it.
 */
export const encrypt = defineCommand(flagsSchema, async ({ args, flags, config: read }, io) => {
  const config = read();
  const keyring = keyringOf(config);
  const wanted = wantedBy(flags);
  if (wanted !== undefined) {
    return args.length === 0
      ? rewriteAll(wanted, { config, keyring }, io)
      : rewriteFiles(wanted, args, keyring, io);
  }
  const [file, field, ...others] = args;
  if (file !== undefined && field !== undefined && others.length === 0) {
    const ask = () => valueFrom('Value to encrypt', io);
    return encryptInFile({ file, field: canonical(field), keyring, ask }, io);
  }
  if (args.length > 0) throw problem('usage', { reason: 'Name a file and a field in it.' });
  const place = placeOf(flags, config);
  if (place === undefined) throw problem('usage', { reason: placeNeeded });
  const text = await keyring.encrypt(await valueFrom('Value to encrypt', io), place);
  io.result(text);
  io.json({ value: text });
  return 0;
});

/** What is stored, and the keys of sensitive values; what goes wrong with one does not hold up the other. */
async function rewriteAll(
  wanted: RewriteMode,
  work: { readonly config: Config; readonly keyring: Keyring },
  io: Io,
): Promise<number> {
  const rotated = wanted === 'rotate' ? await rotatedOrRefused(work.config) : undefined;
  if (rotated instanceof TwsError) {
    io.fail(`The keys of sensitive values were left as they are: ${rotated.message}`);
  } else if (rotated !== undefined) {
    io.out(`re-encrypted: ${counted(rotated.changed, 'key')} of sensitive values`);
    for (const { id, message } of rotated.failed) io.fail(`${id}: ${message}`);
  }
  const exit = await rewriteStored(wanted, work, io);
  if (rotated instanceof TwsError) throw rotated;
  const left = rotated?.failed.length ?? 0;
  if (left > 0) throw problem('secrets_left', { documents: left });
  return exit;
}

/** The error where the user lacks the role. */
async function rotatedOrRefused(config: Config) {
  try {
    return await rotateSubjectKeys(config);
  } catch (error) {
    if (error instanceof TwsError && error.code === 'sensitive_closed') return error;
    throw error;
  }
}

/** `tws decrypt`; values of version 1 and of earlier projects are bound to no place. */
export const decrypt: Command = defineCommand(
  z.object(placeFlags),
  async ({ flags, config: read }, io) => {
    const config = read();
    const keyring = keyringOf(config);
    const text = (await valueFrom('Value to decrypt', io)).trim();
    if (!isEncrypted(text) && !isOlderFormat(text)) throw problem('secret_not_encrypted', {});
    const place = placeOf(flags, config);
    if (place === undefined && text.startsWith('tws:v2:')) {
      throw problem('usage', { reason: placeNeeded });
    }
    const clear = await keyring.decrypt(text, place ?? anywhere);
    io.result(clear);
    io.json({ value: clear });
    return 0;
  },
);

const placeNeeded =
  "Say what the value is for: --for task:NAME --field params.auth.token (--owner for one that is not DEFAULT's), or name a file and a field in it.";
const anywhere: SecretPlace = { kind: 'task', owner: '', name: '', field: 'The value' };

function wantedBy({
  upgrade,
  rotate,
  ...place
}: z.infer<typeof flagsSchema>): RewriteMode | undefined {
  if (upgrade !== true && rotate !== true) return undefined;
  if (place.for !== undefined || place.field !== undefined) {
    const reason =
      '--upgrade and --rotate are for all values of a document: leave --for and --field out.';
    throw problem('usage', { reason });
  }
  return rotate === true ? 'rotate' : 'upgrade';
}

type Place = { readonly for?: string | undefined; readonly field?: string | undefined };

function placeOf({ for: of, field }: Place, { owner }: Config): SecretPlace | undefined {
  if (of === undefined || field === undefined) return undefined;
  if (of === 'settings') return placeInSettings(canonical(field));
  const [, kind, name] = /^(task|flow|hook|secret):(.+)$/.exec(of) ?? [];
  if (name === undefined) {
    throw problem('usage', {
      reason: `--for must be task:NAME, flow:NAME, hook:NAME, secret:NAME or settings; it is "${of}".`,
    });
  }
  return {
    kind: kind as 'task' | 'flow' | 'hook' | 'secret',
    owner,
    name,
    field: canonical(field),
  };
}

/** `a[0].b` is `a.0.b`. */
function canonical(field: string): string {
  return fieldOf(keysOf(field.replaceAll(/\[(\d+)\]/g, '.$1')));
}
