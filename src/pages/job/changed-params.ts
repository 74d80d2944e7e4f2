import { NotJson } from '../parts/not-json.js';
import { isObject } from '../../model/object.js';

type Params = Readonly<Record<string, unknown>>;

/** What the API shows for a secret. */
const hidden = '[secret]';

/**
 * What is different in parameters that somebody edited, and nothing else: what was not touched, or
 * left out, stays as it is in the job, secrets among it, which are not shown here. @throws NotJson with a sentence
 */
export function changedParams(before: Params, after: unknown): Params {
  if (after === undefined) return {};
  if (!isObject(after)) throw new NotJson('The parameters must be an object: {"STEP": {…}}.');
  return changesIn(before, after, '');
}

function changesIn(before: Params, after: Params, path: string): Params {
  const changes = Object.entries(after).flatMap(([key, value]) => {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isObject(value) && isObject(old)) {
      const inner = changesIn(old, value, `${path}${key}.`);
      return Object.keys(inner).length === 0 ? [] : [[key, inner]];
    }
    if (JSON.stringify(value) === JSON.stringify(old)) return [];
    if (JSON.stringify(value).includes(hidden)) {
      throw new NotJson(`"${path}${key}" holds a secret that is not shown: write all of it anew.`);
    }
    return [[key, value]];
  });
  return Object.fromEntries(changes) as Params;
}
