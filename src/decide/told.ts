import { secretsIn } from '../model/encrypted-values.js';
import type { Flow } from '../model/flow.js';
import { notifiesOf } from '../model/notify.js';
import { keysOf, readReference } from '../model/secret-reference.js';
import type { Entry } from '../model/tree.js';
import { webhook } from './notification.js';
import { isPlain } from './record.js';

type Params = Readonly<Record<string, unknown>>;

/** The entry of a flow's `notify` that a notification was made of. */
export type ToldEntry = { readonly name: string; readonly owner: string; readonly at: number };

/** Where the entry stands that a step of a notification was made of; only when it has a secret. */
export function toldEntry(
  job: Readonly<Record<string, unknown>>,
  { params }: Pick<Entry, 'params'>,
): ToldEntry | undefined {
  if (notifiesOf(job) === undefined) return undefined;
  const [text] = secretsIn(params).values();
  const reference = readReference(text);
  const [first, at] = keysOf(reference?.field ?? '');
  if (reference?.kind !== 'flow' || first !== 'notify') return undefined;
  return { name: reference.name, owner: reference.owner, at: Number(at) };
}

/** What a notification runs that is made of an entry of `notify`. */
export function entryTold(flow: Flow, at: number): Entry | undefined {
  const told = entryOf(flow, at);
  if (told === undefined) return undefined;
  const { url, headers, secret, body, task, params } = told;
  if (url === undefined) return { task: String(task), ...(isPlain(params) ? { params } : {}) };
  const given = Object.entries({ url, headers, secret, body });
  return {
    task: webhook,
    params: Object.fromEntries(given.filter(([, one]) => one !== undefined)),
  };
}

/** The entry at a position of a flow's `notify`. */
export function entryOf({ notify }: Flow, at: number): Params | undefined {
  const entry: unknown = Array.isArray(notify) ? notify[at] : undefined;
  return isPlain(entry) ? entry : undefined;
}
