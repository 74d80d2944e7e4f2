import { randomUUID } from 'node:crypto';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { sensitiveDatabases, sensitiveRole, valuesProblem } from '../model/sensitive.js';
import { ownerOf } from '../model/task.js';
import { isUnreadableValue, type Keyring, type SecretPlace } from '../secrets/keyring.js';
import { newSubjectKey, openValue, sealValue, subjectReference } from '../secrets/subject-keys.js';
import type { Connection } from '../store/connection.js';
import { eraseDocuments } from '../store/erase.js';
import { createClosedDatabase } from '../store/sensitive-databases.js';
import { openStore, type Store } from '../store/store.js';
import type { NewDocument } from '../store/writer.js';
import { sensitiveRules } from './rules.js';

/** A subject of an owner; `subject` is its reference. */
export type SubjectOf = { readonly owner: string; readonly subject: string };

/** What is told of the values of a subject without opening them. */
export type SubjectFacts = SubjectOf & {
  readonly names: readonly string[];
  /** Epoch ms. */
  readonly updated: number;
  /** Whether its key is there; without it nothing can be read. */
  readonly readable: boolean;
};

/** Who is given values, and why. */
export type AccessAsked = SubjectOf & {
  readonly who: string;
  readonly names: readonly string[];
  readonly why?: string | undefined;
};

/** The sensitive values of one database. All functions throw the TwsErrors of the store. */
export type Vault = {
  /** Creates the two databases, or what is missing of them. */
  readonly prepare: () => Promise<Readonly<Record<'values' | 'keys', 'created' | 'exists'>>>;
  /** What stands for a subject in jobs. */
  readonly reference: (owner: string, subject: string) => Promise<string>;
  /** Stores values, beside those that the subject has. @throws TwsError `sensitive_invalid` */
  readonly put: (of: SubjectOf, values: Readonly<Record<string, string>>) => Promise<void>;
  /** Opens a value for an attempt; undefined: it is not stored, or was purged. */
  readonly open: (of: SubjectOf, name: string) => Promise<string | undefined>;
  /** Opens values for somebody, after the access is on record; those that are not there are left out. */
  readonly read: (asking: AccessAsked) => Promise<Readonly<Record<string, string>>>;
  /** All subjects; `owners`: of these only. */
  readonly list: (owners?: readonly string[]) => Promise<readonly SubjectFacts[]>;
  /** The records of accesses, the oldest first. */
  readonly accesses: () => Promise<readonly StoredDocument[]>;
  /** Destroys the keys of subjects of these owners, and their values; resolves with those that there were. */
  readonly purge: (
    subjects: readonly SubjectOf[],
    by: { readonly who: string; readonly why?: string | undefined },
  ) => Promise<readonly SubjectOf[]>;
  /** Encrypts the keys of all subjects with the first key; those that cannot be read are left as they are, and told. */
  readonly rotate: () => Promise<Rotated>;
  readonly close: () => Promise<void>;
};

export type Rotated = {
  readonly changed: number;
  readonly failed: readonly { readonly id: string; readonly message: string }[];
};

type Parts = {
  readonly values: Store;
  readonly keys: Store;
  readonly keyring: Keyring;
  readonly now: () => number;
};

/** The id of the key of which the references are made. */
const referencesId = 'references';
const accessPrefix = 'access:';
const subjectPrefix = 's-';
/** Somebody else may write a document at the same time; after so many conflicts it is given up. */
const mostTries = 20;

