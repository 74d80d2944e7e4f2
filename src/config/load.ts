import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { problem } from '../errors.js';
import { noCode, type CodePolicy } from '../plugin/code-policy.js';
import type { EgressPolicy } from '../plugin/egress.js';
import type { NotifySettings } from '../model/notify-list.js';
import type { RetryDefaults } from '../model/usual-retry.js';
import type { Retain } from '../model/retain.js';
import type { OlderFormat } from '../secrets/older-format.js';
import { addressIn, isReachable, type HttpSettings } from './http.js';
import { loginOf, splitUrl } from './credentials.js';
import { runningDev } from './dev.js';
import { filled, type Environment } from './environment.js';
import { readSettings, type SettingsFile } from './file.js';
import type { Flags } from './flags.js';
import { pluginFolders } from './plugin-folders.js';
import { said, type Said, type Sources } from './read.js';
import { showSettings, type Shown } from './show.js';
import { settings, variables, type SettingName } from './table.js';
import type { LogLevel } from './values.js';

/** All settings of one command or process. */
export type Config = {
  /** The folder of `tws.json`, else the current folder. */
  readonly root: string;
  /** Name of the project. */
  readonly project: string;
  /** Path of `tws.json`, when there is one. */
  readonly file?: string;
  /** Server URL without credentials and without a slash at its end. */
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
  readonly database: string;
  readonly app: string;
  readonly owner: string;
  /** Absolute folders of the project's plugins, those of npm packages among them. */
  readonly plugins: readonly string[];
  readonly slots?: number;
  readonly labels: readonly string[];
  /** The queues that the engines of this project serve. */
  readonly queues: readonly string[];
  /** After so many ms without a sign an engine is dead; it renews its lease three times as often. */
  readonly leaseMs?: number;
  /** How long retries wait where neither task nor flow nor job says so. */
  readonly retry: Partial<RetryDefaults>;
  /** How long events live that have no `ttl`, ms; absent or 0: until they are deleted. */
  readonly eventTtlMs?: number;
  /** So many ms running steps may take to end when an engine stops. */
  readonly drainMs?: number;
  /** Which ended jobs stay where their flow does not say so. */
  readonly retain?: Retain;
  /** How long sensitive values of subjects stay that have no `retain`, ms; absent or 0: for ever. */
  readonly sensitiveRetainMs?: number;
  /** Who is notified of jobs, whatever their flows say. */
  readonly notify: NotifySettings;
  /** How values that an earlier project encrypted are read. */
  readonly olderSecrets?: OlderFormat;
  /** Addresses that are told events of the engines; their secrets may be encrypted. */
  readonly webhooks: readonly NonNullable<SettingsFile['webhooks']>[number][];
  readonly logLevel: LogLevel;
  readonly cryptoKey?: string;
  readonly embedded: {
    readonly dir: string;
    readonly port: number;
    /** Whether somebody said which port; another one does not do then. */
    readonly isPortChosen: boolean;
    /** What new databases are kept in. */
    readonly storage: NonNullable<NonNullable<SettingsFile['embedded']>['storage']>;
  };
  /** Which addresses the shipped plugins and webhooks may reach. */
  readonly egress: EgressPolicy;
  /** What documents may have run of code and programs. */
  readonly code: CodePolicy;
  /** Settings of the HTTP API. */
  readonly http: HttpSettings;
  /** The source of each setting, by its name in the table. */
  readonly origins: Readonly<Record<string, string>>;
  /** What `tws config` shows: each setting by its name in the table, without credentials. */
  readonly shown: Readonly<Record<string, Shown>>;
};

type Place = { readonly flags: Flags; readonly env: Environment; readonly cwd: string };

/**
 * Reads every setting: flags over environment over `tws.json` (looked for in `cwd` and above) over
 * a running `tws dev` of the project over defaults. The result is frozen.
 * @throws TwsError `settings_file_invalid`, `setting_invalid`
 */
