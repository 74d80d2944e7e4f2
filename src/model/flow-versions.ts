import { addTo } from './grouped.js';

/**
 * Which document of a flow counts, where several share a name and an owner. Engines, client, checks, command
 * line and pages ask this one function.
 *
 * FV1 One document is current: the one with `"current": true`; else the only one; else the one without a version.
 * FV2 Of several with `"current": true` the one with the latest `current_since` counts, where all of them have
 *    one: so `current` moves from one document to another while each of the writes leaves exactly one current.
 *    Where two were marked in the same millisecond, the higher version counts.
 * FV3 A version that stands in several documents is nobody's: neither of them is chosen.
 */

/** What a document of a flow says of its version; it may be malformed. */
type Versioned = Readonly<Record<string, unknown>>;

/** A document of a flow, as commands, API and pages list it. */
export type FlowVersion = {
  readonly id: string;
  readonly rev: string;
  readonly version?: string;
  readonly patch?: string;
  readonly current: boolean;
  /** Since when it is current, or when it last became so (epoch ms). */
  readonly since?: number;
  /** Who made it so, as far as that is known. */
  readonly by?: string;
  /** How many jobs that have not ended run it, or will take it as it is now; absent: not counted. */
  readonly jobs?: number;
};

/** The versions of a flow. `problem`: why none is current. `partly`: there are more jobs than were counted. */
export type FlowVersions = {
  readonly name: string;
  readonly owner: string;
  readonly versions: readonly FlowVersion[];
  readonly problem?: string;
  readonly partly: boolean;
};

/**
 * Which version is asked for; without `version` the current one. `orCurrent`: the current one where there is
 * none of exactly this version (`undefined`: the one without); so a job finds the flow that it has begun with.
 */
export type VersionAsk = {
  readonly version?: string | undefined;
  readonly orCurrent?: true;
};

/** What became of the choice. `versions`: those that there are, where the one that is asked for is none of them. */
export type VersionChoice<T> =
  | { readonly kind: 'chosen'; readonly doc: T }
  | { readonly kind: 'none' }
  | { readonly kind: 'absent'; readonly versions: readonly string[] }
  | { readonly kind: 'ambiguous'; readonly docs: readonly T[]; readonly cause: AmbiguityCause };

/** Why no document counts: none or several are current, or several are of the same version. */
export type AmbiguityCause =
  | { readonly kind: 'none_current' }
  | { readonly kind: 'several_current' }
  | { readonly kind: 'same_version'; readonly version: string | undefined };

/** The version of a flow document or of a job: a number is read as a string. */
export function versionOf({ version }: Versioned): string | undefined {
  return asVersion(version);
}

/** A version as documents, commands and queries give it; undefined: none. */
export function asVersion(version: unknown): string | undefined {
  if (typeof version === 'number') return String(version);
  return typeof version === 'string' && version !== '' ? version : undefined;
}

/** What people call the version of a document. */
export function versionName(version: string | undefined): string {
  return version === undefined ? 'without a version' : `version ${JSON.stringify(version)}`;
}

/** Chooses among the documents of one flow, which share name and owner. */
export function chooseVersion<T extends Versioned>(
  docs: readonly T[],
  { version, orCurrent }: VersionAsk = {},
): VersionChoice<T> {
  if (docs.length === 0) return { kind: 'none' };
  if (orCurrent === true) {
    const exact = docs.filter((doc) => versionOf(doc) === version);
    const [doc] = exact;
    return doc !== undefined && exact.length === 1 ? { kind: 'chosen', doc } : chooseCurrent(docs);
  }
  return version === undefined ? chooseCurrent(docs) : chooseExactly(docs, version);
}

function chooseExactly<T extends Versioned>(docs: readonly T[], version: string): VersionChoice<T> {
  const [doc, ...others] = docs.filter((one) => versionOf(one) === version);
  if (doc === undefined) return { kind: 'absent', versions: versionsOf(docs) };
  if (others.length === 0) return { kind: 'chosen', doc };
  return { kind: 'ambiguous', docs: [doc, ...others], cause: { kind: 'same_version', version } };
}

