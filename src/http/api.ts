import type { ArchivesToRead, Client, Pulse, ServerReport } from '../client.js';
import type { Log } from '../log.js';
import type { PluginRegistry } from '../plugin/loader.js';
import type { Vault } from '../sensitive/vault.js';
import type { Cache } from './access/cache.js';
import type { Identify } from './access/identify.js';
import type { AnswerLinks } from '../model/answer-link.js';
import type { LinkRefusals } from './access/link-refusals.js';
import type { HookRefusals } from './plumbing/hook-refusals.js';
import type { JobHub } from './feed/hub.js';
import type { StoredDocument } from '../model/document.js';
import type { Hook } from '../model/hook.js';
import type { NotifySettings } from '../model/notify-list.js';
import type { OpenApi } from './reference/openapi.js';

/** Renders the metrics of this process; `refresh` is awaited before. */
export type MetricsPort = {
  readonly contentType: string;
  readonly render: () => Promise<string>;
};

/** One thing that has to be well for this process to do its work. `says` is a sentence. */
export type Check = { readonly what: string; readonly ok: boolean; readonly says: string };

/** Returns the secrets of a hook in clear, of its document as it is stored. */
export type OpenHook = (doc: StoredDocument, hook: Hook) => Promise<readonly string[]>;

/** What the routes work with. */
export type Api = {
  readonly client: Client;
  readonly hub: JobHub;
  /** Tells living engines from dead ones. */
  readonly pulse: Pulse;
  readonly identify: Identify;
  readonly log: Log;
  readonly version: string;
  /** Where archived jobs are looked for. */
  readonly archives: ArchivesToRead;
  /** `notify` of `tws.json`. */
  readonly notify?: NotifySettings | undefined;
  /** The name of the folder that is served. */
  readonly project: string;
  /** How far one gets with the database. */
  readonly inspect: () => Promise<ServerReport>;
  /** What was found not long ago: everybody may ask, and need not have the database asked each time. */
  readonly checks: Cache<readonly Check[]>;
  /** The engine of this process, when there is one: whether it works. */
  readonly engine?: { readonly id: string; readonly isRunning: () => boolean } | undefined;
  readonly metrics?: MetricsPort | undefined;
  /** Plugins of this process, to check parameters with. */
  readonly plugins?: Pick<PluginRegistry, 'get'> | undefined;
  /** Values about people; absent: there are none. */
  readonly sensitive?: Vault | undefined;
  /** Throws where the clock of this process is not to be trusted; absent: it is. */
  readonly checkClock?: (() => Promise<void>) | undefined;
  /** The secrets of a hook in clear. Rejects with a TwsError where one cannot be decrypted. */
  readonly openHook: OpenHook;
  /** Counts deliveries to hooks that are refused. */
  readonly refusals: HookRefusals;
  readonly reference: () => OpenApi;
  /** Cookies go over HTTPS only. */
  readonly secure: boolean;
  /** Counts an attempt to sign in from an address: the seconds to wait when there were too many. */
  readonly trySignIn: (address: string) => number | undefined;
  /** Proves links by which people answer forms; absent: there are none. */
  readonly answerLinks?: AnswerLinks | undefined;
  readonly linkRefusals: LinkRefusals;
  /** Epoch ms. */
  readonly now: () => number;
  /** How often streams give a sign of life, ms. */
  readonly heartbeatMs: number;
  /** Streams that may be open at the same time, and how many are, by whom. */
  /** Owners whose jobs may run code in the sandbox; `*`: all. */
  readonly scriptOwners: readonly string[];
  /** Jobs say what their workers are told, for tests of conformance. */
  readonly testDirectives: boolean;
  readonly streams: { readonly most: number; readonly open: Map<string, number> };
  /** Requests that may wait at the same time, and how many do. */
  readonly waits: { readonly most: number; open: number };
};
