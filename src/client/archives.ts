import { archivesIn } from '../decide/retention/rules.js';
import { problem } from '../errors.js';
import type { WrittenArchive } from '../model/archive.js';
import type { Retain } from '../model/retain.js';
import type { Store } from '../store/store.js';
import {
  archivedJob,
  archivedJobs,
  type ArchivedJob,
  type ArchivedJobWhole,
  type ArchiveSearch,
} from './archive/archived-jobs.js';
import type { ArchiveSurroundings } from './archive/open.js';
import { restoreJob, type RestoredJob } from './archive/restore.js';
import { rulesOf } from './retain.js';

/** `usual`: `retain` of `tws.json`; `root`: the folder of the project. */
export type ArchivesToRead = { readonly usual?: Retain | undefined; readonly root: string };

/** The archived jobs. @throws TwsError `archive_unset`, `archive_failed` */
export async function listArchived(
  store: Store,
  from: ArchivesToRead,
  search?: ArchiveSearch,
): Promise<readonly ArchivedJob[]> {
  return archivedJobs(await placesOf(store, from), seenFrom(store, from), search);
}

/** One archived job. @throws TwsError `archive_unset`, `archive_failed`, `archived_missing` */
export async function findArchived(
  store: Store,
  from: ArchivesToRead,
  search: ArchiveSearch & { readonly job: string },
): Promise<ArchivedJobWhole> {
  const found = await archivedJob(await placesOf(store, from), seenFrom(store, from), search);
  if (found === undefined) throw problem('archived_missing', { job: search.job });
  return found;
}

/** Puts an archived job back. @throws TwsError as `findArchived`, and `restore_taken` */
export async function restoreArchived(
  store: Store,
  from: ArchivesToRead,
  job: string,
): Promise<RestoredJob> {
  return restoreJob(store, await findArchived(store, from, { job }), Date.now());
}

function seenFrom({ connection }: Store, { root }: ArchivesToRead): ArchiveSurroundings {
  return { root, connection };
}

async function placesOf(
  store: Store,
  { usual }: ArchivesToRead,
): Promise<readonly WrittenArchive[]> {
  const { rules } = await rulesOf(store, usual);
  const places = archivesIn(rules);
  if (places.length === 0) throw problem('archive_unset', {});
  return places;
}
