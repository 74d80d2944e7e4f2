import { z } from 'zod';
import type { Client, NextSlot } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { readScheduleProgress } from '../../model/schedule.js';
import { ownerOf } from '../../model/task.js';
import { scheduleStatus } from '../../reading/schedule.js';
import { statusOf } from '../../reading/status.js';
import type { Api } from '../api.js';
import { ownersFor } from '../access/owners.js';
import { route, type Route } from '../route.js';
import {
  scheduleBodySchema,
  scheduleCheckedSchema,
  scheduleListSchema,
  storedScheduleSchema,
} from '../schedule-schemas.js';
import { countParam, known } from './common.js';
import { namedAnswer, visibleDefinition } from './definition-given.js';
import { definitionIdParams, ownerParam, storingRoutes } from './definition-storing.js';

/** So many slots to come are told, unless the request says how many. */
const usualSlots = 5;
const mostSlots = 100;

const listRoute = route({
  method: 'GET',
  path: '/schedules',
  id: 'listSchedules',
  tag: 'schedules',
  summary: 'All schedules, by name, with their next slot and the record of the last one.',
  access: 'viewer',
  query: z.object({ owner: z.string().optional(), name: z.string().optional() }),
  answers: { 200: { description: 'The schedules.', schema: scheduleListSchema } },
  problems: ['owner_refused'],
  handle: async ({ api, query: { owner, name }, principal }) => {
    const owners = ownersFor(known({ principal }), owner);
    const docs = await api.client.schedules(owners);
    const asked = docs.filter((doc) => name === undefined || doc['name'] === name);
    const ids = asked.flatMap((doc) => lastRecord(doc)?.job ?? []);
    const jobs = await api.client.getMany(ids);
    const schedules = await Promise.all(asked.map((doc) => listed(api, doc, jobs)));
    return { status: 200, body: { schedules } };
  },
});

const getRoute = route({
  method: 'GET',
  path: '/schedules/{id}',
  id: 'getSchedule',
  tag: 'schedules',
  summary: 'A schedule, how it stands and its next slots.',
  access: 'viewer',
  params: definitionIdParams('schedule'),
  query: z.object({
    owner: ownerParam,
    next: countParam(0, mostSlots)
      .optional()
      .describe(`Number of upcoming slots in the answer; default ${usualSlots}.`),
  }),
  answers: {
    200: {
      description: 'The schedule.',
      schema: storedScheduleSchema,
      headers: { etag: 'Its edition: the same while only engines write it.' },
    },
  },
  problems: ['definition_missing', 'definition_ambiguous', 'owner_refused'],
  handle: async ({ api, params: { id }, query: { owner, next = usualSlots }, principal: who }) => {
    const principal = known({ principal: who });
    const called = { called: id, owner };
    const doc = await visibleDefinition(api.client, 'schedule', called, principal);
    const stands = standing(doc);
    const slots = await slotsToCome(api.client, doc, next, api.now());
    const headers = { etag: `"${stands.edition}"` };
    return { status: 200, body: { ...stands, slots }, headers };
  },
});

/** List, get, check, store and remove schedules. */
export const scheduleRoutes: readonly Route[] = [
  listRoute,
  getRoute,
  ...storingRoutes({
    ...{ kind: 'schedule', word: 'Schedule', tag: 'schedules', path: '/schedules' },
    document: scheduleBodySchema,
    checked: {
      schema: scheduleCheckedSchema,
      more: async ({ client, now }, doc) => ({
        slots: await client.nextSlots(withoutProgress(doc), usualSlots, now()),
      }),
    },
    says: {
      put: 'It is checked as `tws push` checks it, by itself and against all tasks and flows. What engines write (`next_due`, `progress`, `problems`) stays as it is stored, and may be left out. If-Match takes the `edition` of the schedule, too, which stays the same while only engines write it.',
      remove: 'Its jobs stay.',
    },
  }),
];

async function listed(
  { client, now }: Api,
  doc: StoredDocument,
  jobs: ReadonlyMap<string, StoredDocument>,
) {
  const [next] = await slotsToCome(client, doc, 1, now());
  const last = lastRecord(doc);
  const job = jobs.get(last?.job ?? '');
  // Somebody may have written the id of any job into it.
  const isOwn = job?.['type'] === 'job' && ownerOf(job) === ownerOf(doc);
  return {
    ...standing(doc),
    ...(next === undefined ? {} : { next }),
    ...(last && { last: isOwn ? { ...last, status: statusOf(job, now()) } : last }),
  };
}

function lastRecord({ progress }: StoredDocument) {
  return readScheduleProgress(progress)?.recent.at(-1);
}

function standing(doc: StoredDocument) {
  return { ...namedAnswer('schedule', doc), status: scheduleStatus(doc) };
}

/**
 * The slots whose jobs are still to start. With a jitter the first one may have passed; without an engine
 * those that have passed are left out.
 */
async function slotsToCome(
  client: Client,
  doc: StoredDocument,
  count: number,
  now: number,
): Promise<readonly NextSlot[]> {
  if (doc['paused'] === true) return [];
  const handled = readScheduleProgress(doc['progress'])?.handled ?? now;
  const [first] = await client.nextSlots(doc, 1, handled);
  const isToCome = first !== undefined && first.due > now;
  return client.nextSlots(doc, count, isToCome ? handled : now);
}

function withoutProgress({ progress: _progress, ...doc }: StoredDocument): StoredDocument {
  return doc;
}
