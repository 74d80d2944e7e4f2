import { finder, flowFinder, type DefinitionLookup } from '../reading/definition-lookup.js';
import type { Flow } from '../model/flow.js';
import { parseDocument } from '../reading/parse.js';
import type { StoredDocument, DefinitionKind } from '../model/document.js';
import type { Problem } from '../model/problems.js';
import { keysFor, ownerOf, type Task } from '../model/task.js';
import type { Store } from '../store/store.js';
import { formKeyOf } from './begun-forms.js';
import {
  flowNamed,
  refusedInJob,
  setsParams,
  structureOf,
  turnedAway,
} from '../validate/sealed-params.js';
import { isTurnedAway } from '../model/welcome.js';
import type { Written } from '../validate/written.js';

/**
 * New jobs that are refused, for all that they are valid, each with the first reason: the flow is deprecated or does
 * not declare a search key, a stored task seals a parameter, or there is a secret in `notify`. What is not
 * stored yet is left to the engine; so is a job that is stored already.
 */
export async function unwelcomeJobs<J extends Written>(
  store: Store,
  jobs: readonly J[],
): Promise<ReadonlyMap<J, Problem>> {
  const asking = jobs.filter(
    (job) => typeof job['flow'] === 'string' || setsParams(job) || job['notify'] !== undefined,
  );
  const known = await Promise.all(asking.map((job) => isKnownWelcome(store, job)));
  const left = asking.filter((_job, i) => known[i] !== true);
  if (left.length === 0) return new Map();
  const { world } = await worldOf(store, left);
  const found = left.flatMap((job): [J, Problem][] => {
    const problem = unwelcomeness(job, world);
    return problem === undefined ? [] : [[job, problem]];
  });
  const ids = found.flatMap(([{ _id }]) => (typeof _id === 'string' ? [_id] : []));
  const there = ids.length === 0 ? new Map<string, unknown>() : await store.getMany(ids);
  return new Map(found.filter(([{ _id }]) => !there.has(String(_id))));
}

function unwelcomeness(job: Written, world: DefinitionLookup): Problem | undefined {
  const flow = flowNamed(job, world);
  return flow !== undefined && isTurnedAway(flow, job)
    ? { path: 'flow', message: turnedAway(flow) }
    : refusedInJob(job, world);
}

/** Whether jobs of the same form are welcome, as far as that is kept. */
async function isKnownWelcome(store: Store, job: Written): Promise<boolean> {
  const { kept } = store;
  const form = kept.isFollowing() && isNamed(job) ? formKeyOf(job) : undefined;
  if (form === undefined) return false;
  const { isWelcome } = await kept.answer(`welcome ${form}`, {
    read: async () => {
      const { world, ids } = await worldOf(store, [job]);
      return { isWelcome: unwelcomeness(job, world) === undefined, ids };
    },
    madeOf: ({ ids }) => ids,
  });
  return isWelcome;
}

function isNamed(job: Written): job is Written & { readonly _id: string } {
  return typeof job['_id'] === 'string';
}

/** What jobs name, as it is stored, and the ids of that. */
async function worldOf(
  store: Store,
  jobs: readonly Written[],
): Promise<{ readonly world: DefinitionLookup; readonly ids: readonly string[] }> {
  const flows = await stored(store, 'flow', jobs.flatMap(flowKeys));
  const world = { flow: flowFinder(flows.flatMap(flowIn)), task: () => undefined };
  const keys = jobs
    .filter(setsParams)
    .flatMap((doc) =>
      (structureOf(doc, world)?.leaves ?? []).flatMap(({ entry }) =>
        keysFor(entry.task, ownerOf(doc)),
      ),
    );
  const tasks = await stored(store, 'task', keys);
  const ids = [...flows, ...tasks].map(({ _id }) => _id);
  return { world: { ...world, task: finder(tasks.flatMap(taskIn)) }, ids };
}

function flowKeys(doc: Written): readonly string[] {
  const { flow, tasks } = doc;
  return typeof flow === 'string' && tasks === undefined ? keysFor(flow, ownerOf(doc)) : [];
}

async function stored(
  store: Store,
  kind: DefinitionKind,
  named: readonly string[],
): Promise<readonly StoredDocument[]> {
  const keys = [...new Set(named)];
  if (keys.length === 0) return [];
  const rows = await store.view(kind === 'task' ? 'tasks' : 'flows', { keys, includeDocs: true });
  return rows.flatMap(({ doc }) => doc ?? []);
}

function flowIn(doc: StoredDocument): readonly Flow[] {
  const parsed = parseDocument(doc);
  return parsed.kind === 'flow' && parsed.ok ? [parsed.value] : [];
}

function taskIn(doc: StoredDocument): readonly Task[] {
  const parsed = parseDocument(doc);
  return parsed.kind === 'task' && parsed.ok ? [parsed.value] : [];
}