/** Opens the sensitive values beside a database; nothing is sent before the first request. */
export function openVault(
  connection: Connection,
  keyring: Keyring,
  now: () => number = Date.now,
): Vault {
  const names = sensitiveDatabases(connection.database);
  const at = {
    values: { ...connection, database: names.values },
    keys: { ...connection, database: names.keys },
  };
  const values = openStore(at.values);
  const keys = openStore(at.keys);
  const parts: Parts = { values, keys, keyring, now };
  const members = { roles: [sensitiveRole] };
  let references: Promise<Buffer> | undefined;
  return {
    prepare: async () => ({
      values: await createClosedDatabase(at.values, members, sensitiveRules()),
      keys: await createClosedDatabase(at.keys, members),
    }),
    reference: async (owner, subject) => {
      references ??= keyOf(parts, placeOfKey('', referencesId)).catch((error: unknown) => {
        references = undefined;
        throw error;
      });
      return subjectReference(await references, owner, subject);
    },
    put: (of, given) => set(parts, of, given),
    open: (of, name) => open(parts, of, name),
    read: (asking) => read(parts, asking),
    list: (owners) => list(parts, owners),
    accesses: () => values.range(accessPrefix),
    purge: async (given, by) => {
      const subjects = await ownedOf(parts, given);
      for (const of of subjects) await record(parts, { ...of, ...by, names: [] }, 'purge');
      const ids = subjects.map(({ subject }) => subject);
      const gone = new Set([
        ...(await eraseDocuments(at.keys, ids)),
        ...(await eraseDocuments(at.values, ids)),
      ]);
      return subjects.filter(({ subject }) => gone.has(subject));
    },
    rotate: () => rotate(parts),
    close: async () => {
      await Promise.all([values.close(), keys.close()]);
    },
  };
}

/** Without those whose key or values belong to another owner; a purge that was interrupted leaves nothing that tells. */
async function ownedOf(
  { values, keys }: Parts,
  subjects: readonly SubjectOf[],
): Promise<readonly SubjectOf[]> {
  const ids = subjects.map(({ subject }) => subject);
  const there = [await keys.getMany(ids), await values.getMany(ids)];
  return subjects.filter(({ owner, subject }) =>
    there.every((docs) => {
      const doc = docs.get(subject);
      return doc === undefined || ownerOf(doc) === owner;
    }),
  );
}

function placeOfKey(owner: string, id: string): SecretPlace {
  return { kind: 'subject-key', owner, name: id, field: 'key' };
}

/** The key of a subject, or that of the references; made where there is none. */
async function keyOf(parts: Parts, place: SecretPlace): Promise<Buffer> {
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const there = await keyThere(parts, place);
    if (there !== undefined) return there.key;
    const key = await parts.keyring.encrypt(newSubjectKey().toString('base64'), place);
    const doc = { _id: place.name, type: 'subject-key', owner: place.owner, key };
    await stored(parts.keys, doc);
  }
  throw problem('document_conflict', { id: place.name });
}

async function keyThere({ keys, keyring }: Parts, place: SecretPlace) {
  const doc = await keys.get(place.name);
  if (doc === undefined) return undefined;
  const key = Buffer.from(await keyring.decrypt(String(doc['key']), place), 'base64');
  return { rev: doc._rev, key };
}

/** Whether it was stored; false: somebody else was first. @throws TwsError `document_refused`, `write_unknown` */
async function stored(store: Store, doc: NewDocument): Promise<boolean> {
  const result = await store.write(doc);
  switch (result.kind) {
    case 'written':
      return true;
    case 'conflict':
      return false;
    case 'refused':
      throw problem('document_refused', { id: doc._id, reason: result.reason });
    case 'unknown':
      throw problem('write_unknown', { id: doc._id, cause: result.cause });
  }
}

async function set(
  parts: Parts,
  of: SubjectOf,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const wrong = valuesProblem(given);
  if (wrong !== undefined) throw problem('sensitive_invalid', { reason: wrong });
  const { owner, subject } = of;
  const place = placeOfKey(owner, subject);
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const key = await keyOf(parts, place);
    const before = await parts.values.get(subject);
    const kept = valuesWith(before, of, key);
    const sealed = Object.entries(given).map(([name, clear]): [string, string] => [
      name,
      sealValue(key, clear, { ...of, name }),
    ]);
    const doc = {
      ...(before === undefined ? {} : { _rev: before._rev }),
      ...{ _id: subject, type: 'sensitive', subject, owner },
      values: { ...kept, ...Object.fromEntries(sealed) },
      updated: parts.now(),
    };
    if (!(await stored(parts.values, doc))) continue;
    // A purge in between has destroyed the key: then they are sealed anew.
    const still = await keyThere(parts, place);
    if (still?.key.equals(key) === true) return;
  }
  throw problem('document_conflict', { id: subject });
}

