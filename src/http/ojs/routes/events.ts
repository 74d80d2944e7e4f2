import { z } from 'zod';
import type { StoredDocument } from '../../../model/document.js';
import type { Status } from '../../../model/status.js';
import { ownersFor } from '../../access/owners.js';
import type { Principal } from '../../access/principal.js';
import type { Api } from '../../api.js';
import { countParam } from '../../routes/common.js';
import { eventsOf, firstIdAt, type OjsEvent } from '../events.js';
import { ojsRoute } from '../route.js';

/** So long an event may be stored after its time, ms: what is younger is told at once, and once more. */
const lateMs = 3_000;
/** The newest jobs of these many are looked through. */
const mostLooked = 2_000;
const together = 500;

const list = z.string().transform((text) => text.split(',').filter((one) => one !== ''));

const eventSchema = z
  .looseObject({
    specversion: z.string(),
    id: z.string(),
    type: z.string(),
    source: z.string(),
    subject: z.string(),
    time: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'OjsEvent' });

export const ojsEventsRoute = ojsRoute({
  method: 'GET',
  path: '/v1/events',
  id: 'ojsEvents',
  summary: 'What happened to jobs, oldest first.',
  description: `The events are read from the jobs: those of the newest ${mostLooked}. Behind the last page the cursor stays before the last ${lateMs / 1_000} seconds, so that none is missed that is stored late: younger events come again, with the same id. GET /_tws/changes is a stream of all changes.`,
  access: 'viewer',
  query: z.object({
    types: list.optional().describe('Only these, with commas between them.'),
    queues: list.optional(),
    job_types: list.optional(),
    after: z.string().optional().describe('The id of an event: only those after it.'),
    limit: countParam(1, 1_000).optional().describe('Default 100.'),
  }),
  answers: {
    200: {
      description: 'The events.',
      schema: z
        .object({
          events: z.array(eventSchema),
          cursor: z.string().optional().describe('The "after" of the next request.'),
          has_more: z.boolean(),
        })
        .meta({ id: 'OjsEvents' }),
    },
  },
  handle: async ({ api, query, who }) => {
    const { types, queues, job_types: jobTypes, limit = 100 } = query;
    const { after, floor } = readCursor(query.after);
    const isWanted = ({ type, id, data }: OjsEvent): boolean =>
      id > after &&
      isIn(types, type) &&
      isIn(queues, data['queue']) &&
      isIn(jobTypes, data['job_type']);
    // As it was before jobs were read.
    const now = api.now();
    const jobs = await newestJobs(api, who);
    const all = jobs
      .flatMap((job) => eventsOf(job, now))
      .filter(isWanted)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const events = all.slice(0, limit);
    const more = all.length > events.length;
    const low = [floor ?? '~', firstIdAt(now - lateMs)].toSorted()[0] as string;
    const cursor = cursorOf(events.at(-1)?.id ?? query.after, { low, more });
    const body = { events, has_more: more, ...(cursor === undefined ? {} : { cursor }) };
    return { status: 200, body };
  },
});

/** What a cursor says: the last event that was told, and from where events are to be told again after the last page. */
function readCursor(text = ''): { readonly after: string; readonly floor?: string | undefined } {
  const [after = '', floor] = text.split('~');
  return { after, floor };
}

/** Pages follow each other; after the last one it goes back to `low`, where that is before it. */
function cursorOf(
  last: string | undefined,
  { low, more }: { readonly low: string; readonly more: boolean },
): string | undefined {
  if (last === undefined) return undefined;
  const { after } = readCursor(last);
  if (after <= low) return after;
  return more ? `${after}~${low}` : low;
}

function isIn(wanted: readonly string[] | undefined, value: unknown): boolean {
  return wanted === undefined || wanted.includes(String(value));
}

const unended: readonly Status[] = ['queued', 'scheduled', 'running', 'waiting', 'paused'];
const ended: readonly Status[] = ['succeeded', 'failed', 'cancelled'];

async function newestJobs(
  { client, now }: Api,
  who: Principal,
): Promise<readonly StoredDocument[]> {
  const jobs = new Map<string, StoredDocument>();
  for (const status of [unended, ended]) {
    const search = { status, owners: ownersFor(who, undefined) };
    let cursor: string | undefined;
    let looked = 0;
    do {
      const page = await client.search(search, { limit: together, cursor, now: now() });
      for (const job of page.jobs) jobs.set(job._id, job);
      looked += page.jobs.length;
      cursor = page.cursor;
    } while (cursor !== undefined && looked < mostLooked);
  }
  return [...jobs.values()];
}
