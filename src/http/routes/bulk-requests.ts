import { z } from 'zod';
import type { RequestedOne } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { unfinishedStatuses, type Status } from '../../model/status.js';
import type { Api } from '../api.js';
import { mayHave } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { answerOf } from '../answers/problems.js';
import { route, type Route } from '../route.js';
import { bulkRequestedSchema } from '../schemas.js';
import { known, waiting, waitSchema } from './common.js';
import { filterSchema, searchOfFilter, type JobCriteria } from './job-filter.js';
import { byOf, whoFields } from './requests.js';

/** Which jobs are meant. `others`: those where nothing says so. */
export const manyFields = (others: string) => ({
  filter: filterSchema.strict().optional().describe(`Which jobs; absent: all that ${others}.`),
  ids: z.array(z.string()).max(1_000).optional().describe('These jobs, instead of a filter.'),
  limit: z.int().min(1).max(1_000).optional().describe('Jobs at most; default 1000.'),
});

const bulkBody = z.strictObject({
  ...manyFields('failed (retry), or that have not ended (cancel)'),
  wait: waitSchema.optional().describe('How long to wait for the engines; default: not at all.'),
  ...whoFields,
});

/** `retry` and `cancel` of many jobs at once. */
export const bulkRoutes: readonly Route[] = (['retry', 'cancel'] as const).map((action) =>
  route({
    method: 'POST',
    path: `/jobs/${action}`,
    id: `${action}Jobs`,
    tag: 'requests',
    summary: action === 'retry' ? 'Retry many jobs.' : 'Cancel many jobs.',
    access: 'operator',
    body: { schema: bulkBody },
    answers: { 200: { description: 'What became of each.', schema: bulkRequestedSchema } },
    problems: ['owner_refused'],
    handle: async ({ api, body, principal: asker, signal }) => {
      const principal = known({ principal: asker });
      const { wait = 0, limit = 1_000, reason } = body;
      const statuses = statusesFor[action];
      const { jobs, more } = await jobsMeant(api, body, principal, { statuses, limit });
      const asked = { ...(reason === undefined ? {} : { reason }), ...byOf(body, principal) };
      const results = await waiting(api, wait, (waitMs) =>
        api.client.requestMany(jobs, action, { waitMs, signal, ...asked }),
      );
      return { status: 200, body: { ...reportOf(results), more } };
    },
  }),
);

type Bulk = 'retry' | 'cancel';

/** Of which jobs it can be asked, and which are meant when nothing says so. */
const statusesFor: Readonly<Record<Bulk, readonly Status[]>> = {
  retry: ['failed'],
  cancel: unfinishedStatuses,
};

type Wanted = {
  readonly ids?: readonly string[] | undefined;
  readonly filter?: JobCriteria | undefined;
};
type Limits = { readonly statuses: readonly Status[]; readonly limit: number };

/** The jobs of these ids, or of a filter, that somebody may have. `statuses`: of those that no filter names. */
export async function jobsMeant(
  { client, now }: Api,
  { ids, filter = {} }: Wanted,
  principal: Principal,
  { statuses, limit }: Limits,
): Promise<{ readonly jobs: readonly StoredDocument[]; readonly more: boolean }> {
  if (ids !== undefined) {
    const wanted = [...new Set(ids)];
    const docs = await client.getMany(wanted.slice(0, limit));
    const jobs = [...docs.values()].filter(
      (doc) => doc['type'] === 'job' && mayHave(principal, doc),
    );
    return { jobs, more: wanted.length > limit };
  }
  const search = searchOfFilter(filter, principal);
  const status = search.status ?? statuses;
  const { jobs, cursor } = await client.search({ ...search, status }, { limit, now: now() });
  return { jobs, more: cursor !== undefined };
}

function reportOf(results: readonly RequestedOne[]) {
  const count = (kind: RequestedOne['kind']): number =>
    results.filter((one) => one.kind === kind).length;
  return {
    applied: count('applied'),
    stored: count('stored'),
    refused: count('refused'),
    results: results.map((one) => ({
      id: one.id,
      outcome: one.kind,
      ...(one.kind === 'refused' ? { problem: answerOf(one.problem).body } : {}),
    })),
  };
}
