import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { currentOnly } from '../../model/flow-versions.js';
import { isObject } from '../../model/object.js';
import { ownerOf } from '../../model/task.js';
import { assertOwner, mayHave } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import type { Api } from '../api.js';
import { ownerOfNew } from '../ojs/route.js';
import type { Route } from '../route.js';
import {
  documentsOfWorkflow,
  seenWorkflow,
  chainWorkflowSchema,
  type SeenWorkflow,
  type WorkflowDocuments,
} from './definition.js';
import { chainRoute } from './route.js';

const uuidParams = z.object({ uuid: z.string().min(1) });

const listWorkflows = chainRoute({
  method: 'GET',
  path: '/workflows',
  access: 'viewer',
  anyQuery: true,
  handle: async ({ api, query, who }) => {
    const wanted = Object.entries(query as Readonly<Record<string, unknown>>);
    const all = (await workflowsFor(api, who)).map(({ seen }) => seen);
    const body = all.filter((one) => wanted.every(([key, value]) => textual(one[key]) === value));
    return { status: 200, body };
  },
});

/** A value of a document as a query writes it. */
export const textual = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;

const postWorkflow = chainRoute({
  method: 'POST',
  path: '/workflows',
  access: 'admin',
  body: { schema: chainWorkflowSchema },
  handle: async ({ api, body, who }) => {
    const owner = ownerOfNew(who);
    assertOwner(who, owner);
    assertRunsCode(api, owner);
    const { name, uuid = randomUUID() } = body;
    if ((await api.client.find('flow', name, owner)).length > 0) {
      throw problem('workflow_taken', { name });
    }
    // Its tasks would be written over: their names begin with it.
    const twin = (await workflowsFor(api, who)).find(({ seen }) => seen.uuid === uuid);
    if (twin !== undefined) {
      const reason = `workflow ${JSON.stringify(twin.seen.name)} has its "uuid".`;
      throw problem('workflow_invalid', { reason });
    }
    const documents = documentsOfWorkflow(body, { owner, uuid });
    try {
      await storeWorkflow(api, documents);
    } catch (error) {
      // Its tasks without it serve nobody.
      await removeTasks(api, uuid, owner, new Set()).catch(() => undefined);
      throw error;
    }
    const headers = { location: `/workflows/${uuid}`, 'request-id': uuid };
    return { status: 201, body: seenWorkflow(documents.flow), headers };
  },
});

const getWorkflow = chainRoute({
  method: 'GET',
  path: '/workflows/{uuid}',
  access: 'viewer',
  params: uuidParams,
  handle: async ({ api, params: { uuid }, who }) => {
    const { seen } = await workflowFor(api, who, uuid);
    return { status: 200, body: seen, headers: { 'request-id': uuid } };
  },
});

const putWorkflow = chainRoute({
  method: 'PUT',
  path: '/workflows/{uuid}',
  access: 'admin',
  params: uuidParams,
  body: { schema: chainWorkflowSchema.partial({ name: true }) },
  handle: async ({ api, params: { uuid }, body, who }) => {
    const { doc, seen } = await workflowFor(api, who, uuid);
    const owner = ownerOf(doc);
    assertRunsCode(api, owner);
    const { name = seen.name } = body;
    const isRenamed = name !== seen.name;
    if (isRenamed && (await api.client.find('flow', name, owner)).length > 0) {
      throw problem('workflow_taken', { name });
    }
    const documents = documentsOfWorkflow({ ...body, name }, { owner, uuid: seen.uuid });
    const changed = { ...ownKeysOf(doc), ...documents.flow };
    const flow = isRenamed ? changed : { ...changed, _id: doc._id };
    await storeWorkflow(api, { ...documents, flow });
    const kept = new Set(documents.tasks.map(({ _id }) => _id));
    await removeTasks(api, seen.uuid, owner, kept);
    if (isRenamed) await api.client.remove(doc._id, doc._rev);
    return { status: 200, body: seenWorkflow(flow), headers: { 'request-id': uuid } };
  },
});

