import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { ownerOf } from '../model/task.js';
import { openValue, sealValue } from '../secrets/subject-keys.js';
import { keyMade, keyThere, placeOfKey } from './keys.js';
import { mostTries, stored, subjectPrefix, type SubjectOf, type VaultParts } from './parts.js';

/** Values in clear, by name. */
export type ClearValues = Readonly<Record<string, string>>;

/** What is told of the values of a subject without opening them. */
export type SubjectFacts = SubjectOf & {
  readonly names: readonly string[];
  /** Epoch ms. */
  readonly updated: number;
  /** How long they stay after that, ms; 0: for ever; absent: as the setting says. */
  readonly retain?: number;
  /** Whether its key is there; without it nothing can be read. */
  readonly readable: boolean;
};

const retained = (retain: unknown): { readonly retain?: number } =>
  typeof retain === 'number' ? { retain } : {};

/** Seals values and stores them beside those that the subject has; its key is made where there is none. */
export async function sealValues(
  parts: VaultParts,
  of: SubjectOf,
  given: ClearValues,
  retain?: number,
): Promise<void> {
  const { owner, subject } = of;
  const place = placeOfKey(owner, subject);
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const key = await keyMade(parts, place);
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
      ...retained(retain ?? before?.['retain']),
    };
    if (!(await stored(parts.values, doc))) continue;
    // A purge in between has destroyed the key: then they are sealed anew.
    const still = await keyThere(parts, place);
    if (still?.equals(key) === true) return;
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

/** Those of the values that are there, in clear. */
export async function openValues(
  parts: VaultParts,
  of: SubjectOf,
  names: readonly string[],
): Promise<ClearValues> {
  const doc = await parts.values.get(of.subject);
  const values = doc?.['values'];
  if (doc === undefined || !isObject(values) || ownerOf(doc) !== of.owner) return {};
  const key = await keyThere(parts, placeOfKey(of.owner, of.subject));
  if (key === undefined) return {};
  const entries = names.flatMap((name): [string, string][] => {
    const text = Object.hasOwn(values, name) ? values[name] : undefined;
    const clear = typeof text === 'string' ? openValue(key, text, { ...of, name }) : undefined;
    return clear === undefined ? [] : [[name, clear]];
  });
  return Object.fromEntries(entries);
}

/** All subjects; `owners`: of these only. */
export async function listSubjects(
  { values, keys }: VaultParts,
  owners?: readonly string[],
): Promise<readonly SubjectFacts[]> {
  const readable = new Set<string>();
  for await (const { _id } of keys.rangePages(subjectPrefix)) readable.add(_id);
  const found: SubjectFacts[] = [];
  for await (const doc of values.rangePages(subjectPrefix)) {
    const owner = ownerOf(doc);
    if (owners !== undefined && !owners.includes(owner)) continue;
    found.push({
      ...{ owner, subject: doc._id },
      names: Object.keys(isObject(doc['values']) ? doc['values'] : {}),
      ...keptIn(doc),
      readable: readable.has(doc._id),
    });
  }
  return found;
}

/** When values were last stored, and how long they stay then. */
export function keptIn(doc: StoredDocument): Pick<SubjectFacts, 'updated' | 'retain'> {
  return { updated: Number(doc['updated']), ...retained(doc['retain']) };
}
