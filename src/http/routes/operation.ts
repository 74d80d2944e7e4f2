import { z } from 'zod';
import { spanMs, spanUnits } from '../../client.js';
import { countInHand } from '../../client-rules.js';
import { problem } from '../../errors.js';
import type { EngineDocument } from '../../model/engine.js';
import { everyEngine } from '../../model/engine-control.js';
import { nameSchema } from '../../model/scalars.js';
import { spanSchema } from '../../model/span.js';
import { defaultOwner } from '../../model/task.js';
import type { Api, Check } from '../api.js';
import { assertAllOwners, ownersFor } from '../access/owners.js';
import { route, type Route } from '../route.js';
import { enabledSchema } from '../schemas.js';
import {
  engineListSchema,
  failuresSchema,
  readySchema,
  statsSchema,
} from '../operation-schemas.js';
import { known, ofAllOwners, timeParam } from './common.js';

export const pingRoute = route({
  method: 'GET',
  path: '/ping',
  id: 'ping',
  tag: 'operation',
  summary: 'Whether somebody is there.',
  access: 'open',
  answers: {
    200: {
      description: 'Yes.',
      schema: z.object({ ok: z.boolean(), now: z.number() }).meta({ id: 'Pong' }),
    },
  },
  handle: ({ api }) => ({ status: 200, body: { ok: true, now: api.now() } }),
});

export const liveRoute = route({
  method: 'GET',
  path: '/health/live',
  id: 'getLive',
  tag: 'operation',
  summary: 'Whether this process works; a process that does not is to be restarted.',
  access: 'open',
  answers: {
    200: { description: 'It works.', schema: z.object({ live: z.boolean() }).meta({ id: 'Live' }) },
  },
  handle: () => ({ status: 200, body: { live: true } }),
});

/** So long the database may take to answer before it counts as away, ms. */
const readyMs = 5_000;

export const readyRoute = route({
  method: 'GET',
  path: '/health/ready',
  id: 'getReady',
  tag: 'operation',
  summary: 'Whether this process can do its work: the database answers, its engine runs.',
  access: 'open',
  answers: {
    200: { description: 'It can.', schema: readySchema },
    503: { description: 'It cannot now.', schema: readySchema },
  },
  handle: async ({ api, principal }) => {
    const checks = await api.checks.get('', () => checksOf(api));
    const ready = checks.every(({ ok }) => ok);
    // Where the database is and what is wrong with it is not for everybody.
    const shown = checks.map((check) => (principal === undefined ? { ...check, says: '' } : check));
    const later = ready ? {} : { headers: { 'retry-after': '5' } };
    return { status: ready ? 200 : 503, body: { ready, checks: shown }, ...later };
  },
});

/** What has to be well, and how it is. */
export async function checksOf({ inspect, engine }: Api): Promise<readonly Check[]> {
  const late = new Promise<undefined>((resolve) => {
    setTimeout(resolve, readyMs, undefined).unref();
  });
  const report = await Promise.race([inspect(), late]);
  const silent = 'The database has given no answer in time.';
  const trouble = report === undefined ? silent : report.problem?.message;
  const missing = report?.design === 'missing' ? 'The design document is missing.' : undefined;
  const database = { what: 'database', ok: trouble === undefined, says: trouble ?? 'It answers.' };
  const design = { what: 'design', ok: missing === undefined, says: missing ?? 'It is there.' };
  if (engine === undefined) return [database, design];
  const isRunning = engine.isRunning();
  const says = `${engine.id} ${isRunning ? 'runs' : 'does not run'}.`;
  return [database, design, { what: 'engine', ok: isRunning, says }];
}

export const enginesRoute = route({
  method: 'GET',
  path: '/engines',
  id: 'listEngines',
  tag: 'operation',
  summary: 'The engines, what they can run and what they have in hand.',
  access: 'viewer',
  answers: { 200: { description: 'The engines.', schema: engineListSchema } },
  handle: async ({ api }) => {
    const { engines, inHand } = await enginesOf(api);
    const body = engines.map(({ engine: { _id: id, _rev, type: _type, ...engine }, alive }) => ({
      id,
      ...engine,
      alive,
      in_hand: inHand.get(id) ?? 0,
    }));
    return { status: 200, body: { engines: body } };
  },
});

/** An engine is enabled or disabled: a disabled one ends what it has begun and takes nothing new. */
export const engineSwitchRoutes: readonly Route[] = (['enable', 'disable'] as const).map((word) =>
  route({
    method: 'POST',
    path: `/engines/{id}/${word}`,
    id: `${word}Engine`,
    tag: 'operation',
    summary:
      word === 'enable'
        ? 'Let an engine take work.'
        : 'Let an engine take no new work; what it has begun goes on.',
    description: ofAllOwners,
    access: 'operator',
    params: z.object({ id: z.string().min(1).describe('Id of the engine, or "*" for all.') }),
    answers: { 200: { description: 'It is so now.', schema: enabledSchema } },
    problems: ['owners_needed', 'document_missing', 'document_conflict'],
    handle: async ({ api, params: { id }, principal }) => {
      assertAllOwners(known({ principal }), `${word} an engine`);
      // Anything else would be the name of a flow.
      if (id !== everyEngine && !id.startsWith('engine:'))
        throw problem('document_missing', { id });
      const enabled = word === 'enable';
      const done = await api.client.setEnabled(id, enabled, defaultOwner);
      return { status: 200, body: { ...done, enabled } };
    },
  }),
);

