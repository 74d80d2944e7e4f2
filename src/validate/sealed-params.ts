import { withDefaults, objectAt } from '../decide/start/params.js';
import { merge } from '../model/record.js';
import { flowParams, refusal, sealedBreach } from '../decide/start/sealed.js';
import { placesIn } from '../reading/check.js';
import { type DefinitionLookup } from '../reading/definition-lookup.js';
import { isObject } from '../model/object.js';
import { toKeyedParams } from '../reading/dialects.js';
import { branchesOf, handlerOf, type Flow } from '../model/flow.js';
import { asVersion } from '../model/flow-versions.js';
import type { NewJob } from '../model/job.js';
import { secretsInNotify } from '../model/notify.js';
import { parseDocument } from '../reading/parse.js';
import { toJsonPath, type Problem } from '../model/problems.js';
import { ownerOf, type Task } from '../model/task.js';
import { leavesOf } from '../structures/tree.js';
import { namesTask, type Entry, type Leaf } from '../model/tree.js';
import { failure } from '../model/failures.js';
import { insteadOfDeprecated, keysNotDeclared } from '../model/welcome.js';
import type { Written } from './written.js';

type Params = Readonly<Record<string, unknown>>;

/**
 * Why a new job is refused, for all that it is valid: a secret in `notify`, a search key that its flow does not
 * declare, or a parameter that it or its flow sets and a task seals.
 */
export function refusedInJob(doc: Written, world: DefinitionLookup): Problem | undefined {
  const [secret] = secretsInNotify(doc);
  const [found = secret] = keysNotDeclared(flowNamed(doc, world) ?? {}, doc);
  return found ?? sealedInJob(doc, world);
}

/** The stored flow that a new job names, where it brings no structure of its own. */
export function flowNamed(doc: Written, { flow }: DefinitionLookup): Flow | undefined {
  const { flow: name, tasks, flow_version: version } = doc;
  return typeof name === 'string' && tasks === undefined
    ? flow(name, ownerOf(doc), asVersion(version))
    : undefined;
}

/** What is told of a job whose flow is deprecated. */
export function turnedAway(flow: Flow): string {
  return failure('FlowDeprecated', { flow: flow.name, instead: insteadOfDeprecated(flow) }).message;
}

function sealedInJob(doc: Written, world: DefinitionLookup): Problem | undefined {
  const read = setsParams(doc) ? structureOf(doc, world) : undefined;
  if (read === undefined) return undefined;
  const { job, flow, leaves } = read;
  const { tasks, ...settings } = flow;
  const owner = ownerOf(doc);
  const definitions = Object.fromEntries(
    leaves.flatMap(({ entry: { task } }): [string, Task][] => {
      const found = world.task(task, owner);
      return found === undefined ? [] : [[task, found]];
    }),
  );
  const written = withDefaults(toKeyedParams(job.params ?? {}, tasks), settings);
  const breach = sealedBreach(job, { leaves, flow: settings, definitions, written });
  if (breach?.failure.name !== 'ParamSealed') return undefined;
  return { path: placeIn(doc, breach.leaf), message: breach.failure.message };
}

/** The parameters that a flow sets although the tasks of its steps seal them, with their places. */
export function sealedInFlow(flow: Flow, { task }: DefinitionLookup): readonly Problem[] {
  const main = { places: placesIn(flow.tasks, 'tasks'), phase: 'main' as const };
  const beside = branchesOf(flow).map(({ tree, root }) => ({
    places: placesIn(tree, root),
    phase: root,
  }));
  const ofSteps = [main, ...beside].flatMap(({ places, phase }) =>
    places.flatMap(({ leaf, at }) => {
      const { entry, label } = leaf;
      const ofFlow = flowParams(flow, { leaf, phase }, entry);
      const keys = phase === 'main' ? [label, entry.task] : [entry.task];
      return sealedAt({ entry, at, keys, ofFlow }, flow, task(entry.task, flow.owner));
    }),
  );
  const handler = handlerOf(flow);
  if (handler === undefined) return ofSteps;
  const { name, params } = handler;
  const entry = { task: name, ...(params === undefined ? {} : { params }) };
  const ofFlow = merge(objectAt(flow.params, name), params);
  const of = { entry, at: 'error', keys: [name], ofFlow };
  return [...ofSteps, ...sealedAt(of, flow, task(name, flow.owner))];
}

type Place = {
  readonly entry: Entry;
  readonly at: string;
  /** Under which the flow has parameters for it. */
  readonly keys: readonly string[];
  readonly ofFlow: Params;
};

function sealedAt(
  { entry, at, keys, ofFlow }: Place,
  flow: Flow,
  task: Task | undefined,
): readonly Problem[] {
  if (task === undefined || !namesTask(entry)) return [];
  const why = refusal({ task, ofFlow, entry }, {});
  if (why === undefined) return [];
  const layers: readonly (readonly [string, Params | undefined])[] = [
    [`${at}.params`, entry.params],
    ...keys.map((key) => [toJsonPath(['params', key]), objectAt(flow.params, key)] as const),
  ];
  const bare = { task: entry.task };
  const guilty = layers.find(
    ([, layer = {}]) => refusal({ task, ofFlow: layer, entry: bare }, {}) !== undefined,
  );
  const path = guilty?.[0] ?? `${at}.stdio`;
  return [{ path, message: `${path}: ${why.message}` }];
}

/** Whether a job may set parameters of steps. */
export function setsParams({ params, tasks }: Written): boolean {
  return tasks !== undefined || (isObject(params) && Object.keys(params).length > 0);
}

type Read = { readonly job: NewJob; readonly flow: Flow; readonly leaves: readonly Leaf[] };

/** A new job with the structure that it runs: its own, or that of the flow that it names. */
export function structureOf(doc: Written, world: DefinitionLookup): Read | undefined {
  const parsed = parseDocument({ ...doc, _id: 'new', _rev: '0-0' });
  if (parsed.kind !== 'job' || !parsed.ok || doc['state'] !== undefined) return undefined;
  const job = parsed.value as NewJob;
  const owner = ownerOf(doc);
  const name = job.flow ?? '';
  const flow: Flow | undefined =
    job.tasks === undefined
      ? world.flow(name, owner, asVersion(job.flow_version))
      : { type: 'flow', name, owner, tasks: job.tasks };
  return flow === undefined ? undefined : { job, flow, leaves: leavesOf(flow.tasks) };
}

/** Where a job sets parameters of a step. */
function placeIn({ params, tasks }: Written, { label, entry }: Leaf): string {
  const given = isObject(params) ? params : {};
  const key = [label, entry.task].find((one) => Object.hasOwn(given, one));
  if (key !== undefined) return toJsonPath(['params', key]);
  return tasks === undefined ? 'params' : 'tasks';
}
