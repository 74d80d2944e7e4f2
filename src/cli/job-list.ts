import { everyJob, type Client, type JobSearch } from '../client.js';
import type { StoredDocument } from '../model/document.js';
import { statuses } from '../model/status.js';
import { counted } from '../words.js';
import type { Io } from './io.js';
import { createJobSorter, isSearchOrder, type JobOrder } from './job-sort.js';
import { jobTable } from './job-table.js';
import { jobFacts } from './jobs.js';

export type JobListing = {
  readonly search: JobSearch;
  /** Maximum number of jobs. */
  readonly limit: number;
  readonly order: JobOrder;
  /** Whole documents instead of a line each. */
  readonly verbose: boolean;
  /** What is said where there is none. */
  readonly none: string;
};

/**
 * Prints jobs in an order; without another one, newest first: those that have not begun, then by when
 * they began. Returns them for JSON.
 */
export async function listJobs(client: Client, listing: JobListing, io: Io): Promise<unknown> {
  const { limit, verbose, none } = listing;
  const { jobs, more } = await jobsOf(client, listing);
  const now = Date.now();
  if (verbose) for (const job of jobs) io.block(JSON.stringify(job, null, 2));
  else for (const line of jobTable(jobs, now, io)) io.out(line);
  if (jobs.length === 0) io.say(none);
  if (more !== 0) {
    const left = more ?? (await leftOut(client, listing));
    const many = left === undefined ? 'More jobs are' : `${counted(left, 'job')} more`;
    io.say(`${many} not shown; \`--limit N\` shows more than ${limit}.`);
  }
  return verbose ? jobs : jobs.map((job) => jobFacts(job, now));
}

type Chosen = {
  readonly jobs: readonly StoredDocument[];
  /** Number of jobs beyond the limit; undefined: there are some. */
  readonly more: number | undefined;
};

async function jobsOf(client: Client, { search, limit, order }: JobListing): Promise<Chosen> {
  if (!isSearchOrder(order)) {
    const sorter = createJobSorter(order, limit, Date.now());
    for await (const job of everyJob(client, search)) sorter.add(job);
    const jobs = sorter.first();
    return { jobs, more: sorter.count() - jobs.length };
  }
  const found: StoredDocument[] = [];
  for await (const job of everyJob(client, search)) {
    found.push(job);
    if (found.length > limit) break;
  }
  return { jobs: found.slice(0, limit), more: found.length > limit ? undefined : 0 };
}

/** Number of jobs left out, where counts tell: nobody counts the jobs of one flow, or of a time. */
async function leftOut(client: Client, { search, limit }: JobListing): Promise<number | undefined> {
  const { flow, version, from, failure, tags } = search;
  if ([flow, version, from, failure, tags].some((one) => one !== undefined)) return undefined;
  const counts = await client.count(search.owners);
  const all = (search.status ?? statuses).reduce((sum, status) => sum + counts[status], 0);
  return Math.max(1, all - limit);
}
