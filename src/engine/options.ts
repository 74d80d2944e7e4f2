import type { RetryDefaults } from '../model/usual-retry.js';
import type { NotifySettings } from '../model/notify-list.js';
import type { PluginRegistry } from '../plugin/loader.js';
import type { SensitiveValues } from './attempts/open-sensitive.js';
import type { SlotPool } from './attempts/slot-pool.js';
import type { OlderFormat } from '../secrets/older-format.js';
import type { Clock } from '../clock/clock.js';
import type { Store } from '../store/store.js';
import type { DeciderParts } from './loop/decision.js';
import type { BlockWatchOptions, OnDecide } from './watch/blocking.js';
import type { Log } from './log.js';
import type { EngineMeters } from './meters.js';
import type { LinkMaker } from './attempts/open-links.js';
import type { CodePolicy } from '../plugin/code-policy.js';
import type { EgressPolicy } from '../plugin/egress.js';
import type { EngineListener } from './events/system-events.js';
import type { SystemWebhook } from './events/system-webhooks.js';

/** What an engine needs. Durations in ms. */
export type EngineOptions = {
  readonly store: Store;
  readonly plugins: PluginRegistry;
  readonly log: Log;
  /** The project's folder: where plugins look for files. */
  readonly cwd: string;
  /** As in TWS_CRYPTO_KEY: one key, or a JSON list of which the first encrypts. */
  readonly cryptoKey?: string | undefined;
  /** How values that an earlier project encrypted are read. */
  readonly olderSecrets?: OlderFormat | undefined;
  /** Starts without a key, too: the steps that need it fail, each with the reason. */
  readonly keyless?: boolean | undefined;
  /** Attempts at the same time, or the slots that the engines of this process share; default 10. */
  readonly slots?: number | SlotPool | undefined;
  readonly labels?: readonly string[] | undefined;
  /** The queues whose steps it takes; default: "default" alone. */
  readonly queues?: readonly string[] | undefined;
  /** A name that stays over restarts (`engine:<name>`); default: a new uuid. */
  readonly name?: string | undefined;
  readonly renewMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  readonly sweepMs?: number | undefined;
  /** So far ahead times are kept in memory; default: what becomes due before the sweep after the next. */
  readonly horizonMs?: number | undefined;
  /** Ends the wait for a database that does not exist yet; a running engine is ended by `stop`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each text that was decrypted, so that it can be hidden in what is reported. */
  readonly onSecret?: ((clear: string) => void) | undefined;
  /** How long running attempts may take to end when the engine stops. */
  readonly drainMs?: number | undefined;
  /** How long a plugin may take to end after its signal was aborted. */
  readonly graceMs?: number | undefined;
  /** Minimum time between two reports of a running attempt; default 5000. */
  readonly reportMs?: number | undefined;
  /** How long retries wait where neither task nor flow nor job says so; default: `usualRetry`. */
  readonly retry?: Partial<RetryDefaults> | undefined;
  /** How long events live that have no `ttl`, ms; absent or 0: until they are deleted. */
  readonly eventTtlMs?: number | undefined;
  readonly crashLimit?: number | undefined;
  /** Receives what can be measured. */
  readonly meters?: Partial<EngineMeters> | undefined;
  /** How long a document may be, bytes; default: what the server says, else CouchDB's default. */
  readonly documentLimit?: number | undefined;
  /** The address of a job's page, for notifications of its end; default: none. */
  readonly linkOf?: ((job: string) => string) | undefined;
  /** Makes links by which people answer forms; default: nothing does. */
  readonly answerLinks?: LinkMaker | undefined;
  /** Called with each call of a plugin in this process; returns what is called when it has ended. */
  readonly onCall?: BlockWatchOptions['onBegin'];
  /** Called with the job about which this process decides; a decision takes no turn of the event loop. */
  readonly onDecide?: OnDecide | undefined;
  /** Receives what happens to the engine, from its start on. */
  readonly onEvent?: EngineListener | undefined;
  /** Addresses that receive the same. */
  readonly webhooks?: readonly SystemWebhook[] | undefined;
  /** Who is notified of jobs, as `notify` of `tws.json`. */
  readonly notify?: NotifySettings | undefined;
  /** So many jobs may be made for one root job; another number only in tests. */
  readonly mostDescendants?: number | undefined;
  /** The rules that decide; other ones only in tests. */
  readonly rule?: DeciderParts['rule'] | undefined;
  /** Which addresses plugins and webhooks may reach. */
  readonly egress?: EgressPolicy | undefined;
  /** Opens sensitive values; absent: nothing does. */
  readonly sensitive?: SensitiveValues | undefined;
  /** What documents may have run of code and programs; default: nothing. */
  readonly code?: CodePolicy | undefined;
  /** By which the engine goes; default: the clock of the machine. */
  readonly clock?: Clock | undefined;
};

/** How often the scan is repeated, ms. */
export const usualSweepMs = 30_000;

/** So many attempts an engine runs at the same time. */
export const usualSlots = 10;
