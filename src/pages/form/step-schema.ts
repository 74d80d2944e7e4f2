import { placesIn } from '../../reading/check.js';
import type { Flow } from '../../model/flow.js';
import { namesTask } from '../../model/tree.js';
import type { StoredDefinition } from '../definitions/stored.js';
import { meant } from '../definitions/uses.js';
import { record } from '../editor/schema-at.js';
import type { JsonSchema } from '../../model/scalars.js';
import { sealedIn } from './sealed.js';

/**
 * What parameters a job for a flow without a schema may have: those of each step, by its name or that of
 * its task, with the keys that the task has already and does not seal.
 */
export function stepParamsSchema(flow: Flow, tasks: readonly StoredDefinition[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const isSealed = sealedIn(flow, tasks);
  for (const { leaf } of placesIn(flow.tasks, 'tasks')) {
    const { entry, label } = leaf;
    if (!namesTask(entry)) continue;
    const known = meant(tasks, entry.task, flow.owner)?.document ?? {};
    const given = { ...record(known['params']), ...record(entry.params) };
    const sealed = Object.keys(given).filter((key) => isSealed([label, key]));
    const note = sealed.length === 0 ? '' : ` Set by the task alone: ${sealed.join(', ')}.`;
    const keys = Object.entries(given)
      .filter(([key]) => !sealed.includes(key))
      .map(([key, value]) => [key, schemaLike(value)]);
    const own = { type: 'object', properties: Object.fromEntries(keys) as JsonSchema };
    properties[entry.task] ??= { ...own, description: `All steps of task ${entry.task}.${note}` };
    properties[label] ??= { ...own, description: `The step ${label} alone.${note}` };
  }
  return { type: 'object', properties };
}

function schemaLike(value: unknown): JsonSchema {
  if (Array.isArray(value)) return { type: 'array' };
  if (value === null) return {};
  const type = typeof value;
  return type === 'object' || type === 'number' || type === 'boolean' || type === 'string'
    ? { type }
    : {};
}