export function loadConfig({ flags, env, cwd }: Place): Config {
  const path = findUp(cwd, 'tws.json');
  const root = path === undefined ? cwd : dirname(path);
  const file = path === undefined ? {} : readSettings(path);
  const sources = { flags, env, file };
  const dir = absolute(root, said('embedded.dir', sources), settings['embedded.dir'].usual);
  const port = said('embedded.port', sources).value;
  const server = findServer(sources, { root, dir: dir.value });
  const plugins = said('plugins', sources);
  const folders = [plugins.value ?? settings.plugins.usual].flat();
  const http = { ...file.http, ...addressIn(sources) };
  const config = {
    root,
    project: server.project,
    ...(path === undefined ? {} : { file: path }),
    url: server.url.value,
    ...server.login,
    database: server.database.value,
    app: server.app.value,
    owner: said('owner', sources).value ?? settings.owner.usual,
    plugins: pluginFolders(root, folders, plugins.origin),
    ...forEngines(sources),
    egress: egressOf(file.egress, http, env),
    code: { ...noCode, ...file.code },
    http,
    embedded: {
      dir: dir.value,
      port: port ?? settings['embedded.port'].usual,
      isPortChosen: port !== undefined,
      storage: said('embedded.storage', sources).value ?? settings['embedded.storage'].usual,
    },
  };
  const known = {
    ...server.said,
    plugins: { ...plugins, value: config.plugins },
    'embedded.dir': dir,
  };
  return deepFreeze({ ...config, ...showSettings(sources, known) });
}

/** What engines are started with; what is absent they know by themselves. */
function forEngines(sources: Sources) {
  const value = <N extends SettingName>(name: N) => said(name, sources).value;
  return defined({
    slots: value('slots'),
    labels: value('labels') ?? settings.labels.usual,
    queues: value('queues') ?? settings.queues.usual,
    leaseMs: value('lease'),
    retry: defined({
      delay: value('retry_delay'),
      factor: value('retry_factor'),
      max: value('retry_max'),
    }),
    eventTtlMs: value('event_ttl'),
    drainMs: value('drain'),
    retain: value('retain'),
    sensitiveRetainMs: value('sensitive_retain'),
    notify: value('notify') ?? settings.notify.usual,
    olderSecrets: value('secrets.older'),
    webhooks: value('webhooks') ?? settings.webhooks.usual,
    logLevel: value('log_level') ?? settings.log_level.usual,
    cryptoKey: filled(sources.env[variables.crypto_key.variable]),
  });
}

/**
 * `TWS_EXPOSED=1` says that the API of the project can be reached from other machines where it runs
 * elsewhere.
 */
function egressOf(
  { allow = [], deny = [] }: NonNullable<SettingsFile['egress']> = {},
  http: HttpSettings,
  env: Environment,
): EgressPolicy {
  return { allow, deny, exposed: isReachable(http) || env[variables.exposed.variable] === '1' };
}

/** Which server, database and names: what is said, else what a running `tws dev` says. */
function findServer(sources: Sources, { root, dir }: { root: string; dir: string }) {
  const url = said('url', sources);
  const dev = url.value === undefined ? runningDev(dir) : undefined;
  const devOrigin = join(basename(dir), 'embedded.json');
  const known = (one: Said<string>, fromDev: string | undefined, usual: string): Known => {
    if (one.value !== undefined) return { value: one.value, origin: one.origin };
    return fromDev === undefined
      ? { value: usual, origin: 'default' }
      : { value: fromDev, origin: devOrigin };
  };
  const server = splitUrl(known(url, dev?.url, settings.url.usual));
  const project = projectName(sources.file.project ?? basename(root));
  const database = known(said('database', sources), dev?.database, `${project}_tasks`);
  checkDatabase(database);
  const app = known(said('app', sources), dev?.app, settings.app.usual);
  const { values: login, origin } = loginOf({ ...sources, server, dev, devOrigin });
  const own = { value: server.url, origin: server.origin };
  const user = { value: login.user, origin };
  const pass = { value: login.password, origin };
  return { url: own, project, database, app, login, said: { url: own, user, pass, database, app } };
}

type Known = { readonly value: string; readonly origin: string };

function absolute(root: string, { value, origin }: Said<string>, usual: string): Known {
  return { value: resolve(root, value ?? usual), origin };
}

/** A name CouchDB takes: lower case, beginning with a letter. */
function projectName(name: string): string {
  const kept = name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[^a-z]+/, '');
  return kept === '' ? 'tws' : kept;
}

function checkDatabase({ value, origin }: Known): void {
  if (/^[a-z][a-z0-9_$()+/-]*$/.test(value)) return;
  const reason = `"${value}" must begin with a small letter and hold only a-z, 0-9 and _ $ ( ) + - /.`;
  throw problem('setting_invalid', { name: 'database', origin, reason });
}

function findUp(from: string, name: string): string | undefined {
  const path = join(from, name);
  if (existsSync(path)) return path;
  const above = dirname(from);
  return above === from ? undefined : findUp(above, name);
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  }
  return Object.freeze(value);
}

/** The same without what is undefined. */
function defined<T extends object>(values: T): Defined<T> {
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as Defined<T>;
}

type Defined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
