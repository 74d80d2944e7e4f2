import { z } from 'zod';
import { problem, TwsError } from '../../../errors.js';
import type { StoredDocument } from '../../../model/document.js';
import { isObject } from '../../../model/object.js';
import { readScheduleProgress } from '../../../model/schedule.js';
import { ownerOf } from '../../../model/task.js';
import { assertOwner, ownersFor } from '../../access/owners.js';
import type { Principal } from '../../access/principal.js';
import { refuseDocument } from '../../answers/problems.js';
import type { Api } from '../../api.js';
import { countParam, despiteEngines } from '../../routes/common.js';
import { cronFlowName, documentsOfCron, overlaps, templateOf } from '../cron/documents.js';
import {
  cronAnswerSchema,
  cronRemovedSchema,
  cronSchema,
  cronsAnswerSchema,
  type CronAnswer,
} from '../cron/schemas.js';
import { ojsRoute, ownerOfNew, tenantHeader } from '../route.js';
import { timeText } from '../times.js';
import { targetOfType } from '../target.js';

export const makeCronRoute = ojsRoute({
  method: 'POST',
  path: '/v1/cron',
  id: 'ojsMakeCron',
  summary: 'Register a cron job: a schedule, and the flow that it runs.',
  access: 'admin',
  body: { schema: cronSchema },
  answers: { 201: { description: 'It is registered.', schema: cronAnswerSchema } },
  problems: [
    'document_invalid',
    'document_refused',
    'document_conflict',
    'ojs_type_unknown',
    'ojs_cron_taken',
  ],
  handle: async ({ api, body, who }) => {
    const owner = ownerOfNew(who);
    assertOwner(who, owner);
    const { name } = body;
    const target = await targetOfType(api, templateOf(body).type, owner);
    const documents = documentsOfCron(body, { owner, target, now: api.now() });
    const schedule = documents.at(-1) as unknown as StoredDocument;
    if ((await cronOf(api, [owner], name)) !== undefined) throw problem('ojs_cron_taken', { name });
    const [next] = await api.client.nextSlots({ ...schedule, _rev: '1-' }, 1, api.now());
    if (next === undefined) {
      const message = 'expression and timezone must name a time that comes.';
      refuseDocument('schedule', [{ path: 'expression', message }]);
    }
    const rev = await storeCron(api, documents);
    const cron = await cronAnswer(api, { ...schedule, _rev: rev });
    return { status: 201, body: { cron, cron_job: cron } };
  },
});

export const cronsRoute = ojsRoute({
  method: 'GET',
  path: '/v1/cron',
  id: 'ojsCrons',
  summary: 'The cron jobs that were registered here, by name.',
  access: 'viewer',
  query: z.object({
    limit: countParam(1, 1_000).optional().describe('Default 50.'),
    offset: countParam(0, 1_000_000).optional(),
    page: countParam(1, 100_000).optional(),
    per_page: countParam(1, 1_000).optional().describe('The same as limit.'),
  }),
  answers: { 200: { description: 'The cron jobs.', schema: cronsAnswerSchema } },
  handle: async ({ api, query, who }) => {
    const { per_page: perPage = 50, limit = perPage, page = 1 } = query;
    const { offset = (page - 1) * limit } = query;
    const all = (await api.client.schedules(ownersFor(who, undefined))).filter(isCron);
    const asked = all.slice(offset, offset + limit);
    const crons = await Promise.all(asked.map((doc) => cronAnswer(api, doc)));
    const more = offset + crons.length < all.length;
    const pagination = { total: all.length, limit, offset, has_more: more };
    return { status: 200, body: { crons, cron_jobs: crons, pagination } };
  },
});

const nameParams = z.object({ name: z.string().min(1) });

export const cronRoute = ojsRoute({
  method: 'GET',
  path: '/v1/cron/{name}',
  id: 'ojsCron',
  summary: 'A cron job.',
  access: 'viewer',
  params: nameParams,
  answers: { 200: { description: 'The cron job.', schema: cronAnswerSchema } },
  problems: ['document_missing'],
  handle: async ({ api, params: { name }, who }) => {
    const cron = await cronAnswer(api, await cronFor(api, who, name));
    return { status: 200, body: { cron, cron_job: cron } };
  },
});

export const removeCronRoute = ojsRoute({
  method: 'DELETE',
  path: '/v1/cron/{name}',
  id: 'ojsRemoveCron',
  summary: 'Remove a cron job; jobs that it has started go on.',
  access: 'admin',
  params: nameParams,
  answers: { 200: { description: 'It is removed.', schema: cronRemovedSchema } },
  problems: ['document_missing', 'document_conflict'],
  handle: async ({ api, params: { name }, who }) => {
    // Engines write into it what they started.
    const { schedule, cron } = await despiteEngines(async () => {
      const schedule = await cronToRemove(api, who, name);
      const cron = await cronAnswer(api, schedule);
      // Should the removal be interrupted, whoever asks again need not wait until the flow is old enough.
      for (const doc of await flowsMadeFor(api, schedule)) await markRemoved(api, doc);
      await api.client.remove(schedule._id, schedule._rev);
      return { schedule, cron };
    });
    for (const doc of await flowsMadeFor(api, schedule)) await removeLeft(api, doc);
    return { status: 200, body: { cron, cron_job: cron, deleted: true, name } };
  },
});

/** The flows that were made for a cron job, and go with it. */
async function flowsMadeFor(
  api: Api,
  { name, flow, ...schedule }: StoredDocument,
): Promise<readonly StoredDocument[]> {
  if (flow !== cronFlowName(String(name))) return [];
  return api.client.find('flow', flow, ownerOf(schedule));
}

