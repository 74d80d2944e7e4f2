import { z } from 'zod';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { notifyListId, notifyListSchema } from '../../model/notify-list.js';
import { isObject } from '../../model/object.js';
import { ownerOf } from '../../model/task.js';
import { checkDefinition } from '../../validate/single.js';
import { assertOwner, mayHave, ownersFor } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { firstMistakes, refuseDocument } from '../answers/problems.js';
import { withSecretsOf } from '../answers/redact.js';
import { toldOccasions } from '../../model/occasions.js';
import type { Api } from '../api.js';
import { route, type Route } from '../route.js';
import { checkedSchema, putSchema, storedKeys } from '../schemas.js';
import { known } from './common.js';
import { revisionToReplace } from './definition-given.js';
import { unknownSecret } from './new-job.js';

const kind = 'notify';
const params = z.object({
  owner: z
    .string()
    .min(1)
    .describe('Whose jobs; DEFAULT: those of all owners. The id of a stored list does as well.'),
});
const testParams = z.object({
  owner: z.string().min(1).describe('Whose jobs; DEFAULT: those of all owners.'),
});

const bodySchema = notifyListSchema
  .safeExtend({ ...storedKeys, type: z.exactOptional(z.literal(kind)) })
  .describe('Who is notified of the jobs of an owner, or of all owners.')
  .meta({ id: 'NotifyList' });

const storedSchema = z
  .object({ id: z.string(), rev: z.string(), owner: z.string(), document: bodySchema })
  .meta({ id: 'StoredNotifyList' });

const testSchema = z
  .object({
    from: z.string().describe('Where it is written: a flow, the id of a list, or `tws.json`.'),
    at: z.number().describe('Its place there, from 0.'),
    kind: z.enum(['url', 'task', 'flow']),
    to: z.string().describe('The task or flow; of a webhook the server alone.'),
    job: z.string().describe('The job that sends it.'),
  })
  .meta({ id: 'NotifyTest' });

const listRoute = route({
  method: 'GET',
  path: '/notify',
  id: 'listNotifyLists',
  tag: 'notify',
  summary: 'The notify lists that are stored.',
  access: 'viewer',
  query: z.object({ owner: z.string().optional() }),
  answers: {
    200: {
      description: 'The lists, by id.',
      schema: z.object({ lists: z.array(storedSchema) }).meta({ id: 'NotifyLists' }),
    },
  },
  problems: ['owner_refused'],
  handle: async ({ api, query: { owner }, principal }) => {
    const owners = ownersFor(known({ principal }), owner);
    const docs = await api.client.notifyLists();
    const own = docs.filter((doc) => owners === undefined || owners.includes(ownerOf(doc)));
    return { status: 200, body: { lists: own.map(answerOf) } };
  },
});

const getRoute = route({
  method: 'GET',
  path: '/notify/{owner}',
  id: 'getNotifyList',
  tag: 'notify',
  summary: 'The notify list of an owner.',
  access: 'viewer',
  params,
  answers: {
    200: { description: 'The list.', schema: storedSchema, headers: { etag: 'Its revision.' } },
  },
  problems: ['definition_missing'],
  handle: async ({ api, params: { owner }, principal }) => {
    const doc = await listOf(api, owner, known({ principal }));
    return { status: 200, body: answerOf(doc), headers: { etag: `"${doc._rev}"` } };
  },
});

const putRoute = route({
  method: 'PUT',
  path: '/notify/{owner}',
  id: 'putNotifyList',
  tag: 'notify',
  summary: 'Store the notify list of an owner: a new one, or over the revision that you know.',
  description: 'It is checked as `tws push` checks it. `If-Match: *` replaces whatever is there.',
  access: 'admin',
  params,
  headers: { 'if-match': 'The revision that is replaced; `_rev` in the body does as well.' },
  body: { schema: bodySchema, checkedBy: 'route' },
  answers: {
    200: { description: 'Replaced.', schema: putSchema },
    201: { description: 'New.', schema: putSchema },
  },
  problems: [
    'document_invalid',
    'document_conflict',
    'definition_exists',
    'definition_absent',
    'owner_refused',
  ],
  handle: async ({ api, params: { owner }, body, headers, principal }) => {
    const { doc, before, checked } = await prepared(api, owner, body, known({ principal }));
    if (checked.problems.length > 0) refuseDocument(kind, checked.problems);
    const about = { kind, id: doc._id };
    const rev = revisionToReplace(kind, headers['if-match'], body, before);
    if (rev !== before?._rev) {
      if (rev === undefined) throw problem('definition_exists', about);
      throw problem(before === undefined ? 'definition_absent' : 'document_conflict', about);
    }
    const { _rev: _old, ...content } = doc;
    const next = { ...content, _id: doc._id, ...(rev === undefined ? {} : { _rev: rev }) };
    const written = await api.client.write(next);
    const created = before === undefined;
    const warnings = firstMistakes(checked.warnings);
    return {
      status: created ? 201 : 200,
      body: { id: doc._id, rev: written, warnings, created },
    };
  },
});

