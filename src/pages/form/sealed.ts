import { isWhollySealed, sealOf } from '../../model/sealing.js';
import { secretsIn } from '../../model/encrypted-values.js';
import { placesIn } from '../../reading/check.js';
import type { Flow } from '../../model/flow.js';
import { parseDocument } from '../../reading/parse.js';
import { fieldOf as pathOf } from '../../model/secret-reference.js';
import { namesTask } from '../../model/tree.js';
import type { StoredDefinition } from '../definitions/stored.js';
import { meant } from '../definitions/uses.js';
import { record } from '../editor/schema-at.js';
import type { Field, GroupField } from './fields.js';

/** Whether a job may not set a parameter: `keys` as in its `params`, a task or step first. */
export type IsSealed = (keys: readonly string[]) => boolean;

/** What the tasks of a flow seal, as far as they are known: jobs that set it are refused. */
export function sealedIn(flow: Flow | undefined, tasks: readonly StoredDefinition[]): IsSealed {
  const seals = new Map<string, ReturnType<typeof sealOf>>();
  for (const { leaf } of flow === undefined ? [] : placesIn(flow.tasks, 'tasks')) {
    const { entry, label } = leaf;
    const document = namesTask(entry) ? meant(tasks, entry.task, flow?.owner ?? '')?.document : {};
    const parsed = parseDocument({ ...document, _id: 'new', _rev: '0-0' });
    if (parsed.kind !== 'task' || !parsed.ok) continue;
    const ofFlow = record(flow?.params);
    const given = [entry.params, ofFlow[entry.task], ofFlow[label]];
    const seal = sealOf(
      parsed.value,
      given.some((one) => secretsIn(one).size > 0),
    );
    seals.set(entry.task, seal);
    seals.set(label, seal);
  }
  return ([first = '', ...rest]) => {
    const seal = seals.get(first);
    return seal !== undefined && rest.length > 0 && isWhollySealed(seal, pathOf(rest));
  };
}

/** The fields that a job may set, and the paths of the others. */
export type Offered = { readonly field: GroupField; readonly sealed: readonly string[] };

/** Leaves out of a form what a job may not set. */
export function offered(field: GroupField, isSealed: IsSealed): Offered {
  const sealed: string[] = [];
  const inGroup = (group: GroupField, above: readonly string[]): GroupField => {
    const entries = Object.entries(group.fields).flatMap(([key, inner]): [string, Field][] => {
      const keys = [...above, key];
      if (isSealed(keys)) {
        sealed.push(keys.join('.'));
        return [];
      }
      if (inner.kind !== 'group') return [[key, inner]];
      const left = inGroup(inner, keys);
      const isEmptied = Object.keys(left.fields).length === 0 && left !== inner;
      return isEmptied ? [] : [[key, left]];
    });
    const isWhole = entries.length === Object.keys(group.fields).length;
    return isWhole && entries.every(([key, inner]) => group.fields[key] === inner)
      ? group
      : { ...group, fields: Object.fromEntries(entries) };
  };
  return { field: inGroup(field, []), sealed };
}