function chooseCurrent<T extends Versioned>(docs: readonly T[]): VersionChoice<T> {
  const [only] = docs;
  if (only !== undefined && docs.length === 1) return { kind: 'chosen', doc: only };
  const twins = twinsIn(docs);
  if (twins !== undefined) {
    const cause = { kind: 'same_version', version: versionOf(twins[0]) } as const;
    return { kind: 'ambiguous', docs: twins, cause };
  }
  const marked = docs.filter(isMarkedCurrent);
  const current = latest(marked);
  if (current !== undefined) return { kind: 'chosen', doc: current };
  if (marked.length > 1) {
    return { kind: 'ambiguous', docs: marked, cause: { kind: 'several_current' } };
  }
  const plain = docs.find((doc) => versionOf(doc) === undefined);
  if (plain !== undefined) return { kind: 'chosen', doc: plain };
  return { kind: 'ambiguous', docs, cause: { kind: 'none_current' } };
}

/** What is kept on record of how a document became the current one: no part of what people write. */
export const currentRecordKeys: readonly string[] = ['current_since', 'current_by'];

/** Whether a document says that it is the current one. */
export function isMarkedCurrent({ current }: Versioned): boolean {
  return current === true;
}

/** When a document became the current one (epoch ms); undefined: nobody knows. */
export function currentSince({ current_since: since }: Versioned): number | undefined {
  return typeof since === 'number' ? since : undefined;
}

/** Who made a document the current one; undefined: nobody knows. */
export function currentBy({ current_by: by }: Versioned): string | undefined {
  return typeof by === 'string' && by !== '' ? by : undefined;
}

/** The one that is marked, or the one that was marked last. */
function latest<T extends Versioned>(marked: readonly T[]): T | undefined {
  const [first, ...others] = marked;
  if (others.length === 0) return first;
  if (marked.some((doc) => currentSince(doc) === undefined)) return undefined;
  return marked.toSorted(latestFirst)[0];
}

function latestFirst(a: Versioned, b: Versioned): number {
  const later = Number(currentSince(b)) - Number(currentSince(a));
  return later === 0 ? byVersion(versionOf(b) ?? '', versionOf(a) ?? '') : later;
}

/** The first documents of the same version. */
function twinsIn<T extends Versioned>(docs: readonly T[]): readonly [T, ...T[]] | undefined {
  const byVersion = new Map<string | undefined, T[]>();
  for (const doc of docs) addTo(byVersion, versionOf(doc), doc);
  return [...byVersion.values()].find((same): same is [T, ...T[]] => same.length > 1);
}

/** The versions of the documents of one flow, in order. */
export function versionsOf(docs: readonly Versioned[]): readonly string[] {
  const found = docs.flatMap((doc) => versionOf(doc) ?? []);
  return [...new Set(found)].sort(byVersion);
}

/** `2` before `10`, `1.9` before `1.10`. */
export function byVersion(a: string, b: string): number {
  return collator.compare(a, b);
}

const collator = new Intl.Collator('en', { numeric: true });

/** Why no document counts, as the rest of a sentence that begins with the flow. `ids`: of `docs`. */
export function ambiguityText(cause: AmbiguityCause, ids: readonly string[]): string {
  const all = ids.join(', ');
  switch (cause.kind) {
    case 'none_current':
      return `has several versions and none of them is current; set "current": true in one of ${all}.`;
    case 'several_current':
      return `has "current": true in several documents (${all}); leave it in one.`;
    case 'same_version': {
      const which =
        cause.version === undefined ? 'without "version"' : `of ${versionName(cause.version)}`;
      return `is defined by several documents ${which} (${all}); keep one, or give each a "version" of its own.`;
    }
  }
}

/** Some of the documents of all flows: which of them is the one of a name and owner. */
export function currentOnly<T extends Versioned>(
  docs: readonly T[],
  keyOf: (doc: T) => string,
): readonly T[] {
  const byKey = new Map<string, T[]>();
  for (const doc of docs) addTo(byKey, keyOf(doc), doc);
  return [...byKey.values()].flatMap((same) => {
    const choice = chooseVersion(same);
    return choice.kind === 'chosen' ? [choice.doc] : same;
  });
}

/** Why a flow that is there cannot be used, as the rest of a sentence that begins with it. */
export function whyNotChosen(
  choice: Exclude<VersionChoice<{ readonly _id: string }>, { kind: 'chosen' | 'none' }>,
  asked: unknown,
): string {
  if (choice.kind === 'absent') {
    const there =
      choice.versions.length === 0
        ? 'its document has none'
        : `it has ${choice.versions.join(', ')}`;
    return `has no version ${JSON.stringify(asVersion(asked))}; ${there}.`;
  }
  return ambiguityText(
    choice.cause,
    choice.docs.map(({ _id }) => _id),
  );
}
