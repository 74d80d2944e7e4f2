import { resolve } from 'node:path';
import { applyEdits, modify, parse } from 'jsonc-parser';
import { problem, TwsError } from '../../errors.js';
import { readTextFile } from '../../text-file.js';
import { isObject } from '../../model/object.js';
import { encryptedText, isEncrypted, isOlderFormat } from '../../model/encrypted.js';
import { keysOf } from '../../model/secret-reference.js';
import type { Keyring } from '../../secrets/keyring.js';
import { placeIn } from '../../secrets/parameters.js';
import type { Io } from '../io.js';
import { writeWhole } from '../disk.js';

type Order = {
  readonly file: string;
  readonly field: string;
  readonly keyring: Keyring;
  /** The clear text where the file has none. */
  readonly ask: () => Promise<string>;
};

/**
 * Encrypts one field of a task, flow or hook in its file: the text that stands there, or one that is asked
 * for. Encrypted values are written anew for their place. Everything else stays as it is written.
 */
export async function encryptInFile({ file, field, keyring, ask }: Order, io: Io): Promise<number> {
  const { path, text, doc } = await readDefinition(file, io);
  const before = keysOf(field).reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (value as Record<string, unknown>)[key]
        : undefined,
    doc,
  );
  const written = encryptedText(before);
  if (before !== undefined && written === undefined) {
    throw problem('usage', { reason: `${field} of ${file} is no text.` });
  }
  const place = placeIn(doc, field);
  const isCipher = written !== undefined && (isEncrypted(written) || isOlderFormat(written));
  const clear = isCipher ? await keyring.decrypt(written, place) : written || (await ask());
  await writeFields(path, text, doc, new Map([[field, await keyring.encrypt(clear, place)]]));
  io.out(`encrypted: ${field} of ${file}`);
  io.json({ file, field });
  return 0;
}

export type DefinitionFile = {
  readonly path: string;
  readonly text: string;
  readonly doc: Readonly<Record<string, unknown>>;
};

/** A task, flow or hook in a file. @throws TwsError `usage` */
export async function readDefinition(file: string, { cwd }: Io): Promise<DefinitionFile> {
  const path = resolve(cwd, file);
  const text = await readTextFile(path, file).catch((error: unknown) => {
    if (error instanceof TwsError) throw error;
    throw problem('usage', { reason: `There is no file ${file}.` });
  });
  const doc: unknown = parse(text.replace(/^\uFEFF/, ' '));
  const isNamed = isObject(doc) && typeof doc['name'] === 'string';
  if (!isNamed || !['task', 'flow', 'hook', 'secret'].includes(String(doc['type']))) {
    throw problem('usage', {
      reason: `${file} is no task, flow, hook or secret with a name: an encrypted value is bound to it.`,
    });
  }
  return { path, text, doc };
}

/** Writes texts into fields of a JSON file. */
export async function writeFields(
  path: string,
  text: string,
  doc: unknown,
  fields: ReadonlyMap<string, string>,
): Promise<void> {
  const formattingOptions = { insertSpaces: true, tabSize: 2 };
  let next = text;
  for (const [field, value] of fields) {
    next = applyEdits(next, modify(next, jsonPath(doc, field), value, { formattingOptions }));
  }
  await writeWhole(path, next);
}

/** Positions in lists are numbers there. */
function jsonPath(doc: unknown, field: string): (string | number)[] {
  let at: unknown = doc;
  return keysOf(field).map((key) => {
    const segment = Array.isArray(at) ? Number(key) : key;
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined;
    return segment;
  });
}
