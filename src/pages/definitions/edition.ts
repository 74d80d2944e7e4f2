import { isObject } from '../../model/object.js';
import { ownerOf } from '../../model/task.js';
import { parseDocument } from '../../reading/parse.js';
import type { AnyDocument } from '../answers.js';
import { differences, type Difference } from './merge.js';
import { editedContent, type StoredDefinition } from './stored.js';
import { meant } from './uses.js';

/** What a job runs, beside what is stored now. */
export type Edition = {
  /** Its flow and tasks that were changed since, and how. */
  readonly changed: readonly {
    readonly definition: StoredDefinition;
    readonly changes: readonly Difference[];
  }[];
  /** Names of its flow and tasks that are not stored any more. */
  readonly gone: readonly string[];
};

type Stored = {
  readonly flows: readonly StoredDefinition[];
  readonly tasks: readonly StoredDefinition[];
};

/**
 * Compares what a job runs with the flow and the tasks that its names mean now. Undefined: it has not
 * begun, so it will run what is stored then.
 */
export function editionOf(job: AnyDocument, { flows, tasks }: Stored): Edition | undefined {
  const { flow_definition: settings, flow_rev: rev, definitions } = job;
  if (!isObject(settings)) return undefined;
  const owner = ownerOf(job);
  // A job with a structure of its own has no flow in the database.
  const flow =
    typeof rev === 'string'
      ? [
          {
            name: String(settings['name']),
            rev,
            all: flows,
            content: { ...settings, tasks: job['tasks'] },
          },
        ]
      : [];
  const used = Object.entries(isObject(definitions) ? definitions : {}).flatMap(
    ([name, content]) =>
      isObject(content) ? [{ name, rev: content['_rev'], all: tasks, content }] : [],
  );
  const compared = [...flow, ...used].map(({ name, rev: ran, all, content }) => {
    const definition = meant(all, name, owner);
    if (definition === undefined) return { gone: [name], changed: [] };
    if (definition.rev === ran) return { gone: [], changed: [] };
    const changes = differences(withoutStore(content), asRun(definition));
    return { gone: [], changed: changes.length === 0 ? [] : [{ definition, changes }] };
  });
  return {
    changed: compared.flatMap(({ changed }) => changed),
    gone: compared.flatMap(({ gone }) => gone),
  };
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

type Listed = { readonly id: string; readonly flow_rev?: string };

/** Brings live jobs together by the edition that they run; those of the stored one are left out. */
export function otherEditions(jobs: readonly Listed[], stored: string): readonly OtherEdition[] {
  const revs = new Set(jobs.flatMap(({ flow_rev: rev }) => rev ?? []));
  revs.delete(stored);
  return [...revs].map((rev) => ({
    rev,
    jobs: jobs.filter(({ flow_rev: ran }) => ran === rev).map(({ id }) => id),
  }));
}
