import type { WrittenArchive } from '../../model/archive.js';
import type { DocumentCopy } from '../../store/copies.js';
import type { ArchivedFacts, ArchiveEntry } from './archive.js';
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
  readonly maySee?: ((job: ArchivedFacts) => boolean) | undefined;
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
  for (const place of places) {
    const archive = openArchive(place, surroundings);
    try {
      for await (const { facts, at } of archive.entries()) {
        const key = keyOfJob(facts);
        if (!isWanted(facts, search)) continue;
        const before = found.get(key);
        const documents = Math.max(before?.documents ?? 0, facts.documents);
        const last = before === undefined || before.at < at;
        found.set(
          key,
          last ? { ...facts, documents, archive: archive.name, at } : { ...before, documents },
        );
      }
    } finally {
      await archive.close();
    }
  }
  return [...found.values()].toSorted((a, b) => b.end - a.end || (a.job < b.job ? -1 : 1));
}

/**
 * An archived job with all documents that went with it; the one that ended last when the id was used again.
 * A pass that was broken off may have archived parts of it before: they are put together, each document as
 * it was last.
 * @throws TwsError `archive_failed`
 */
export async function archivedJob(
  places: readonly WrittenArchive[],
  surroundings: ArchiveSurroundings,
  search: ArchiveSearch & { readonly job: string },
): Promise<ArchivedJobWhole | undefined> {
  const [newest] = await archivedJobs(places, surroundings, search);
  if (newest === undefined) return undefined;
  const docs = new Map<string, DocumentCopy>();
  for (const place of places) {
    const archive = openArchive(place, surroundings);
    try {
      const entries: ArchiveEntry[] = [];
      for await (const entry of archive.entries())
        if (keyOfJob(entry.facts) === keyOfJob(newest)) entries.push(entry);
      for (const { read } of entries.toSorted((a, b) => a.at - b.at))
        for (const doc of await read()) docs.set(doc._id, doc);
    } finally {
      await archive.close();
    }
  }
  const all = [...docs.values()];
  const root = all.filter(({ _id }) => _id === newest.job);
  const rest = all.filter(({ _id }) => _id !== newest.job);
  return { ...newest, documents: all.length, docs: [...root, ...rest] };
}

/** An id may be used again by another job, which began at another time. */
function keyOfJob({ job, start }: ArchivedFacts): string {
  return JSON.stringify([job, start]);
}

function isWanted(facts: ArchivedFacts, { job, flow, since = 0, maySee }: ArchiveSearch): boolean {
  const names = [facts.flow, `${facts.flow}::${facts.owner}`];
  const isFlow = flow === undefined || names.includes(flow);
  const isJob = job === undefined || facts.job === job;
  return isJob && isFlow && facts.end >= since && maySee?.(facts) !== false;
}
