import type { Flow } from '../../model/flow.js';
import { notifiesOf, type Notifies } from '../../model/notify.js';
import type { Entry, Leaf } from '../../model/tree.js';
import { taskParams, webhook, webhookParams } from '../finish/notification.js';
import { isOfDecider } from '../../structures/paths.js';
import { isObject } from '../../model/object.js';

type Params = Readonly<Record<string, unknown>>;

/** The entry of a flow's `notify` that a notification was made of. */
export type NotifySource = NonNullable<Notifies['entry']>;

/**
 * Returns the entry of a flow's `notify` from which a step of a notification was made. Engines
 * record it when they make the notification, and the API accepts no `notifies`: the parameters of a
 * step prove nothing. Returns undefined for an entry of the job itself, and for what a decider
 * began.
 */
export function notifySource(
  job: Readonly<Record<string, unknown>>,
  { path }: Pick<Leaf, 'path'>,
): NotifySource | undefined {
  return isOfDecider(path) ? undefined : notifiesOf(job)?.entry;
}

/** Returns the step that a notification from an entry of `notify` runs. */
export function notifyingEntry(flow: Flow, at: number): Entry | undefined {
  const entry = notifyEntryOf(flow, at);
  if (entry === undefined) return undefined;
  if (entry['url'] !== undefined) return { task: webhook, params: webhookParams(entry) };
  const params = taskParams(entry);
  return { task: String(entry['task']), ...(params && { params }) };
}

/** Returns the entry at a position of a flow's `notify`. */
export function notifyEntryOf({ notify }: Flow, at: number): Params | undefined {
  const entry: unknown = Array.isArray(notify) ? notify[at] : undefined;
  return isObject(entry) ? entry : undefined;
}
