import { failure } from '../model/failures.js';
import type { Flow } from '../model/flow.js';
import { ambiguityText, chooseVersion } from '../model/flow-versions.js';
import { defaultOwner, keyOf, type Task } from '../model/task.js';
import { byOwnName } from './definition-lookup.js';

/** A definition as it was read; one that is not stored yet has no id. */
type Read<T> = T & { readonly _id?: string };
type Note = { readonly path: string; readonly message: string; readonly level: 'problem' };

/** Finds documents of one name and owner of which jobs cannot choose one. Asked of definitions that were given. */
export function createTwinNotes(all: {
  readonly tasks: readonly Read<Task>[];
  readonly flows: readonly Read<Flow>[];
}) {
  const [tasks, flows] = [byOwnName(all.tasks), byOwnName(all.flows)];
  return {
    task({ name, owner = defaultOwner }: Task): readonly Note[] {
      const same = tasks.get(keyOf(name, owner)) as readonly Read<Task>[];
      if (same.length < 2) return [];
      const ids = same.map(calledInNote).join(', ');
      const { message } = failure('TaskAmbiguous', { task: name, owner, ids });
      return [{ path: 'name', message, level: 'problem' }];
    },
    /** Several documents of a flow of which none is current: jobs that ask for no version cannot begin. */
    flow(one: Read<Flow>): readonly Note[] {
      const { name, owner } = one;
      const choice = chooseVersion(flows.get(keyOf(name, owner)) as readonly Read<Flow>[]);
      if (choice.kind !== 'ambiguous' || !choice.docs.includes(one)) return [];
      const { cause, docs } = choice;
      const why = ambiguityText(cause, docs.map(calledInNote));
      const { message } = failure('FlowAmbiguous', { flow: name, owner, why });
      const path = cause.kind === 'same_version' ? 'version' : 'current';
      return [{ path, message, level: 'problem' }];
    },
  };
}

function calledInNote({ _id }: { readonly _id?: string }): string {
  return _id ?? 'one without _id';
}
