import type { StoredDocument } from '../model/document.js';
import type { FoundJobs, JobSearch, PageOptions } from './search.js';

/** What reads one page of a search, as a client does. */
type Searching = {
  readonly search: (search: JobSearch, page: PageOptions) => Promise<FoundJobs>;
};

/** Jobs read at a time. */
const together = 200;

/**
 * All jobs that are searched for, newest first, read page by page as they are taken. Jobs that begin
 * meanwhile are not among them.
 */
export async function* everyJob(
  client: Searching,
  search: JobSearch,
): AsyncGenerator<StoredDocument, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = { limit: together, now: Date.now(), cursor };
    const found = await client.search(search, page);
    yield* found.jobs;
    cursor = found.cursor;
  } while (cursor !== undefined);
}
