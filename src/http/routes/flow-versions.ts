import { z } from 'zod';
import type { Client, FlowName } from '../../client.js';
import { problem, type ProblemCode } from '../../errors.js';
import { askedVersionSchema } from '../../model/scalars.js';
import { defaultOwner, ownerOf } from '../../model/task.js';
import { flowDifferences } from '../../reading/flow-differences.js';
import { textOf } from '../../words.js';
import { hasOwner, mayHave, ownersFor } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { withoutSecretsAt } from '../answers/redact.js';
import { route, type Route } from '../route.js';
import { definitionSchema } from '../schemas.js';
import {
  flowDifferencesSchema,
  flowVersionsSchema,
  madeCurrentSchema,
} from '../version-schemas.js';
import { flagParam, known } from './common.js';
import { definitionIdParams, ownerParam } from './definition-storing.js';
import { definitionAnswer } from './definitions.js';
import { byOf, whoFields } from './requests.js';

const params = definitionIdParams('flow');
const query = z.object({ owner: ownerParam });
const tag = 'definitions';
const whichText = 'A version, or the id of a document of the flow';
const missing: readonly ProblemCode[] = ['definition_missing', 'owner_refused'];
const missingOne: readonly ProblemCode[] = [
  ...missing,
  ...(['flow_version_missing', 'definition_ambiguous'] as const),
];

const listRoute = route({
  method: 'GET',
  path: '/flows/{id}/versions',
  id: 'listFlowVersions',
  tag,
  summary: 'The versions of a flow: which is current, since when, and how many jobs run each.',
  access: 'viewer',
  params,
  query: query.extend({
    jobs: flagParam
      .default(true)
      .describe('false: jobs are not counted, which takes long where there are many.'),
  }),
  answers: { 200: { description: 'The versions.', schema: flowVersionsSchema } },
  problems: missing,
  handle: async ({ api: { client }, params: { id }, query: { owner, jobs }, principal }) => {
    const named = await namedFlow(client, { called: id, owner }, known({ principal }));
    return { status: 200, body: await client.flowVersions(named, { jobs }) };
  },
});

const getRoute = route({
  method: 'GET',
  path: '/flows/{id}/versions/{version}',
  id: 'getFlowVersion',
  tag,
  summary: 'A version of a flow.',
  access: 'viewer',
  params: params.extend({ version: z.string().min(1).describe(`${whichText}.`) }),
  query,
  answers: {
    200: {
      description: 'The flow.',
      schema: definitionSchema('flow'),
      headers: { etag: 'The revision.' },
    },
  },
  problems: missingOne,
  handle: async ({ api: { client }, params: { id, version }, query: { owner }, principal }) => {
    const named = await namedFlow(client, { called: id, owner }, known({ principal }));
    return definitionAnswer(await client.flowVersion(named, version));
  },
});

const compareRoute = route({
  method: 'GET',
  path: '/flows/{id}/diff',
  id: 'compareFlowVersions',
  tag,
  summary: 'Where two versions of a flow differ.',
  description: 'Secrets are compared and not shown: a place where only one differs is named.',
  access: 'viewer',
  params,
  query: query.extend({
    from: z.string().min(1).optional().describe(`${whichText}; absent: the current one.`),
    to: z.string().min(1).optional().describe(`${whichText}; absent: the current one.`),
  }),
  answers: { 200: { description: 'The places.', schema: flowDifferencesSchema } },
  problems: missingOne,
  handle: async ({ api: { client }, params: { id }, query: { owner, from, to }, principal }) => {
    const named = await namedFlow(client, { called: id, owner }, known({ principal }));
    const one = await client.flowVersion(named, from);
    const other = await client.flowVersion(named, to);
    const differences = flowDifferences(one, other, withoutSecretsAt);
    return { status: 200, body: { from: one._id, to: other._id, differences } };
  },
});

const { by } = whoFields;
const madeText = 'Jobs that have begun continue with what they began with.';

const useRoute = route({
  method: 'POST',
  path: '/flows/{id}/use',
  id: 'useFlowVersion',
  tag,
  summary: 'Make a version of a flow the current one: new jobs get it.',
  description: madeText,
  access: 'operator',
  params,
  query,
  body: { schema: z.strictObject({ version: askedVersionSchema.describe(`${whichText}.`), by }) },
  answers: { 200: { description: 'It is so now.', schema: madeCurrentSchema } },
  problems: [...missingOne, 'document_conflict'],
  handle: async ({ api: { client }, params: { id }, query: { owner }, body, principal: who }) => {
    const principal = known({ principal: who });
    const named = await namedFlow(client, { called: id, owner }, principal);
    const made = await client.useFlowVersion(named, body.version, byOf(body, principal).by);
    return { status: 200, body: made };
  },
});

const rollbackRoute = route({
  method: 'POST',
  path: '/flows/{id}/rollback',
  id: 'rollbackFlow',
  tag,
  summary: 'Make the version current that was so before.',
  description: `The same again leads back. ${madeText}`,
  access: 'operator',
  params,
  query,
  body: { schema: z.strictObject({ by }), optional: true },
  answers: { 200: { description: 'It is so now.', schema: madeCurrentSchema } },
  problems: [...missing, 'definition_ambiguous', 'flow_before_unknown', 'document_conflict'],
  handle: async ({ api: { client }, params: { id }, query: { owner }, body, principal: who }) => {
    const principal = known({ principal: who });
    const named = await namedFlow(client, { called: id, owner }, principal);
    const made = await client.useFlowVersion(named, undefined, byOf(body, principal).by);
    return { status: 200, body: made };
  },
});

/** Versions of flows. */
export const flowVersionRoutes: readonly Route[] = [
  listRoute,
  getRoute,
  compareRoute,
  useRoute,
  rollbackRoute,
];

type Called = { readonly called: string; readonly owner: string | undefined };

/**
 * Name and owner of a flow that somebody may see, also where none of its documents is current. Of those of others
 * nothing is told. @throws TwsError `definition_missing`, `owner_refused`
 */
async function namedFlow(
  client: Client,
  { called, owner: asked }: Called,
  principal: Principal,
): Promise<FlowName> {
  const usual = ownersFor(principal, asked)?.[0] ?? defaultOwner;
  const byId = await client.get(called);
  if (byId?.['type'] === 'flow' && mayHave(principal, byId)) {
    return { name: textOf(byId['name']), owner: ownerOf(byId) };
  }
  const [name = called, owner = usual] = called.split('::');
  if (!hasOwner(principal, owner))
    throw problem('definition_missing', { kind: 'flow', name, owner });
  return { name, owner };
}
