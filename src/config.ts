import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { credentialsOf, filled, splitUrl } from './credentials.js';
import { exposedVariable, type Environment } from './environment.js';
import { problem } from './errors.js';
import { addressOf, isReachable, type HttpSettings } from './http/settings.js';
import { defaultQueue } from './model/job.js';
import { defaultOwner } from './model/task.js';
import type { EgressPolicy } from './plugin/egress.js';
import type { OlderFormat } from './secrets/older-format.js';
import { readSettings, runningDev, type LogLevel, type SettingsFile } from './settings-file.js';

export type { EmbeddedFile, LogLevel } from './settings-file.js';

/** Where CouchDB is looked for when nothing says where. */
export const defaultUrl = 'http://127.0.0.1:5984';

/** What was said on the command line; it beats everything else. */
export type Flags = {
  readonly url?: string | undefined;
  readonly database?: string | undefined;
  readonly app?: string | undefined;
  readonly owner?: string | undefined;
  readonly slots?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly queues?: readonly string[] | undefined;
  readonly dir?: string | undefined;
  readonly port?: number | undefined;
  /** Where the HTTP API listens: `host:port`, or one of them. */
  readonly http?: string | undefined;
};

/** All settings of one command or process. `origins` names the source of each, for `tws config`. */
export type Config = {
  /** The folder of `tws.json`, else the current folder. */
  readonly root: string;
  /** Path of `tws.json`, when there is one. */
  readonly file?: string;
  /** Server URL without credentials and without a slash at its end. */
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
  readonly database: string;
  readonly app: string;
  readonly owner: string;
  /** Absolute folders of the project's plugins. */
  readonly plugins: readonly string[];
  readonly slots?: number;
  readonly labels: readonly string[];
  /** The queues that the engines of this project serve. */
  readonly queues: readonly string[];
  /** After so many ms without a sign an engine is dead; it renews its lease three times as often. */
  readonly leaseMs?: number;
  /** So many ms pass before a retry where neither task nor flow nor job says so. */
  readonly retryDelayMs?: number;
  /** So many ms running steps may take to end when an engine stops. */
  readonly drainMs?: number;
  /** How values that an earlier project encrypted are read. */
  readonly olderSecrets?: OlderFormat;
  /** Addresses that are told events of the engines; their secrets may be encrypted. */
  readonly webhooks: NonNullable<SettingsFile['webhooks']>;
  readonly logLevel: LogLevel;
  readonly cryptoKey?: string;
  readonly embedded: { readonly dir: string; readonly port: number };
  /** Which addresses the shipped plugins and webhooks may reach. */
  readonly egress: EgressPolicy;
  /** Settings of the HTTP API. */
  readonly http: HttpSettings;
  readonly origins: Readonly<Record<string, string>>;
};

/**
 * Reads every setting: flags over environment over `tws.json` (looked for in `cwd` and above) over
 * a running `tws dev` of the project over defaults. The result is frozen.
 * @throws TwsError `settings_file_invalid`, `setting_invalid`
 */