/** Says in a flow that nothing runs it any more. */
async function markRemoved(api: Api, flow: StoredDocument): Promise<void> {
  const { ojs } = flow;
  if (isObject(ojs) && ojs['removed_at'] !== undefined) return;
  await api.client.write({
    ...flow,
    ojs: { ...(isObject(ojs) ? ojs : {}), removed_at: api.now() },
  });
}

/** Removes a flow that was left behind; one that was taken over for a new cron job meanwhile stays. */
async function removeLeft(api: Api, { _id, _rev, ojs }: StoredDocument): Promise<void> {
  if (!isObject(ojs) || ojs['removed_at'] === undefined) return;
  try {
    await api.client.remove(_id, _rev);
  } catch (error) {
    if (!(error instanceof TwsError) || error.code !== 'document_conflict') throw error;
  }
}

/**
 * As `cronFor`. Of a cron job whose removal was interrupted there is only the flow, which nothing runs: it goes when
 * the removal is asked for again.
 */
async function cronToRemove(api: Api, who: Principal, name: string): Promise<StoredDocument> {
  try {
    return await cronFor(api, who, name);
  } catch (error) {
    if (!(error instanceof TwsError) || error.code !== 'document_missing') throw error;
    const flows = await api.client.find('flow', cronFlowName(name), ownerOfNew(who));
    for (const doc of flows.filter((one) => isLeftBehind(one, api.now()))) {
      await api.client.remove(doc._id, doc._rev);
    }
    throw error;
  }
}

/** So long a flow without a schedule may be one that is being registered, ms. */
const registeringMs = 60_000;

/**
 * Stores the schedule, and its flow before it. A flow that was left behind when somebody died half-way is taken over;
 * answers the revision of the schedule.
 */
async function storeCron(
  api: Api,
  documents: readonly (Readonly<Record<string, unknown>> & { readonly _id: string })[],
): Promise<string> {
  const [schedule, flow] = documents.toReversed();
  if (schedule === undefined) return '';
  const left = flow === undefined ? undefined : await api.client.get(flow._id);
  const isLeft = left !== undefined && isLeftBehind(left, api.now());
  const over = isLeft ? { _rev: left._rev } : {};
  const flowRev = flow === undefined ? '' : await api.client.write({ ...flow, ...over });
  try {
    return await api.client.write(schedule);
  } catch (error) {
    // What an unclear answer means is not known: then the schedule may be there.
    const isNot =
      error instanceof TwsError && ['document_refused', 'document_conflict'].includes(error.code);
    if (isNot && flow !== undefined) {
      await api.client.remove(flow._id, flowRev).catch(() => undefined);
    }
    throw error;
  }
}

/** Made for a cron job that is being removed, or not just now. */
function isLeftBehind({ ojs }: StoredDocument, now: number): boolean {
  if (!isObject(ojs)) return false;
  if (ojs['removed_at'] !== undefined) return true;
  const made = ojs['created_at'];
  return typeof made !== 'number' || made < now - registeringMs;
}

/** A schedule that was registered by this API. */
function isCron({ ojs }: StoredDocument): boolean {
  return isObject(ojs);
}

async function cronOf(
  api: Api,
  owners: readonly string[] | undefined,
  name: string,
): Promise<StoredDocument | undefined> {
  const all = await api.client.schedules(owners);
  return all.find((doc) => doc['name'] === name);
}

/** The one of that name; of several that of the usual owner. @throws TwsError `document_missing`, `request_invalid` */
async function cronFor(api: Api, who: Principal, name: string): Promise<StoredDocument> {
  const all = await api.client.schedules(ownersFor(who, undefined));
  const named = all.filter((doc) => doc['name'] === name && isCron(doc));
  const [first, second] = named;
  if (first === undefined) throw problem('document_missing', { id: name });
  if (second === undefined) return first;
  const owner = ownerOfNew(who);
  const [own, other] = named.filter((doc) => ownerOf(doc) === owner);
  if (own !== undefined && other === undefined) return own;
  const owners = [...new Set(named.map(ownerOf))].slice(0, 10).join(', ');
  const reason = `it must say whose ${JSON.stringify(name)} is meant (${owners}).`;
  throw problem('request_invalid', { part: `header ${tenantHeader}`, reason });
}

async function cronAnswer(api: Api, doc: StoredDocument): Promise<CronAnswer> {
  const { name, cron, time_zone: zone, overlap, paused, ojs, progress } = doc;
  const kept = isObject(ojs) ? ojs : {};
  const read = readScheduleProgress(progress);
  const handled = read?.handled ?? api.now();
  const [next] = paused === true ? [] : await api.client.nextSlots(doc, 1, handled);
  const last = read?.recent.findLast(({ kind }) => kind === 'started');
  const words = Object.entries(overlaps).find(([, ours]) => ours === (overlap ?? 'skip'));
  const expression = String(cron);
  return {
    ...{ name: String(name), expression, cron: expression },
    timezone: typeof zone === 'string' ? zone : 'UTC',
    overlap_policy: words?.[0] ?? 'skip',
    enabled: paused !== true,
    status: paused === true ? 'paused' : 'active',
    type: String(kept['type']),
    args: Array.isArray(kept['args']) ? (kept['args'] as unknown[]) : [],
    ...(isObject(kept['meta']) ? { meta: kept['meta'] } : {}),
    ...timeText('next_run_at', next?.due),
    ...timeText('last_run_at', last?.slot),
    ...timeText('created_at', kept['created_at']),
  };
}
