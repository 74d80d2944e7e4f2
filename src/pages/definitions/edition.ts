import { leftToParent } from '../../model/flow.js';
import { isObject } from '../../model/object.js';
import { isReference } from '../../model/secret-reference.js';
import { ownerOf } from '../../model/task.js';
import { parseDocument } from '../../reading/parse.js';
import type { AnyDocument, Summary } from '../answers.js';
import { differences, type Difference } from '../../model/three-way.js';
import { editedContent, type DefinitionLists, type StoredDefinition } from './stored.js';
import { meant } from './uses.js';

/** What a job runs, beside what is stored now. */
export type Edition = {
  /** Its flow and tasks that have changed since, and how. */
  readonly changed: readonly {
    readonly definition: StoredDefinition;
    readonly changes: readonly Difference[];
  }[];
  /** Names of its flow and tasks that are not stored any more. */
  readonly gone: readonly string[];
};

/**
 * Compares what a job runs with the flow and the tasks that its names mean now. Undefined: it has not
 * begun.
 */
export function editionOf(job: AnyDocument, stored: DefinitionLists): Edition | undefined {
  const { flow_definition: settings, flow_rev: rev, definitions } = job;
  if (!isObject(settings)) return undefined;
  const name = String(settings['name']);
  const { tasks } = job;
  const flow: readonly Ran[] =
    // A job with a structure of its own has no flow in the database.
    typeof rev === 'string'
      ? [{ name, rev, all: stored.flows, content: { ...settings, tasks } }]
      : [];
  const used = Object.entries(isObject(definitions) ? definitions : {}).flatMap(
    ([task, content]): readonly Ran[] =>
      isObject(content) ? [{ name: task, rev: content['_rev'], all: stored.tasks, content }] : [],
  );
  const ignored: readonly string[] = isObject(job['slice']) ? leftToParent : [];
  const compared = [...flow, ...used].map((ran) => compare(ran, ownerOf(job), ignored));
  return {
    changed: compared.flatMap(({ changed }) => changed),
    gone: compared.flatMap(({ gone }) => gone),
  };
}

/** What a job runs of one definition, and where to look for what is stored of it now. */
type Ran = {
  readonly name: string;
  readonly rev: unknown;
  readonly all: readonly StoredDefinition[];
  readonly content: Readonly<Record<string, unknown>>;
};

function compare(
  { name, rev, all, content }: Ran,
  owner: string,
  ignored: readonly string[],
): Edition {
  const definition = meant(all, name, owner);
  if (definition === undefined) return { gone: [name], changed: [] };
  if (definition.rev === rev) return { gone: [], changed: [] };
  const changes = differences(withoutStore(content), asRun(definition)).filter(
    ({ path, before, after }) =>
      !ignored.some((key) => path === key || path.startsWith(`${key}.`)) &&
      // A job refers to a secret, which nobody sees in the definition.
      !(isReference(before) && typeof after === 'string'),
  );
  return { gone: [], changed: changes.length === 0 ? [] : [{ definition, changes }] };
}

/** A definition as jobs take it over: shorthands are written out. */
function asRun(definition: StoredDefinition): Readonly<Record<string, unknown>> {
  const parsed = parseDocument({ ...definition.document, _id: 'new', _rev: '0-0' });
  const isRead = (parsed.kind === 'flow' || parsed.kind === 'task') && parsed.ok;
  return isRead ? withoutStore({ ...parsed.value }) : editedContent(definition);
}

function withoutStore(
  content: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(content).filter(([key]) => !key.startsWith('_')));
}

/** Live jobs of a flow that run another edition than the one that is stored. */
export type OtherEdition = {
  readonly rev: string;
  /** Ids of the jobs, as they were listed. */
  readonly jobs: readonly string[];
};

/**
 * Brings live jobs of a flow together by the edition that they run. Left out are those of the stored one,
 * and those that mean another flow by its name: that of their owner.
 */
export function otherEditions(
  jobs: readonly Pick<Summary, 'id' | 'owner' | 'flow_rev'>[],
  flow: StoredDefinition,
  flows: readonly StoredDefinition[],
): readonly OtherEdition[] {
  const own = jobs.filter(({ owner }) => meant(flows, flow.name, owner)?.id === flow.id);
  const revs = new Set(own.flatMap(({ flow_rev: rev }) => rev ?? []));
  revs.delete(flow.rev);
  return [...revs].map((rev) => ({
    rev,
    jobs: own.filter(({ flow_rev: ran }) => ran === rev).map(({ id }) => id),
  }));
}
