import { everyJob, type Client, type JobSearch } from '../client.js';
import type { StoredDocument } from '../model/document.js';
import { statuses } from '../model/status.js';
import { counted } from '../words.js';
import type { Io } from './io.js';
import { jobTable } from './job-table.js';
import { jobFacts } from './jobs.js';

export type JobListing = {
  readonly search: JobSearch;
  /** So many jobs at most. */
  readonly limit: number;
  /** Whole documents instead of a line each. */
  readonly verbose: boolean;
  /** What is said where there is none. */
  readonly none: string;
};

/** Prints jobs, newest first: those that have not begun, then by when they began. Answers them for JSON. */
export async function listJobs(client: Client, listing: JobListing, io: Io): Promise<unknown> {
  const { search, limit, verbose, none } = listing;
  const found: StoredDocument[] = [];
  for await (const job of everyJob(client, search)) {
    found.push(job);
    if (found.length > limit) break;
  }
  const jobs = found.slice(0, limit);
  const now = Date.now();
  if (verbose) for (const job of jobs) io.block(JSON.stringify(job, null, 2));
  else for (const line of jobTable(jobs, now, io)) io.out(line);
  if (jobs.length === 0) io.say(none);
  if (found.length > limit) {
    io.say(`${await leftOut(client, listing)} not shown; \`--limit N\` shows more than ${limit}.`);
  }
  return verbose ? jobs : jobs.map((job) => jobFacts(job, now));
}

/** How many are left out, where counts tell; of one flow nobody keeps count. */
async function leftOut(client: Client, { search, limit }: JobListing): Promise<string> {
  if (search.flow !== undefined) return 'More jobs are';
  const counts = await client.count(search.owners);
  const all = (search.status ?? statuses).reduce((sum, status) => sum + counts[status], 0);
  return `${counted(Math.max(1, all - limit), 'job')} more`;
}
