import { secretsIn } from '../../model/encrypted-values.js';
import { failure } from '../../model/failures.js';
import type { FlowSettings, LiveJob, NewJob } from '../../model/job.js';
import { isSealed, overridden, sealOf } from '../../model/sealing.js';
import { fieldOf } from '../../model/secret-reference.js';
import type { Failure } from '../../model/step.js';
import type { Task } from '../../model/task.js';
import { namesTask, type Entry, type Leaf } from '../../model/tree.js';
import { leavesIn } from '../../reading/entries.js';
import { difference, isOwn, objectAt } from './params.js';
import { merge } from '../../model/record.js';
import type { Beginning } from '../../structures/progress.js';
import { notifySource } from './notify-entries.js';

type Params = Readonly<Record<string, unknown>>;

/** What definitions say of the parameters of a step: its task, and the flow around it. */
export type Defined = { readonly task: Task; readonly ofFlow: Params; readonly entry: Entry };

/** What a new job sets for its steps. */
export type Ordered = {
  readonly leaves: readonly Leaf[];
  readonly flow: FlowSettings;
  readonly definitions: LiveJob['definitions'];
  readonly written: Params;
};

/** Why a job is refused, and the step that is concerned. */
export type Breach = { readonly leaf: Leaf; readonly failure: Failure };

/**
 * Returns why a new job is refused: it, or its flow, sets a parameter that the task of a step
 * seals.
 */
export function sealedBreach(job: NewJob, ordered: Ordered): Breach | undefined {
  return breachIn(
    ordered,
    (leaf) => job.tasks === undefined || notifySource(job, leaf) !== undefined,
  );
}

/** `isDefined`: a definition says what is in the entry of a step, not the job. */
function breachIn(
  { leaves, flow, definitions, written }: Ordered,
  isDefined: (leaf: Leaf) => boolean,
): Breach | undefined {
  for (const leaf of leaves) {
    const { entry, label, name } = leaf;
    const task = namesTask(entry) ? definitions[entry.task] : undefined;
    if (task === undefined || isUnset(entry, flow.params, written)) continue;
    const isOfFlow = isDefined(leaf);
    const ofFlow = flowParams(flow, { leaf, phase: 'main' }, isOfFlow ? entry : undefined);
    const own = merge(
      isOfFlow ? undefined : entry.params,
      objectAt(written, entry.task),
      objectAt(written, label),
    );
    const changes = difference(own, merge(task.params, ofFlow));
    const why = refusal({ task, ofFlow, entry }, changes) ?? misplaced(name, changes);
    if (why !== undefined) return { leaf, failure: why };
  }
  return undefined;
}

/**
 * Returns why the parameters of a job that has begun cannot be changed in this way: a task seals
 * one of them.
 */
export function sealedChange(job: LiveJob, changed: Params): Failure | undefined {
  const { list: leaves } = leavesIn(job.tasks);
  const { flow_definition: flow, definitions } = job;
  const isDefined = (leaf: Leaf): boolean =>
    job.flow_rev !== undefined || notifySource(job, leaf) !== undefined;
  const breach = (written: Params): Failure | undefined =>
    breachIn({ leaves, flow, definitions, written }, isDefined)?.failure;
  return breach(merge(job.params)) === undefined ? breach(changed) : undefined;
}

/** Returns the failure when the flow or the job sets a parameter that the task seals. */
export function refusal({ task, ofFlow, entry }: Defined, changes: Params): Failure | undefined {
  const seal = sealOf(task);
  const beside = secretsIn(ofFlow).size > 0 ? sealOf(task, true) : seal;
  const param =
    overridden(seal, ofFlow, task.params ?? {}) ??
    Object.values(entry.stdio ?? {}).find((to) => isSealed(seal, fieldOf(to.split('.')))) ??
    overridden(beside, changes, merge(task.params, ofFlow));
  return param === undefined ? undefined : failure('ParamSealed', { param, task: task.name });
}

/** Whether nothing is set: neither by the entry of a step nor by these parameters. */
function isUnset({ params, stdio }: Entry, ...others: readonly (Params | undefined)[]): boolean {
  return [params, stdio, ...others].every((set) => Object.keys(set ?? {}).length === 0);
}

/**
 * Returns the failure for an encrypted value, or a reference, at a place where no definition has
 * one.
 */
export function misplaced(step: string, changes: Params): Failure | undefined {
  const [param] = secretsIn(changes).keys();
  return param === undefined ? undefined : failure('SecretMisplaced', { param, step });
}

/** Returns what a flow sets of the parameters of a step; `entry` when it belongs to the flow. */
export function flowParams(
  flow: Pick<FlowSettings, 'params'>,
  beginning: Beginning,
  entry: Entry | undefined,
): Params {
  const { leaf } = beginning;
  if (flow.params === undefined && entry?.params === undefined) return {};
  return merge(
    objectAt(flow.params, leaf.entry.task),
    isOwn(beginning) ? objectAt(flow.params, leaf.label) : undefined,
    entry?.params,
  );
}