const deleteWorkflow = chainRoute({
  method: 'DELETE',
  path: '/workflows/{uuid}',
  access: 'admin',
  params: uuidParams,
  handle: async ({ api, params: { uuid }, who }) => {
    const { doc, seen } = await workflowFor(api, who, uuid);
    await api.client.remove(doc._id, doc._rev);
    await removeTasks(api, seen.uuid, ownerOf(doc), new Set());
    return { status: 204, headers: { 'request-id': uuid } };
  },
});

/** The routes about workflows. */
export const definitionsOfWorkflows: readonly Route[] = [
  listWorkflows,
  postWorkflow,
  getWorkflow,
  putWorkflow,
  deleteWorkflow,
];

/** What a flow says beside its workflow, such as `enabled`, `version` or `notify`: clients do not know it. */
function ownKeysOf(doc: StoredDocument): Readonly<Record<string, unknown>> {
  const { _id, _rev, error: _error, cancel: _cancel, ...own } = doc;
  return own;
}

/** @throws TwsError `workflow_code` */
function assertRunsCode({ scriptOwners }: Api, owner: string): void {
  if (!scriptOwners.includes('*') && !scriptOwners.includes(owner)) {
    throw problem('workflow_code', { owner });
  }
}

/** A flow, and the workflow that it is. */
export type StoredWorkflow = { readonly doc: StoredDocument; readonly seen: SeenWorkflow };

/** The workflows that somebody may see. */
export async function workflowsFor(
  { client }: Api,
  who: Principal,
): Promise<readonly StoredWorkflow[]> {
  const flows = await client.definitions('flow');
  return flows.flatMap((doc) => {
    const seen = mayHave(who, doc) ? seenWorkflow(doc) : undefined;
    return seen === undefined ? [] : [{ doc, seen }];
  });
}

/** A workflow by its uuid, the id of its flow, or its name. @throws TwsError `workflow_missing` */
export async function workflowFor(api: Api, who: Principal, id: string): Promise<StoredWorkflow> {
  const all = await workflowsFor(api, who);
  const found =
    all.find(({ seen }) => seen.uuid === id) ??
    all.find(({ doc }) => doc._id === id) ??
    currentNamed(all, id);
  if (found === undefined) throw problem('workflow_missing', { id });
  return found;
}

/** The workflow of a name: of several versions the current one, which its jobs run. */
function currentNamed(all: readonly StoredWorkflow[], name: string): StoredWorkflow | undefined {
  const named = all.filter(({ seen }) => seen.name === name);
  const flows = currentOnly(
    named.map(({ doc }) => doc),
    ownerOf,
  );
  return named.find(({ doc }) => doc === flows[0]);
}

/** The flow comes last: until it is there nothing runs. */
async function storeWorkflow(api: Api, { flow, tasks }: WorkflowDocuments): Promise<void> {
  const there = await api.client.getMany([...tasks, flow].map(({ _id }) => _id));
  for (const doc of [...tasks, flow]) {
    const before = there.get(doc._id);
    await api.client.write(before === undefined ? doc : { ...doc, _rev: before._rev });
  }
}

/** Whether a task has a name as `documentsOfWorkflow` gives it: a uuid may be the beginning of other names. */
function isTaskOf(uuid: string, name: unknown): boolean {
  if (typeof name !== 'string' || !name.startsWith(`${uuid}.`)) return false;
  return /^(?:chain|onerror|oncancel)\.\d+(?:\.fallback)?$/.test(name.slice(uuid.length + 1));
}

/** Removes the tasks of a workflow but those that it has now. */
async function removeTasks(
  { client }: Api,
  uuid: string,
  owner: string,
  kept: ReadonlySet<string>,
): Promise<void> {
  const tasks = await client.definitions('task');
  for (const doc of tasks) {
    const { _id, _rev, name } = doc;
    const isOwn = ownerOf(doc) === owner && isTaskOf(uuid, name);
    if (isOwn && !kept.has(_id) && isObject(doc['params'])) await client.remove(_id, _rev);
  }
}
