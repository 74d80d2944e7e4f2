import { announce } from '../../decide/finish/notifications.js';
import type { ChildJob } from '../../decide/intent.js';
import type { World } from '../../decide/world.js';
import { keysOfWanted } from '../../decide/queries.js';
import type { FinalJob } from '../../model/job.js';
import type { StoredDocument } from '../../model/document.js';
import { notifiesOf } from '../../model/notify.js';
import { keyOf } from '../../model/task.js';
import type { Store } from '../../store/store.js';
import { findChild } from '../children/find-child.js';
import type { Library } from '../loop/library.js';
import type { LogOnce } from '../log.js';
import type { EngineMeters } from '../meters.js';
import type { Retry } from '../retry.js';

export type NotificationParts = {
  readonly store: Store;
  readonly library: Library;
  readonly retry: Retry;
  readonly documentLimit: { readonly bytes: number };
  readonly linkOf: World['linkOf'];
  readonly answerLinks: World['answerLinks'];
  readonly notifyLists: World['notifyLists'];
  readonly once: Pick<LogOnce, 'log'>;
  readonly meters?: Partial<EngineMeters> | undefined;
};

export type Notifications = {
  /** Makes the notifications of a job, before its final revision is written (N1). */
  readonly make: (makes: readonly ChildJob[] | undefined) => Promise<void>;
  /**
   * Makes those of a job that ends without a decision, because it could not be read or stored; answers
   * its final document with their names.
   */
  readonly ofEnd: (before: StoredDocument, ended: FinalJob) => Promise<FinalJob>;
};

/** The part of an engine that stores notifications. */
export function createNotifications(parts: NotificationParts): Notifications {
  const make: Notifications['make'] = async (makes = []) => {
    await Promise.all(makes.map((one) => makeOne(parts, one)));
  };
  return { make, ofEnd: (before, ended) => tellEnd(parts, before, ended, make) };
}

/** One that is there already is as good: whoever made it made the same. */
async function makeOne(
  { store, retry, documentLimit, once, meters }: NotificationParts,
  notification: ChildJob,
): Promise<void> {
  const id = notification._id;
  const stored = await retry(async () => {
    const result = await store.write(notification, documentLimit.bytes);
    if (result.kind === 'unknown') throw new Error(result.cause);
    return result;
  });
  const { event, status } = notifiesOf(notification) ?? {};
  if (stored?.kind === 'written') meters?.notification?.(event ?? status ?? 'unknown');
  if (stored?.kind === 'refused') {
    once.log('error', id, `The notification ${id} cannot be stored: ${stored.reason}`);
  }
}

async function tellEnd(
  { store, library, retry, linkOf, answerLinks, notifyLists, once }: NotificationParts,
  before: StoredDocument,
  ended: FinalJob,
  make: Notifications['make'],
): Promise<FinalJob> {
  const children = new Map<string, ReturnType<World['child']>>();
  const child: World['child'] = (id) => children.get(id) ?? { kind: 'unknown' };
  const found = new Set<string>();
  const flow: World['flow'] = (name, owner, ask) =>
    found.has(keyOf(name, owner))
      ? library.foundFlow(name, owner, ask)
      : library.flow(name, owner, ask);
  const asked = new Set<string>();
  for (;;) {
    const announced = announce(before, ended, { flow, child, linkOf, answerLinks, notifyLists });
    if (announced.kind === 'announced') {
      await make(announced.makes);
      return announced.job;
    }
    const open = keysOfWanted(announced);
    if (open.every((key) => asked.has(key))) {
      once.log('error', ended._id, `The end of job ${ended._id} is announced to nobody.`);
      return ended;
    }
    for (const key of open) asked.add(key);
    const { flows } = announced;
    // The engine ends: nothing will be written any more.
    if (
      flows.length > 0 &&
      (await retry(() => library.find('flow', flows).then(() => true))) !== true
    )
      return ended;
    for (const { name, owner } of flows) found.add(keyOf(name, owner));
    for (const id of announced.children) {
      children.set(id, await findChild(store, id, before, retry));
    }
  }
}
