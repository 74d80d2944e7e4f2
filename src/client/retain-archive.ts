import { archiveFor, type RetentionRules } from '../decide/retention/rules.js';
import { canonical } from '../model/canonical.js';
import { archiveName, type WrittenArchive } from '../model/archive.js';
import type { DocumentCopy } from '../store/copies.js';
import type { Store } from '../store/store.js';
import type { Archive, ArchivedFamily } from './archive/archive.js';
import { openArchive } from './archive/open.js';
import type { RetainCandidate } from './retain-candidates.js';
import type { JobFamily } from './retain-family.js';

/** A family that is to be removed, and the job that the rules speak of. */
export type FamilyToGo = { readonly candidate: RetainCandidate; readonly family: JobFamily };

/** An archive that takes no jobs: those that belong there stay. */
export type ArchiveFailure = { readonly archive: string; readonly message: string };

/** The archives of a pass. */
export type PassArchives = {
  /**
   * Archives families before they are removed, some at a time. Yields those that may go: the ids and
   * revisions in `revs` are archived; without `revs` there is no archive for them.
   */
  readonly archived: (families: readonly FamilyToGo[]) => AsyncIterable<readonly Archived[]>;
  readonly failures: () => readonly ArchiveFailure[];
  readonly count: () => number;
  readonly close: () => Promise<void>;
};

export type Archived = FamilyToGo & {
  readonly revs?: ReadonlySet<string>;
  /** It stays: the archive does not take it, or one of its documents changed meanwhile. */
  readonly kept?: 'archive' | 'conflict';
};

export type PassArchiveOptions = {
  readonly rules: RetentionRules;
  readonly root: string;
  readonly now: number;
  /** Opens a place; default: as it is written. */
  readonly open?: (place: WrittenArchive) => Archive;
};

/** Documents of one batch of an archive together, in characters of JSON; a larger family goes alone. */
const mostChars = 16_000_000;

/** Opens the archives of a pass as they are needed. One that fails is not asked again in this pass. */
export function openPassArchives(store: Store, options: PassArchiveOptions): PassArchives {
  const { rules, now } = options;
  const { connection } = store;
  const open = (place: WrittenArchive) => openArchive(place, { ...options, connection });
  const opened = new Map<string, Archive>();
  const failures = new Map<string, ArchiveFailure>();
  let count = 0;
  const storeIn = async (place: WrittenArchive, families: readonly ArchivedFamily[]) => {
    const key = canonical(place);
    if (failures.has(key)) return false;
    try {
      const archive = opened.get(key) ?? open(place);
      opened.set(key, archive);
      if (families.length > 0) await archive.store(families, now);
      count += families.length;
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      failures.set(key, { archive: archiveName(place), message });
      return false;
    }
  };
  return {
    async *archived(families) {
      const groups = new Map<string, readonly FamilyToGo[]>();
      for (const one of families) {
        const place = archiveFor(rules, one.candidate.job);
        const key = place === undefined ? '' : canonical(place);
        groups.set(key, [...(groups.get(key) ?? []), one]);
      }
      for (const [key, group] of groups) {
        if (key === '') yield group;
        else
          yield* inBatches(store, group, (batch) =>
            storeIn(JSON.parse(key) as WrittenArchive, batch),
          );
      }
    },
    failures: () => [...failures.values()],
    count: () => count,
    close: async () => {
      for (const archive of opened.values()) await archive.close();
    },
  };
}

async function* inBatches(
  store: Store,
  group: readonly FamilyToGo[],
  storeThem: (families: readonly ArchivedFamily[]) => Promise<boolean>,
): AsyncGenerator<readonly Archived[], void, undefined> {
  let batch: { readonly one: FamilyToGo; readonly copies: readonly DocumentCopy[] }[] = [];
  let chars = 0;
  const flush = async (): Promise<readonly Archived[]> => {
    const full = batch;
    [batch, chars] = [[], 0];
    const isStored = await storeThem(full.map(({ one, copies }) => archivedFamily(one, copies)));
    return full.map(({ one, copies }): Archived =>
      isStored ? { ...one, revs: new Set(copies.map(revisionName)) } : { ...one, kept: 'archive' },
    );
  };
  for (const one of group) {
    if (!(await storeThem([]))) {
      yield [{ ...one, kept: 'archive' }];
      continue;
    }
    const copies = await copiesOf(store, one.family);
    if (copies === undefined) {
      yield [{ ...one, kept: 'conflict' }];
      continue;
    }
    const length = JSON.stringify(copies).length;
    if (batch.length > 0 && chars + length > mostChars) yield await flush();
    batch.push({ one, copies });
    chars += length;
  }
  if (batch.length > 0) yield await flush();
}

/** What a revision of a document is called in `revs`. */
export function revisionName({
  _id,
  _rev,
}: {
  readonly _id: string;
  readonly _rev: string;
}): string {
  return `${_rev} ${_id}`;
}

/** All documents of a family as they were looked at; undefined when a job changed meanwhile. */
async function copiesOf(
  store: Store,
  { levels, beside }: JobFamily,
): Promise<readonly DocumentCopy[] | undefined> {
  const jobs = levels.flat();
  const copies = await Promise.all(jobs.map(({ _id, _rev }) => store.copy(_id, _rev)));
  const found = copies.filter((copy) => copy !== undefined);
  if (found.length < jobs.length) return undefined;
  const others = [...(await store.getMany(beside)).values()];
  return [...found, ...others];
}

function archivedFamily(
  { candidate, family }: FamilyToGo,
  documents: readonly DocumentCopy[],
): ArchivedFamily {
  const { id: job, flow, owner, status } = candidate.job;
  const { start, end } = family.root;
  const facts = { job, flow, owner, status, start: typeof start === 'number' ? start : null };
  return { facts: { ...facts, end: Number(end), documents: documents.length }, documents };
}
