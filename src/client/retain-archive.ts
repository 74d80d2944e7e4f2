import { addTo } from '../model/grouped.js';
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

/** Why an archive did not take a job, which stays. */
export type ArchiveFailure = {
  readonly archive: string;
  readonly job: string;
  readonly message: string;
};

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
  /** It stays: the archive does not take it, one of its documents changed meanwhile, or it is too large. */
  readonly kept?: NotArchived;
};

type NotArchived = 'archive' | 'conflict' | 'large';

export type PassArchiveOptions = {
  readonly rules: RetentionRules;
  readonly root: string;
  readonly now: number;
  /** Opens a place; default: as it is written. */
  readonly open?: (place: WrittenArchive) => Archive;
};

/** Documents of one batch of an archive together, in characters of JSON; a larger family goes alone. */
const mostChars = 16_000_000;
/** Documents of one family, likewise: they are held in memory, and become one text of JSON. */
const mostCharsOfFamily = 256_000_000;
/** An archive that did not take so many families in a row is not asked again in this pass. */
const mostInARow = 3;
/** So many different failures of an archive are told. */
const mostTold = 3;

/** Opens the archives of a pass as they are needed. */
export function openPassArchives(store: Store, options: PassArchiveOptions): PassArchives {
  const { rules, now } = options;
  const { connection } = store;
  const places = new Map<string, PassPlace>();
  const placeFor = (written: WrittenArchive): PassPlace => {
    const key = canonical(written);
    const open = () => openArchive(written, { ...options, connection });
    const place = places.get(key) ?? createPlace(archiveName(written), open, now);
    places.set(key, place);
    return place;
  };
  return {
    async *archived(families) {
      const groups = new Map<PassPlace | undefined, FamilyToGo[]>();
      for (const one of families) {
        const written = archiveFor(rules, one.candidate.job);
        const place = written === undefined ? undefined : placeFor(written);
        addTo(groups, place, one);
      }
      for (const [place, group] of groups) {
        if (place === undefined) yield group;
        else yield* inBatches(store, group, place);
      }
    },
    failures: () => [...places.values()].flatMap(({ failures }) => failures),
    count: () => [...places.values()].reduce((sum, { count }) => sum + count(), 0),
    close: async () => {
      for (const { close } of places.values()) await close();
    },
  };
}

/** An archive in a pass. */
type PassPlace = {
  /** It is not asked again. */
  readonly isGivenUp: () => boolean;
  /** Stores families together, or each alone if that fails. Resolves with those that it took. */
  readonly store: (families: readonly ArchivedFamily[]) => Promise<ReadonlySet<ArchivedFamily>>;
  /** Notes that a job cannot be archived. */
  readonly failed: (job: string, error: unknown) => NotArchived;
  readonly failures: readonly ArchiveFailure[];
  readonly count: () => number;
  readonly close: () => Promise<void>;
};

function createPlace(name: string, open: () => Archive, now: number): PassPlace {
  const failures: ArchiveFailure[] = [];
  let opened: Archive | undefined;
  let inARow = 0;
  let count = 0;
  const isGivenUp = (): boolean => inARow >= mostInARow;
  const failed = (job: string, error: unknown): NotArchived => {
    const message = error instanceof Error ? error.message : String(error);
    const isNew = failures.every((one) => one.message !== message);
    if (isNew && failures.length < mostTold) failures.push({ archive: name, job, message });
    inARow += 1;
    return 'archive';
  };
  const storeNow = async (families: readonly ArchivedFamily[]): Promise<void> => {
    opened ??= open();
    await opened.store(families, now);
    count += families.length;
    inARow = 0;
  };
  return {
    ...{ isGivenUp, failed, failures },
    store: async (families) => {
      if (isGivenUp()) return new Set();
      const together =
        families.length > 1 &&
        storeNow(families).then(
          () => true,
          () => false,
        );
      if (await together) return new Set(families);
      const taken = new Set<ArchivedFamily>();
      for (const one of families) {
        if (isGivenUp()) break;
        try {
          await storeNow([one]);
          taken.add(one);
        } catch (error) {
          failed(one.facts.job, error);
        }
      }
      return taken;
    },
    count: () => count,
    close: async () => opened?.close(),
  };
}

async function* inBatches(
  store: Store,
  group: readonly FamilyToGo[],
  place: PassPlace,
): AsyncGenerator<readonly Archived[], void, undefined> {
  let batch: { readonly one: FamilyToGo; readonly archived: ArchivedFamily }[] = [];
  let chars = 0;
  const flush = async (): Promise<readonly Archived[]> => {
    const full = batch;
    [batch, chars] = [[], 0];
    const taken = await place.store(full.map(({ archived }) => archived));
    return full.map(({ one, archived }): Archived =>
      taken.has(archived)
        ? { ...one, revs: new Set(archived.documents.map(revisionName)) }
        : { ...one, kept: 'archive' },
    );
  };
  for (const one of group) {
    const read = place.isGivenUp()
      ? 'archive'
      : await copiesOf(store, one.family).catch((error: unknown) =>
          place.failed(one.candidate.job.id, error),
        );
    if (typeof read === 'string') {
      yield [{ ...one, kept: read }];
      continue;
    }
    if (batch.length > 0 && chars + read.chars > mostChars) yield await flush();
    batch.push({ one, archived: archivedFamily(one, read.copies) });
    chars += read.chars;
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

/** All documents of a family as they were looked at, and their characters of JSON. One is read after the other. */
async function copiesOf(
  store: Store,
  { levels, beside }: JobFamily,
): Promise<
  { readonly copies: readonly DocumentCopy[]; readonly chars: number } | 'conflict' | 'large'
> {
  const jobs = levels.flat();
  const others = beside.length === 0 ? [] : (await store.getMany(beside)).values();
  const copies: DocumentCopy[] = [];
  let chars = 0;
  for (const { _id, _rev, type } of [...jobs, ...others]) {
    const copy = await store.copy(_id, _rev);
    // A lock or a message that is gone meanwhile is removed by somebody else.
    if (copy === undefined && type === 'job') return 'conflict';
    if (copy === undefined) continue;
    chars += JSON.stringify(copy).length;
    if (chars > mostCharsOfFamily) return 'large';
    copies.push(copy);
  }
  return { copies, chars };
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