/** So many jobs that have not ended are looked at to count what engines have in hand. */
const mostJobs = 1_000;

type Seen = {
  readonly engine: EngineDocument & { readonly _rev?: unknown };
  readonly alive: boolean;
};

async function enginesOf({ client, pulse, now }: Api): Promise<{
  readonly engines: readonly Seen[];
  readonly inHand: ReadonlyMap<string, number>;
}> {
  const documents = await client.engines();
  const { jobs } = await client.search({ status: ['running'] }, { limit: mostJobs, now: now() });
  return { engines: pulse.look(documents, now()), inHand: countInHand(jobs) };
}

/** So many spans one answer tells. */
const mostSpans = 2_000;

export const statsRoute = route({
  method: 'GET',
  path: '/stats',
  id: 'getStats',
  tag: 'operation',
  summary: 'How many jobs there are, what the engines do, and what ended when.',
  access: 'viewer',
  query: z.object({
    owner: z.string().optional(),
    from: timeParam.optional().describe('Tells what ended from then on, in spans of time.'),
    to: timeParam.optional().describe('Until then; default now.'),
    unit: z.enum(spanUnits).optional().describe('Length of a span; default hour.'),
  }),
  answers: { 200: { description: 'The figures.', schema: statsSchema } },
  problems: ['owner_refused'],
  handle: async ({ api, query, principal }) => {
    const owners = ownersFor(known({ principal }), query.owner);
    const now = api.now();
    const { from, to = now, unit = 'hour' } = query;
    if (from !== undefined && (to < from || (to - from) / spanMs[unit] > mostSpans)) {
      const reason = `from "from" to "to" must be 0 to ${mostSpans} times a ${unit}.`;
      throw problem('request_invalid', { part: 'query', reason });
    }
    const [jobs, { engines, inHand }, spans] = await Promise.all([
      api.client.count(owners),
      enginesOf(api),
      from === undefined ? undefined : api.client.spans({ from, to, unit, owners }),
    ]);
    const alive = engines.filter((one) => one.alive).map(({ engine }) => engine);
    const body = {
      now,
      jobs,
      engines: {
        alive: alive.length,
        slots: alive.reduce((sum, { slots }) => sum + slots, 0),
        in_hand: alive.reduce((sum, { _id }) => sum + (inHand.get(_id) ?? 0), 0),
      },
      ...(spans === undefined ? {} : { spans }),
    };
    return { status: 200, body };
  },
});

export const failuresRoute = route({
  method: 'GET',
  path: '/failures',
  id: 'getFailures',
  tag: 'operation',
  summary: 'The failed jobs by cause.',
  access: 'viewer',
  query: z.object({ owner: z.string().optional() }),
  answers: { 200: { description: 'The causes.', schema: failuresSchema } },
  problems: ['owner_refused'],
  handle: async ({ api, query, principal }) => {
    const owners = ownersFor(known({ principal }), query.owner);
    return { status: 200, body: await api.client.failures(owners) };
  },
});

export const eventsRoute = route({
  method: 'POST',
  path: '/events',
  id: 'announceEvent',
  tag: 'requests',
  summary: 'Announce an event: every step that waits for it goes on, now or later.',
  description: ofAllOwners,
  access: 'operator',
  body: {
    schema: z.strictObject({
      event: nameSchema.describe('Its type.'),
      key: z.string().optional().describe('What it is about.'),
      data: z.unknown().optional().describe('Becomes the result of the waiting steps.'),
      ttl: spanSchema.optional().describe('How long it releases waits.'),
      id: nameSchema.optional().describe('Tells events of the same type and key apart.'),
    }),
  },
  answers: {
    201: {
      description: 'Announced.',
      schema: z.object({ id: z.string() }).meta({ id: 'Announced' }),
    },
  },
  problems: ['owners_needed', 'event_announced'],
  handle: async ({ api, body, principal }) => {
    assertAllOwners(known({ principal }), 'announce an event');
    const { event, key, data, ttl, id: own } = body;
    const id = await api.client.announce({
      event,
      ...(key === undefined ? {} : { key }),
      ...(data === undefined ? {} : { data }),
      ...(ttl === undefined ? {} : { ttl }),
      ...(own === undefined ? {} : { id: own }),
    });
    return { status: 201, body: { id } };
  },
});