export function loadConfig(from: Sources): Config {
  const { flags, env, cwd } = from;
  const path = findUp(cwd, 'tws.json');
  const file: SettingsFile = path === undefined ? {} : readSettings(path);
  const root = path === undefined ? cwd : dirname(path);
  const embedded = embeddedOf(flags, file, root);
  const named = namedServer({ flags, env, file }, root, embedded.dir);
  const { url, database, app, owner, credentials } = named;
  const cryptoKey = filled(env['TWS_CRYPTO_KEY']);
  const slots = flags.slots ?? file.slots;
  const address = addressOf(flags.http ?? '');

  return deepFreeze({
    root,
    ...(path === undefined ? {} : { file: path }),
    url: url.url,
    ...credentials.values,
    database: database.value,
    app: app.value,
    owner: owner.value,
    plugins: [file.plugins ?? 'plugins'].flat().map((folder) => resolve(root, folder)),
    ...(slots === undefined ? {} : { slots }),
    labels: flags.labels ?? file.labels ?? [],
    queues: flags.queues ?? file.queues ?? [defaultQueue],
    ...(file.lease === undefined ? {} : { leaseMs: file.lease }),
    ...(file.retry_delay === undefined ? {} : { retryDelayMs: file.retry_delay }),
    ...(file.drain === undefined ? {} : { drainMs: file.drain }),
    ...(file.secrets?.older === undefined ? {} : { olderSecrets: file.secrets.older }),
    webhooks: file.webhooks ?? [],
    logLevel: file.log_level ?? 'info',
    ...(cryptoKey === undefined ? {} : { cryptoKey }),
    embedded,
    egress: egressOf(file.egress, { ...file.http, ...address }, env),
    http: { ...file.http, ...address },
    origins: {
      url: url.origin,
      ...credentials.origins,
      database: database.origin,
      app: app.origin,
      owner: owner.origin,
      plugins: originOf(undefined, '', file.plugins),
      slots: originOf(flags.slots, '--slots', file.slots),
      labels: originOf(flags.labels, '--labels', file.labels),
      queues: originOf(flags.queues, '--queues', file.queues),
      lease: originOf(undefined, '', file.lease),
      retry_delay: originOf(undefined, '', file.retry_delay),
      drain: originOf(undefined, '', file.drain),
      'secrets.older': originOf(undefined, '', file.secrets?.older),
      webhooks: originOf(undefined, '', file.webhooks),
      log_level: originOf(undefined, '', file.log_level),
      crypto_key: cryptoKey === undefined ? 'not set' : 'TWS_CRYPTO_KEY',
      'egress.allow': originOf(undefined, '', file.egress?.allow),
      'egress.deny': originOf(undefined, '', file.egress?.deny),
      ...httpOrigins(file.http, address),
      'embedded.dir': originOf(flags.dir, '--dir', file.embedded?.dir),
      'embedded.port': originOf(flags.port, '--port', file.embedded?.port),
    },
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
  const exposed = isReachable(http) || filled(env[exposedVariable]) === '1';
  return { allow, deny, exposed };
}

type Sources = { readonly flags: Flags; readonly env: Environment; readonly cwd: string };
type Said = { readonly flags: Flags; readonly env: Environment; readonly file: SettingsFile };
type Setting = { readonly value: string; readonly origin: string };

/** Which server, database and names: what is said, else what a running `tws dev` says. */
function namedServer(said: Said, root: string, dir: string) {
  const url = chosen(said, 'url');
  const dev = url === undefined ? runningDev(dir) : undefined;
  const devOrigin = join(basename(dir), 'embedded.json');
  const fallback = (fromDev: string | undefined, value: string): Setting =>
    fromDev === undefined ? { value, origin: 'default' } : { value: fromDev, origin: devOrigin };
  const server = splitUrl(url ?? fallback(dev?.url, defaultUrl));
  const project = projectName(said.file.project ?? basename(root));
  const database = chosen(said, 'database') ?? fallback(dev?.database, `${project}_tasks`);
  checkDatabase(database);
  return {
    url: server,
    credentials: credentialsOf({ ...said, server, dev, devOrigin }),
    database,
    app: chosen(said, 'app') ?? fallback(dev?.app, 'tws'),
    owner: chosen(said, 'owner') ?? fallback(undefined, defaultOwner),
  };
}

const variables = { url: 'COUCH_URL', database: 'COUCH_DATABASE', app: 'COUCH_APPNAME', owner: '' };

/** The strongest source that says something; an empty text says nothing. */
function chosen({ flags, env, file }: Said, name: keyof typeof variables): Setting | undefined {
  const variable = variables[name];
  const sources = [
    [flags[name], `--${name}`],
    [env[variable], variable],
    [file[name], 'tws.json'],
  ] as const;
  for (const [said, origin] of sources) {
    const value = filled(said);
    if (value !== undefined) return { value, origin };
  }
  return undefined;
}

function embeddedOf(flags: Flags, file: SettingsFile, root: string): Config['embedded'] {
  return {
    dir: resolve(root, flags.dir ?? file.embedded?.dir ?? '.tws'),
    port: flags.port ?? file.embedded?.port ?? 5984,
  };
}

function httpOrigins(file: HttpSettings = {}, flag: Pick<HttpSettings, 'host' | 'port'>) {
  return {
    'http.host': originOf(flag.host, '--http', file.host),
    'http.port': originOf(flag.port, '--http', file.port),
  };
}

function originOf(flag: unknown, flagName: string, inFile: unknown): string {
  if (flag !== undefined) return flagName;
  return inFile === undefined ? 'default' : 'tws.json';
}

/** A name CouchDB takes: lower case, beginning with a letter. */
function projectName(name: string): string {
  const kept = name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[^a-z]+/, '');
  return kept === '' ? 'tws' : kept;
}

function checkDatabase({ value, origin }: Setting): void {
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
