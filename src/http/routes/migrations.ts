import { z } from 'zod';
import { summaryOf } from '../../client-rules.js';
import type { Migration, RequestedOne } from '../../client.js';
import { problem, type TwsError } from '../../errors.js';
import { askedVersionSchema } from '../../model/scalars.js';
import { unfinishedStatuses } from '../../model/status.js';
import type { Api } from '../api.js';
import type { Principal } from '../access/principal.js';
import { answerOf } from '../answers/problems.js';
import { route } from '../route.js';
import { bulkMigratedSchema, migratedSchema, migrationsSchema } from '../version-schemas.js';
import { jobsMeant, manyFields } from './bulk-requests.js';
import { answeredTo, idParams, jobFor, known, waiting, waitSchema } from './common.js';
import type { JobCriteria } from './job-filter.js';
import { byOf, requestQuery, usualWaitMs, whoFields } from './requests.js';

const to = askedVersionSchema
  .optional()
  .describe(
    'The version; absent: the flow as it is stored now, as a retry with `latest` takes it.',
  );

const ruleText =
  'A job moves if the other version agrees with what the job has begun. One that does not move stays as it is.';

export const migrateRoute = route({
  method: 'POST',
  path: '/jobs/{id}/migrate',
  id: 'migrateJob',
  tag: 'requests',
  summary: 'Move a job that has not ended to another version of its flow.',
  description: ruleText,
  access: 'operator',
  params: idParams,
  query: requestQuery,
  body: { schema: z.strictObject({ ...whoFields, to }), optional: true },
  answers: {
    200: { description: 'It goes by that version.', schema: migratedSchema },
    202: { description: 'It is stored; an engine will apply it.', schema: migratedSchema },
  },
  problems: ['document_missing', 'request_refused', 'job_ended', 'job_stays'],
  handle: async ({ api, params: { id }, query: { wait = usualWaitMs }, body, ...call }) => {
    const { headers, signal } = call;
    const principal = known(call);
    const job = await jobFor(api, principal, id);
    const asked = askedOf(body, principal);
    const [found] = await api.client.migrations([job], asked.to);
    if (found?.can === 'stays') throw staysProblem(found);
    if (found?.can === 'there') {
      const { because } = found;
      return { status: 200, body: { outcome: 'there', because, job: summaryOf(job, api.now()) } };
    }
    const requested = await answeredTo({ api, headers, level: 'operator' }, () =>
      waiting(api, wait, (waitMs) =>
        api.client.request(id, 'migrate', { ...asked, signal, waitMs }),
      ),
    );
    return requested.kind === 'stored'
      ? { status: 202, body: { outcome: 'stored', request: requested.request } }
      : { status: 200, body: { outcome: 'applied', job: summaryOf(requested.job, api.now()) } };
  },
});

const many = manyFields('have not ended');

export const migrateManyRoute = route({
  method: 'POST',
  path: '/jobs/migrate',
  id: 'migrateJobs',
  tag: 'requests',
  summary: 'Move many jobs to another version of their flows.',
  description: ruleText,
  access: 'operator',
  body: {
    schema: z.strictObject({
      ...many,
      to,
      wait: waitSchema
        .optional()
        .describe('How long to wait for the engines; default: not at all.'),
      ...whoFields,
    }),
  },
  answers: { 200: { description: 'What became of each.', schema: bulkMigratedSchema } },
  problems: ['owner_refused'],
  handle: async ({ api, body, principal: asker, signal }) => {
    const principal = known({ principal: asker });
    const asked = askedOf(body, principal);
    const { jobs, found, more } = await movementsOf(api, body, principal);
    const moving = jobs.filter((_job, i) => found[i]?.can === 'moves');
    const requested = await waiting(api, body.wait ?? 0, (waitMs) =>
      api.client.requestMany(moving, 'migrate', { waitMs, signal, ...asked }),
    );
    const after = new Map(requested.map((one) => [one.id, one]));
    const results = found.map((one) => outcomeOf(one, after.get(one.id)));
    const count = (outcome: string): number =>
      results.filter((one) => one.outcome === outcome).length;
    const counts = {
      ...{ applied: count('applied'), stored: count('stored') },
      ...{ there: count('there'), refused: count('refused') },
    };
    return { status: 200, body: { ...counts, more, results } };
  },
});

export const checkMigrationsRoute = route({
  method: 'POST',
  path: '/jobs/migrate/check',
  id: 'checkMigrations',
  tag: 'requests',
  summary:
    'Whether jobs can move to another version of their flows, and if not why. Nothing moves.',
  description: ruleText,
  access: 'viewer',
  body: { schema: z.strictObject({ ...many, to }) },
  answers: { 200: { description: 'What each could do.', schema: migrationsSchema } },
  problems: ['owner_refused'],
  handle: async ({ api, body, principal }) => {
    const { found, more } = await movementsOf(api, body, known({ principal }));
    const count = (can: Migration['can']): number => found.filter((one) => one.can === can).length;
    const counts = { moves: count('moves'), there: count('there'), stays: count('stays') };
    return { status: 200, body: { ...counts, more, jobs: found } };
  },
});

type Asking = {
  readonly to?: string | undefined;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
};

function askedOf({ to: version, reason, by }: Asking, principal: Principal) {
  return {
    ...(version === undefined ? {} : { to: version }),
    ...(reason === undefined ? {} : { reason }),
    ...byOf({ by }, principal),
  };
}

type Meant = Pick<Asking, 'to'> & {
  readonly ids?: readonly string[] | undefined;
  readonly filter?: JobCriteria | undefined;
  readonly limit?: number | undefined;
};

/** The jobs that are meant, and in their order whether they can move. */
async function movementsOf(api: Api, { to: version, ...body }: Meant, principal: Principal) {
  const { limit = 1_000 } = body;
  const chosen = await jobsMeant(api, body, principal, { statuses: unfinishedStatuses, limit });
  return { ...chosen, found: await api.client.migrations(chosen.jobs, version) };
}

function outcomeOf(found: Migration, requested: RequestedOne | undefined) {
  const { id, can } = found;
  if (can === 'there') return { id, outcome: can };
  if (requested === undefined) return refusedOne(id, staysProblem(found));
  return requested.kind === 'refused'
    ? refusedOne(id, requested.problem)
    : { id, outcome: requested.kind };
}

function refusedOne(id: string, why: TwsError) {
  return { id, outcome: 'refused' as const, problem: answerOf(why).body };
}

function staysProblem({ because }: Migration): TwsError {
  return problem('job_stays', { reason: String(because) });
}
