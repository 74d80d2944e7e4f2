import { secretsIn } from '../../model/encrypted-values.js';
import { failure } from '../../model/failures.js';
import type { LiveJob } from '../../model/job.js';
import { isReference, keysOf } from '../../model/secret-reference.js';
import { mayAskSensitive, sealOf, withSealed } from '../../model/sealing.js';
import { exits, isOfFlow, type Failure } from '../../model/step.js';
import { defaultOwner, pluginOf, type Task } from '../../model/task.js';
import { isStructure, type Entry } from '../../model/tree.js';
import type { VersionAsk } from '../../model/flow-versions.js';
import { branchesOf, handlerOf, type Flow } from '../../model/flow.js';
import { lookUp, type Query } from '../queries.js';
import type { Found, World } from '../world.js';
import { nodeAt } from '../../reading/entries.js';
import { webhook } from '../finish/notification.js';
import { difference, writtenParams } from './params.js';
import { deciderOf, isOfDecider } from '../../structures/paths.js';
import type { Unbegun } from './prepare.js';
import { merge } from '../../model/record.js';
import { flowParams, misplaced, refusal, type Defined } from './sealed.js';
import { notifyEntryOf, notifyingEntry, notifySource } from './notify-entries.js';
import type { Beginning } from '../../structures/progress.js';

/**
 * The parameters of a step that has secrets.
 *
 * K1 A job knows a secret only by a reference (`model/secret-reference.ts`). A reference counts only
 *    where the task or flow that is stored now has an encrypted value, for the task that the step
 *    runs and the plugin of that task; anywhere else it is a text.
 * K2 Beside a secret the parameters come from the stored definitions, not from the job's snapshot,
 *    but for those that the task leaves open: who can write a job, or forge its snapshot, can neither
 *    move a secret nor exchange what it is sent to. A task that lists sensitive values has a secret, even if no
 *    parameter names one: its plugin may ask for them, and the attempt says which the stored task lists.
 * K3 What is sealed is refused when a job begins (`sealedBreach`), and again when the step does: people
 *    may have edited the job meanwhile.
 */

type Params = Readonly<Record<string, unknown>>;

/**
 * Parameters to fill in; `secrets`: the fields among them that hold a reference that counts; `sensitive`: the values that
 * the plugin may ask for.
 */
export type Given =
  | {
      readonly ok: true;
      readonly beginning: Beginning;
      readonly params: Params;
      readonly secrets: readonly string[];
      readonly sensitive: readonly string[];
    }
  | { readonly ok: false; readonly unbegun: Unbegun }
  | { readonly ok: false; readonly unknown: Query };

/** Returns the parameters of a step before templates are rendered, or why it cannot have them. */
export function givenParams(
  job: LiveJob,
  beginning: Beginning,
  definition: Task,
  world: World,
): Given {
  const { leaf } = beginning;
  const params = writtenParams(job, beginning);
  const defined = ofSnapshot(job, beginning, definition);
  const base = merge(definition.params, defined.ofFlow);
  const changes = difference(params, base);
  const wrong = refusal(defined, changes) ?? misplaced(leaf.name, changes);
  if (wrong !== undefined) return refused(wrong);
  const [field] = secretsIn(base).keys();
  const mayAsk = definition.flow === undefined && mayAskSensitive(definition);
  if (field === undefined && !mayAsk) {
    // What somebody has taken out of the job stays as its definition says.
    const sealed = withSealed(sealOf(definition), params, base);
    return { ok: true, beginning, params: sealed, secrets: [], sensitive: [] };
  }
  if (field !== undefined && definition.flow !== undefined) {
    return refused(
      failure('SecretForChild', { param: field, step: leaf.name, flow: definition.flow }),
    );
  }
  const stored = storedNow(job, beginning, defined, world);
  if (stored.kind === 'look_up') return { ok: false, unknown: stored };
  const gone = (param: string): Given =>
    refused(failure('SecretGone', { param, step: leaf.name, task: leaf.entry.task }));
  if (stored.kind === 'gone')
    return field === undefined ? taskGone(beginning, defined) : gone(field);
  return fromStored(stored.defined, { beginning, defined, base, changes, gone });
}

/** Nothing that is stored says any more which sensitive values the plugin may ask for. */
function taskGone({ leaf: { path, entry } }: Beginning, { task: { owner } }: Defined): Given {
  const at = `step ${path}`;
  return refused(failure('TaskMissing', { task: entry.task, owner: owner ?? defaultOwner, at }));
}

type Known = {
  readonly beginning: Beginning;
  readonly defined: Defined;
  readonly base: Params;
  readonly changes: Params;
  readonly gone: (param: string) => Given;
};

function fromStored(stored: Defined, { beginning, defined, base, changes, gone }: Known): Given {
  const [now, before] = [pluginOf(stored.task), pluginOf(defined.task)];
  if (now !== before) {
    return refused(failure('SecretPlugin', { task: stored.task.name, now, before }));
  }
  const wrong = refusal(stored, changes);
  if (wrong !== undefined) return refused(wrong);
  const fresh = merge(stored.task.params, stored.ofFlow);
  const there = secretsIn(fresh);
  const lost = [...secretsIn(base).keys()].find((field) => !there.has(field));
  if (lost !== undefined) return gone(lost);
  const params = merge(fresh, changes);
  const secrets = [...there].flatMap(([field, text]) =>
    valueIn(params, field) === text ? [field] : [],
  );
  const leaf = { ...beginning.leaf, entry: stored.entry };
  const { sensitive = [] } = stored.task;
  return { ok: true, beginning: { ...beginning, leaf }, params, secrets, sensitive };
}

/**
 * Returns the secrets of an attempt whose parameters are rendered: those that nothing has replaced.
 * Refuses a template that renders to a reference: a secret is not handed on.
 */
