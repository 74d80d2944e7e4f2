import { rankAmong } from '../decide/compete/ranks.js';
import type { Clock } from '../clock/clock.js';
import { createKeyring } from '../secrets/keyring.js';
import type { Store } from '../store/store.js';
import { createNotifyLists } from './control/notify-lists.js';
import { createQueueControls } from './control/queue-controls.js';
import { createSystemEvents } from './events/system-events.js';
import { createSystemWebhooks } from './events/system-webhooks.js';
import type { Log } from './log.js';
import { createLibrary, type OnMalformed } from './loop/library.js';
import type { EngineOptions } from './options.js';
import { createPeers } from './peers/peers.js';

type OthersParts = {
  /** Of this engine. */
  readonly id: string;
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly options: EngineOptions;
  readonly feed: { readonly isBehind: () => boolean };
};

/** The other engines, the definitions, and who is told of what happens. */
export function createOthers({ id, store, log, now, clock, leaseMs, options, feed }: OthersParts) {
  const { onSecret, egress } = options;
  const events = createSystemEvents(id, { now, log });
  if (options.onEvent !== undefined) events.subscribe(options.onEvent);
  const peers = createPeers(id, leaseMs, clock.steady);
  const isReporter = (of: string): boolean => rankAmong(of, peers.alive, id) === 0;
  const onMalformed: OnMalformed = (doc, problems) => {
    // The first in its order has read it.
    if (!isReporter(doc._id)) return;
    const kind = String(doc['type']);
    events.emit({ type: 'definition.malformed', id: doc._id, kind, problems });
  };
  const library = createLibrary(store, onMalformed, () => feed.isBehind(), now);
  const telling = { store, log, isReporter };
  const queueControls = createQueueControls(telling);
  const notifyLists = createNotifyLists({ ...telling, settings: options.notify ?? [] });
  const keyring = createKeyring(options.cryptoKey, options.olderSecrets);
  const webhooks = createSystemWebhooks({
    ...{ keyring, onSecret, log, egress },
    webhooks: options.webhooks ?? [],
    database: store.connection.database,
  });
  events.subscribe(webhooks.take);
  return { events, peers, isReporter, library, queueControls, notifyLists, keyring, webhooks };
}

/** What `createOthers` gives. */
export type Others = ReturnType<typeof createOthers>;