const removeRoute = route({
  method: 'DELETE',
  path: '/notify/{owner}',
  id: 'removeNotifyList',
  tag: 'notify',
  summary: 'Remove the notify list of an owner.',
  access: 'admin',
  params,
  headers: { 'if-match': 'Only while it is of this revision.' },
  answers: { 204: { description: 'It is gone.' } },
  problems: ['definition_missing', 'document_conflict'],
  handle: async ({ api, params: { owner }, headers, principal }) => {
    const doc = await listOf(api, owner, known({ principal }));
    const rev = revisionToReplace(kind, headers['if-match'], undefined, doc) ?? doc._rev;
    if (rev !== doc._rev) throw problem('document_conflict', { id: doc._id });
    await api.client.remove(doc._id, rev);
    return { status: 204 };
  },
});

const checkRoute = route({
  method: 'POST',
  path: '/notify/check',
  id: 'checkNotifyList',
  tag: 'notify',
  summary: 'Check a notify list and store nothing.',
  access: 'viewer',
  body: { schema: bodySchema, checkedBy: 'route' },
  answers: { 200: { description: 'What was found.', schema: checkedSchema } },
  problems: ['document_invalid', 'owner_refused'],
  handle: async ({ api, body, principal: who }) => {
    const principal = known({ principal: who });
    const { _id: id, ...given } = isObject(body) ? body : {};
    const there = typeof id === 'string' ? await storedList(api, id, principal) : undefined;
    const { checked } = await prepared(api, there?._id ?? ownerOf(given), body, principal);
    const [problems, warnings] = [checked.problems, checked.warnings].map(firstMistakes);
    return { status: 200, body: { ok: checked.problems.length === 0, problems, warnings } };
  },
});

const testRoute = route({
  method: 'POST',
  path: '/notify/{owner}/test',
  id: 'testNotify',
  tag: 'notify',
  summary: 'Send a test to whoever is notified of jobs of an owner.',
  description:
    'As if a job of the owner, or of a flow, had come to the event. Engines send it; the jobs tell whether that worked. Lists of owners that you may not see are left out.',
  access: 'operator',
  params: testParams,
  body: {
    schema: z.strictObject({
      event: z.enum(toldOccasions).optional().describe('Default: failed.'),
      flow: z.string().optional().describe('With what "notify" of this flow says.'),
    }),
    optional: true,
  },
  answers: {
    202: {
      description: 'The jobs are stored.',
      schema: z.object({ tests: z.array(testSchema) }).meta({ id: 'NotifyTests' }),
    },
  },
  problems: ['owner_refused', 'definition_missing', 'definition_ambiguous', 'document_invalid'],
  handle: async ({ api, params: { owner }, body, principal: who }) => {
    const principal = known({ principal: who });
    assertOwner(principal, owner);
    const { event = 'failed', flow } = body ?? {};
    const isMeant = (of: string): boolean => principal.owners === 'all' || of === owner;
    const settings = api.notify;
    const sent = await api.client.testNotify({ owner, event, flow, settings, isMeant });
    return { status: 202, body: { tests: sent.map(({ on: _on, ...test }) => test) } };
  },
});

/** List, get, store, remove, check and test notify lists. */
export const notifyListRoutes: readonly Route[] = [
  ...[listRoute, getRoute, putRoute, removeRoute, checkRoute, testRoute],
];

function answerOf(doc: StoredDocument) {
  return { id: doc._id, rev: doc._rev, owner: ownerOf(doc), document: doc };
}

/** @throws TwsError `definition_missing`, also for an owner that somebody may not see */
async function listOf(api: Api, called: string, principal: Principal) {
  const doc = await storedList(api, called, principal);
  if (doc !== undefined) return doc;
  throw problem('definition_missing', { kind: 'notify list', name: called, owner: called });
}

/** The list of an owner under its usual id, or the one with that id. */
async function storedList({ client }: Api, called: string, principal: Principal) {
  const usual = await client.get(notifyListId(called));
  const isOwn = usual?.['type'] === kind && ownerOf(usual) === called;
  const doc = isOwn ? usual : await client.get(called);
  return doc?.['type'] === kind && mayHave(principal, doc) ? doc : undefined;
}

/** The list as it would be stored. @throws Refused, TwsError `owner_refused`, `document_conflict` */
async function prepared(api: Api, called: string, body: unknown, principal: Principal) {
  if (!isObject(body))
    refuseDocument(kind, [{ path: '', message: 'A notify list must be a JSON object.' }]);
  const { $schema: _schema, problems: _told, _rev, ...given } = body;
  const there = await storedList(api, called, principal);
  const [id, owner] =
    there === undefined ? [notifyListId(called), called] : [there._id, ownerOf(there)];
  const own: Record<string, unknown> = { type: kind, owner, ...given };
  const wrong = [
    ['type', kind],
    ['owner', owner],
    ['_id', id],
  ].find(([key = '', value]) => own[key] !== undefined && own[key] !== value);
  if (wrong !== undefined) {
    const [path = '', value] = wrong;
    refuseDocument(kind, [{ path, message: `${path} must be "${value}", or be left out.` }]);
  }
  assertOwner(principal, owner);
  const before = there ?? (await api.client.get(id));
  if (before !== there) throw problem('document_conflict', { id });
  const { doc, lost } = withSecretsOf(own, before);
  if (lost.length > 0) refuseDocument(kind, lost.map(unknownSecret));
  const checked = await checkDefinition({ ...own, _id: id }, api.client, api.plugins);
  return { doc: { ...doc, _id: id, _rev: '0-0' } as StoredDocument, before, checked };
}
