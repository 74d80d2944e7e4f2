import type { Query } from '../../decide/queries.js';
import type { DefinitionsKnown } from '../../decide/versions/take-over.js';
import { createSchemaChecks } from '../../evaluate/schema-checks.js';
import { keyOf } from '../../model/task.js';
import type { Library } from '../loop/library.js';
import type { Retry } from '../retry.js';

type Parts = {
  readonly library: Pick<Library, 'find' | 'foundFlow' | 'foundTask'>;
  readonly retry: Retry;
};

/**
 * Judges something by definitions as they are stored now. The store is asked for each: whoever asks that a job moves
 * has perhaps stored them a moment ago, and the feed may bring the request first.
 */
export async function judgeByStored<T extends { readonly kind: string }>(
  { library, retry }: Parts,
  judge: (known: DefinitionsKnown) => T | Query,
): Promise<Exclude<T, Query>> {
  const flows = new Set<string>();
  const tasks = new Set<string>();
  const schemas = createSchemaChecks();
  const known: DefinitionsKnown = {
    flow: (name, owner, ask) =>
      flows.has(keyOf(name, owner))
        ? library.foundFlow(name, owner, ask)
        : ({ kind: 'unknown' } as const),
    task: (name, owner) =>
      tasks.has(keyOf(name, owner))
        ? library.foundTask(name, owner)
        : ({ kind: 'unknown' } as const),
    schema: schemas.read,
  };
  for (;;) {
    const judged = judge(known);
    if (schemas.isOpen()) {
      await schemas.settle();
    } else if (isQuery(judged)) {
      if (judged.flows.length > 0) await retry(() => library.find('flow', judged.flows));
      if (judged.tasks.length > 0) await retry(() => library.find('task', judged.tasks));
      for (const { name, owner } of judged.flows) flows.add(keyOf(name, owner));
      for (const { name, owner } of judged.tasks) tasks.add(keyOf(name, owner));
    } else {
      return judged as Exclude<T, Query>;
    }
  }
}

function isQuery(judged: { readonly kind: string }): judged is Query {
  return judged.kind === 'look_up';
}