/** The values that this key opens; others are left from before a purge. */
function valuesWith(
  doc: StoredDocument | undefined,
  of: SubjectOf,
  key: Buffer,
): Readonly<Record<string, unknown>> {
  const all = Object.entries(isObject(doc?.['values']) ? doc['values'] : {});
  return Object.fromEntries(
    all.filter(([name, text]) => openValue(key, String(text), { ...of, name }) !== undefined),
  );
}

async function open(parts: Parts, of: SubjectOf, name: string): Promise<string | undefined> {
  return (await openAll(parts, of, [name]))[name];
}

async function openAll(
  parts: Parts,
  of: SubjectOf,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const doc = await parts.values.get(of.subject);
  const values = doc?.['values'];
  if (doc === undefined || !isObject(values) || ownerOf(doc) !== of.owner) return {};
  const there = await keyThere(parts, placeOfKey(of.owner, of.subject));
  if (there === undefined) return {};
  const entries = names.flatMap((name): [string, string][] => {
    const text = Object.hasOwn(values, name) ? values[name] : undefined;
    const clear =
      typeof text === 'string' ? openValue(there.key, text, { ...of, name }) : undefined;
    return clear === undefined ? [] : [[name, clear]];
  });
  return Object.fromEntries(entries);
}

/** It is on record before anything is opened. */
async function read(parts: Parts, asking: AccessAsked): Promise<Readonly<Record<string, string>>> {
  await record(parts, asking, 'get');
  return openAll(parts, asking, asking.names);
}

async function record(
  { values, now }: Parts,
  { who, owner, subject, names, why }: AccessAsked,
  how: 'get' | 'purge',
): Promise<void> {
  const at = now();
  const _id = `${accessPrefix}${new Date(at).toISOString()}:${randomUUID()}`;
  const more = why === undefined ? {} : { why };
  const about = { type: 'sensitive-access', who, at, owner, subject, names, how, ...more };
  if (!(await stored(values, { _id, ...about }))) throw problem('document_conflict', { id: _id });
}

async function list(
  { values, keys }: Parts,
  owners?: readonly string[],
): Promise<readonly SubjectFacts[]> {
  const readable = new Set((await keys.range(subjectPrefix)).map(({ _id }) => _id));
  const docs = await values.range(subjectPrefix);
  return docs
    .filter((doc) => owners === undefined || owners.includes(ownerOf(doc)))
    .map((doc) => ({
      owner: ownerOf(doc),
      subject: doc._id,
      names: Object.keys(isObject(doc['values']) ? doc['values'] : {}),
      updated: Number(doc['updated']),
      readable: readable.has(doc._id),
    }));
}

async function rotate(parts: Parts): Promise<Rotated> {
  const { keys } = parts;
  const docs = [...(await keys.range(referencesId)), ...(await keys.range(subjectPrefix))];
  const failed: { id: string; message: string }[] = [];
  let changed = 0;
  for (const doc of docs) {
    try {
      if (await rotateKey(parts, doc)) changed += 1;
    } catch (error) {
      if (!isUnreadableValue(error)) throw error;
      failed.push({ id: doc._id, message: error.message });
    }
  }
  return { changed, failed };
}

/** Whether it was changed; a key that is purged meanwhile is not. */
async function rotateKey({ keys, keyring }: Parts, first: StoredDocument): Promise<boolean> {
  let doc: StoredDocument | undefined = first;
  for (let tries = 1; doc !== undefined; tries += 1) {
    const text = String(doc['key']);
    if (await keyring.isCurrent(text)) return false;
    const place = placeOfKey(String(doc['owner']), doc._id);
    const key = await keyring.encrypt(await keyring.decrypt(text, place), place);
    if (await stored(keys, { ...doc, key })) return true;
    if (tries === mostTries) throw problem('document_conflict', { id: doc._id });
    doc = await keys.get(doc._id);
  }
  return false;
}

/** Whether it says that sensitive values are not set up beside this database. */
export function isNotSetUp(error: unknown): boolean {
  return error instanceof TwsError && error.code === 'database_missing';
}
