import type { WrittenArchive } from '../../model/archive.js';
import type { DocumentCopy } from '../../store/copies.js';
import type { Archive, ArchivedFacts, ArchiveEntry } from './archive.js';
import { openArchive, type ArchiveSurroundings } from './open.js';

/** A job in an archive; `at`: when it was archived, epoch ms. */
export type ArchivedJob = ArchivedFacts & { readonly archive: string; readonly at: number };

/** An archived job with its documents, the job first. */
export type ArchivedJobWhole = ArchivedJob & { readonly docs: readonly DocumentCopy[] };

export type ArchiveSearch = {
  readonly job?: string | undefined;
  /** A name, or `name::owner`. */
  readonly flow?: string | undefined;
  /** Only jobs that ended then or later (epoch ms). */
  readonly since?: number | undefined;
};

/**
 * The archived jobs, the one that ended last first. A job that was archived several times, because a pass was
 * broken off before it was removed, is there once, as it was archived last.
 * @throws TwsError `archive_failed`
 */
export async function archivedJobs(
  places: readonly WrittenArchive[],
  surroundings: ArchiveSurroundings,
  search: ArchiveSearch = {},
): Promise<readonly ArchivedJob[]> {
  const found = new Map<string, ArchivedJob>();
  await inArchives(places, surroundings, async (archives) => {
    for await (const { facts, at, archive } of entriesIn(archives, search)) {
      const before = found.get(keyOfJob(facts));
      const documents = Math.max(before?.documents ?? 0, facts.documents);
      const newest = before !== undefined && before.at >= at ? before : { ...facts, archive, at };
      found.set(keyOfJob(facts), { ...newest, documents });
    }
  });
  return [...found.values()].toSorted((a, b) => b.end - a.end || (a.job < b.job ? -1 : 1));
}

/**
 * An archived job with all documents that went with it; the one that ended last when the id was used again.
 * A pass that was broken off may have archived parts of it before, perhaps elsewhere: they are put together,
 * each document as it was archived last.
 * @throws TwsError `archive_failed`
 */
export async function archivedJob(
  places: readonly WrittenArchive[],
  surroundings: ArchiveSurroundings,
  search: ArchiveSearch & { readonly job: string },
): Promise<ArchivedJobWhole | undefined> {
  return inArchives(places, surroundings, async (archives) => {
    const entries: FoundEntry[] = [];
    for await (const entry of entriesIn(archives, search)) entries.push(entry);
    const ending = entries.toSorted((a, b) => b.facts.end - a.facts.end)[0];
    if (ending === undefined) return undefined;
    const own = entries.filter(({ facts }) => keyOfJob(facts) === keyOfJob(ending.facts));
    own.sort((a, b) => a.at - b.at);
    const docs = new Map<string, DocumentCopy>();
    for (const { read } of own) for (const doc of await read()) docs.set(doc._id, doc);
    const { facts, archive, at } = own.at(-1) ?? ending;
    const all = [...docs.values()];
    const root = all.filter(({ _id }) => _id === facts.job);
    const rest = all.filter(({ _id }) => _id !== facts.job);
    return { ...facts, archive, at, documents: all.length, docs: [...root, ...rest] };
  });
}

async function inArchives<T>(
  places: readonly WrittenArchive[],
  surroundings: ArchiveSurroundings,
  run: (archives: readonly Archive[]) => Promise<T>,
): Promise<T> {
  const archives = places.map((place) => openArchive(place, surroundings));
  try {
    return await run(archives);
  } finally {
    for (const { close } of archives) await close();
  }
}

/** `archive`: its name. */
type FoundEntry = ArchiveEntry & { readonly archive: string };

async function* entriesIn(
  archives: readonly Archive[],
  search: ArchiveSearch,
): AsyncGenerator<FoundEntry, void, undefined> {
  for (const { name: archive, entries } of archives)
    for await (const entry of entries(search.job))
      if (isWanted(entry.facts, search)) yield { ...entry, archive };
}

/** An id may be used again by another job, which began at another time. */
function keyOfJob({ job, start }: ArchivedFacts): string {
  return JSON.stringify([job, start]);
}

function isWanted(facts: ArchivedFacts, { job, flow, since = 0 }: ArchiveSearch): boolean {
  const names = [facts.flow, `${facts.flow}::${facts.owner}`];
  const isFlow = flow === undefined || names.includes(flow);
  const isJob = job === undefined || facts.job === job;
  return isJob && isFlow && facts.end >= since;
}