export function secretsOf(
  { params, secrets, beginning }: Extract<Given, { ok: true }>,
  filled: Params,
): { readonly secrets: readonly string[] } | Unbegun {
  if (secrets.length === 0 && filled === params) return { secrets };
  const kept = secrets.filter((field) => valueIn(filled, field) === valueIn(params, field));
  const stray = [...secretsIn(filled)].find(
    ([field, text]) =>
      isReference(text) && !kept.includes(field) && typeof valueIn(params, field) === 'string',
  );
  if (stray === undefined) return { secrets: kept };
  const why = failure('SecretMisplaced', { param: stray[0], step: beginning.leaf.name });
  return { failure: why, exit: exits.definition };
}

function refused(why: Failure): Given {
  return { ok: false, unbegun: { failure: why, exit: exits.definition } };
}

/** What the snapshot in the job says; a structure of the job's own, and a decider, are no definitions. */
function ofSnapshot(job: LiveJob, beginning: Beginning, task: Task): Defined {
  const { entry, path } = beginning.leaf;
  const isDefined =
    (job.flow_rev !== undefined && !isOfDecider(path)) ||
    notifySource(job, beginning.leaf) !== undefined;
  return {
    task,
    entry,
    ofFlow: flowParams(job.flow_definition, beginning, isDefined ? entry : undefined),
  };
}

type Stored =
  { readonly kind: 'known'; readonly defined: Defined } | { readonly kind: 'gone' } | Query;

const nowhere = { kind: 'gone' } as const;

/** The same by the documents that are stored now: of the job's owner, or of DEFAULT. */
function storedNow(job: LiveJob, beginning: Beginning, defined: Defined, world: World): Stored {
  const { entry } = beginning.leaf;
  const around = flowNow(job, beginning, defined, world);
  if (around.kind !== 'around') return around;
  const { ofFlow, entry: now, webhook: isWebhook } = around;
  if (isWebhook) return { kind: 'known', defined: { task: webhookTask, ofFlow, entry: now } };
  const owner = defined.task.owner ?? defaultOwner;
  const task = mine(job, owner, (one) => world.task(entry.task, one));
  if (task.kind === 'unknown') return lookUp({ tasks: [{ name: entry.task, owner }] });
  if (task.kind !== 'found') return nowhere;
  return { kind: 'known', defined: { task: task.value, ofFlow, entry: now } };
}

/** A webhook of a flow's `notify` needs no task document. */
const webhookTask: Task = { type: 'task', name: webhook };

type Around =
  | {
      readonly kind: 'around';
      readonly ofFlow: Params;
      readonly entry: Entry;
      readonly webhook: boolean;
    }
  | { readonly kind: 'gone' }
  | Query;

/** What the flow that is stored now says; where its snapshot says nothing secret, that one will do. */
function flowNow(job: LiveJob, beginning: Beginning, { ofFlow }: Defined, world: World): Around {
  const { entry } = beginning.leaf;
  if (secretsIn(ofFlow).size === 0) return { kind: 'around', ofFlow, entry, webhook: false };
  const source = notifySource(job, beginning.leaf);
  const { flow: name, owner, version } = source ?? flowNamed(job);
  const ask: VersionAsk = { version, orCurrent: true };
  const flow = mine(job, owner, (one) => world.flow(name, one, ask));
  if (flow.kind === 'unknown') return lookUp({ flows: [{ name, owner }] });
  if (flow.kind !== 'found') return nowhere;
  const now =
    source === undefined ? entryNow(flow.value, beginning) : notifyingEntry(flow.value, source.at);
  if (now?.task !== entry.task) return nowhere;
  const params = source === undefined ? flowParams(flow.value, beginning, now) : merge(now.params);
  const isWebhook =
    source !== undefined && notifyEntryOf(flow.value, source.at)?.['url'] !== undefined;
  return { kind: 'around', ofFlow: params, entry: now, webhook: isWebhook };
}

function flowNamed({ flow_definition: { name, owner, version } }: LiveJob) {
  return { flow: name, owner, version };
}

/** A definition, if it is of the owner that is named, and that is the job's or DEFAULT. */
function mine<T extends { readonly owner?: string }>(
  job: LiveJob,
  owner: string,
  find: (owner: string) => Found<T>,
): Found<T> {
  if (owner !== job.owner && owner !== defaultOwner) return { kind: 'absent' };
  const found = find(owner);
  return found.kind === 'found' && (found.value.owner ?? defaultOwner) !== owner
    ? { kind: 'absent' }
    : found;
}

/** The entry of a flow as it is stored now at the place of a step. */
function entryNow(flow: Flow, { leaf, phase }: Beginning): Entry | undefined {
  const { path, entry } = leaf;
  const decider = deciderOf(path);
  if (decider !== undefined) {
    // What a decider begins has no entry: it gets what the flow says for its task.
    const isThere = entryAt(nodeAt(flow.tasks, decider))?.decider !== undefined;
    const { params: _params, ...own } = entry;
    return isThere ? own : undefined;
  }
  if (isOfFlow(phase)) return entryAt(nodeAt(flow.tasks, path));
  const branch = branchesOf(flow).find(({ root }) => root === phase);
  if (branch !== undefined) return entryAt(nodeAt(branch.tree, path, branch.root));
  const handler = handlerOf(flow);
  const own = handler?.name === entry.task ? handler.params : undefined;
  return { task: entry.task, ...(own === undefined ? {} : { params: own }) };
}

function entryAt(node: ReturnType<typeof nodeAt>): Entry | undefined {
  return node === undefined || isStructure(node) ? undefined : node;
}

function valueIn(params: Params, field: string): unknown {
  return keysOf(field).reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Params)[key]
        : undefined,
    params,
  );
}
