import { z } from 'zod';
import type { JobSearch } from '../../client.js';
import { problem } from '../../errors.js';
import { statuses, type Status } from '../../model/status.js';
import { ownersFor } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { listParam, timeParam } from './common.js';

const keyText = 'must be NAME=VALUE';

/** What jobs are searched for in a query. */
export const filterShape = {
  flow: z.string().optional().describe('Name of the flow.'),
  version: z.string().optional().describe('Version of the flow that the job runs.'),
  owner: z.string().optional(),
  status: listParam
    .optional()
    .describe(`One or more of ${statuses.join(', ')}; several as a,b or by repeating it.`),
  tag: listParam.optional().describe('All of these tags.'),
  key: z
    .string()
    .regex(/^[^=]+=/, { error: keyText })
    .optional()
    .describe('A search key: NAME=VALUE.'),
  failure: z.string().optional().describe('Name of the failure.'),
  external_id: z.string().optional(),
  parent: z.string().optional().describe('Id of the parent job.'),
  id_prefix: z.string().optional().describe('What the id begins with.'),
  text: z.string().optional().describe('What the name or the sentence of the failure contains.'),
  from: timeParam.optional().describe('Begun then or later: epoch ms, or ISO 8601 with a zone.'),
  to: timeParam.optional().describe('Begun before.'),
};

export const filterSchema = z.object(filterShape);
export type JobCriteria = z.infer<typeof filterSchema>;

/** The search that a filter means for somebody. @throws TwsError `owner_refused`, `request_invalid` */
export function searchOfFilter(filter: JobCriteria, principal: Principal): JobSearch {
  const { flow, owner, status, tag, key, failure, external_id: externalId, parent } = filter;
  const [name = '', ...value] = key?.split('=') ?? [];
  return {
    flow,
    version: filter.version,
    owners: ownersFor(principal, owner),
    status: status?.map(toStatus),
    tags: tag,
    key: key === undefined ? undefined : { name, value: value.join('=') },
    failure,
    externalId,
    parent,
    idPrefix: filter.id_prefix,
    text: filter.text,
    from: filter.from,
    to: filter.to,
  };
}

function toStatus(word: string): Status {
  const known = statuses.find((status) => status === word);
  if (known !== undefined) return known;
  const reason = `status must be one of ${statuses.join(', ')}; it is ${JSON.stringify(word)}.`;
  throw problem('request_invalid', { part: 'query', reason });
}
