import { usualRetry } from '../model/usual-retry.js';
import { storageKinds } from '../storage-kinds.js';
import { hostAndPort, defaultHost, defaultPort } from './address.js';

const kinds = storageKinds.join(' or ');

/**
 * The one table of settings. From it come their reading and precedence (read.ts), the sentences in the
 * JSON Schema of tws.json (file.ts), the options of the command line and what `tws config` shows. What
 * values may look like is in file.ts: this table imports no schemas, since `tws --help` reads it.
 */
export const settings = {
  project: {
    about: 'Name of the project; default: the name of its folder.',
    usual: 'name of the folder',
    show: 'never',
  },
  url: {
    about: 'URL of CouchDB',
    usual: 'http://127.0.0.1:5984',
    variable: 'COUCH_URL',
    flag: '--url <url>',
    help: 'URL of CouchDB (or COUCH_URL); default: a running tws dev, else http://127.0.0.1:5984.',
    credential: true,
  },
  user: { about: 'User of CouchDB; better in COUCH_USER.', variable: 'COUCH_USER', show: 'stars' },
  pass: {
    about: 'Password; better in COUCH_PASS.',
    variable: 'COUCH_PASS',
    show: 'stars',
    shownAs: 'password',
    credential: true,
  },
  key: {
    about: 'API key that stands for user; better in COUCH_KEY.',
    variable: 'COUCH_KEY',
    show: 'never',
    credential: true,
  },
  database: {
    about: 'Name of the database',
    usual: '<project>_tasks',
    variable: 'COUCH_DATABASE',
    flag: '--database <name>',
  },
  app: {
    about: 'Name of the design document',
    usual: 'tws',
    variable: 'COUCH_APPNAME',
    flag: '--app <name>',
    help: 'Name of the design document, _design/<name> (or COUCH_APPNAME); default: tws.',
  },
  owner: {
    about: 'Owner of new tasks, flows and jobs',
    usual: 'DEFAULT',
    flag: '--owner <name>',
    help: 'Owner of names that are given without one; default: DEFAULT.',
  },
  plugins: {
    about: 'Folders of plugins, relative to this file, and npm packages that hold some',
    usual: 'plugins',
  },
  slots: {
    about: 'Steps an engine runs at the same time.',
    usual: 10,
    flag: '--slots <n>',
    help: 'Steps to run at the same time; default 10.',
    engine: true,
  },
  labels: {
    about: 'Labels of the engines that are started here.',
    usual: [],
    flag: '--labels <a,b>',
    help: 'Labels of the engine: tasks that ask for labels run only where these are.',
    engine: true,
  },
  queues: {
    about: 'Queues whose steps the engines take',
    usual: ['default'],
    flag: '--queues <a,b>',
    help: 'Queues whose steps the engine takes; default: default, to which jobs belong otherwise.',
    engine: true,
  },
  lease: {
    about: 'Milliseconds after which an engine that gives no sign is dead',
    usual: 10_000,
  },
  retry_delay: {
    about: 'Milliseconds before a retry where neither task nor flow nor job says so',
    usual: usualRetry.delay,
  },
  retry_factor: {
    about: 'How many times longer each further wait is, where "retry" says no delay',
    usual: usualRetry.factor,
  },
  retry_max: {
    about: 'Longest wait before a retry in milliseconds, where "retry" says no delay',
    usual: usualRetry.max,
  },
  event_ttl: {
    about:
      'How long an announced event releases waits that has no "ttl", from when an engine first handles it; default: until it is deleted.',
  },
  drain: {
    about: 'Milliseconds that running steps may take to end when an engine stops',
    usual: 30_000,
  },
  retain: {
    about:
      'Which ended jobs stay where their flow has no "retain", by status: {succeeded, failed, cancelled}, each {age, count}, and {archive}, where the others are copied to; default: all.',
  },
  sensitive_retain: {
    about:
      'How long sensitive values of a subject that has no "retain" stay after one of them was last stored, milliseconds or a text such as "90d": then its key is destroyed; default and 0: for ever.',
  },
  // Addresses of webhooks are often secrets themselves.
  notify: {
    about:
      'Who is notified of jobs, beside the "notify" of their flows: a list of entries, each as there and with "owner".',
    usual: [],
    show: 'count',
  },
  log_level: {
    about: 'What an engine logs, and what is more important; `debug` adds the steps',
    usual: 'info',
  },
  'secrets.older': { about: 'How values of the form salt:cipher, both in hex, were encrypted.' },
  // Addresses of webhooks are often secrets themselves.
  webhooks: {
    about: 'Who is told of events of the engines, such as one that is lost.',
    usual: [],
    show: 'count',
  },
  'egress.allow': {
    about: 'Reached whatever else says, such as a server in a private network.',
    usual: [],
  },
  'egress.deny': { about: 'Not reached unless "allow" names it; * closes all others.', usual: [] },
  'code.script': {
    about: 'Owners whose jobs may run code in the sandbox of plugin script; * for all.',
    usual: [],
  },
  'code.modules': { about: 'Modules for such code: {name: file of the project}.' },
  'code.shell': {
    about: 'Owners whose jobs may start programs by plugin shell; * for all.',
    usual: [],
  },
  'code.programs': {
    about: 'Programs that they may start, by name or path; * for all.',
    usual: [],
  },
  'code.env': {
    about:
      'Variables that such programs may be given of the environment, * for all, and that documents may set, if they are named.',
    usual: [],
  },
  'code.lines': { about: 'true: plugin shell takes lines for the shell of the system, too.' },
  'http.host': {
    about: `Address to listen on; default ${defaultHost}. On any other everybody has to sign in.`,
    usual: defaultHost,
    flag: '--http [host:port]',
    help: `Serve the HTTP API, too; default ${defaultHost}:${defaultPort}.`,
    ofFlag: (address: string) => hostAndPort(address).host,
  },
  'http.port': {
    about: `Port to listen on; default ${defaultPort}, 0 for any free one.`,
    usual: defaultPort,
    flag: '--http [host:port]',
    ofFlag: (address: string) => hostAndPort(address).port,
  },
  'http.tls': { about: 'HTTPS; files relative to tws.json.' },
  'http.sign_in': {
    about:
      'auto: on a loopback address nobody has to sign in, unless trust_proxy or a public_url that is no loopback address tell of a proxy; always: everybody has to.',
    usual: 'auto',
  },
  'http.public_url': { about: 'How browsers reach it, behind a proxy.' },
  'http.trust_proxy': { about: 'Addresses of proxies whose x-forwarded-for is believed.' },
  'http.body_limit': { about: 'Bytes of a body', usual: 8 * 1024 * 1024 },
  'http.rate.per_second': {
    about: 'Requests a second that somebody may make in the long run',
    usual: 50,
  },
  'http.rate.burst': { about: 'Requests at once', usual: 200 },
  'http.streams': {
    about: 'Streams of changes that may be open at the same time',
    usual: 200,
  },
  'http.node_workflow': {
    about: 'true: the routes of node-workflow, /jobs, /workflows, /stats and /ping, are served.',
  },
  'http.test_directives': {
    about:
      'true: a heartbeat is answered with the "test_directive" in the metadata of a job that the worker has, as the conformance suite of the Open Job Spec wants it.',
  },
  'embedded.dir': {
    about: 'Folder of its data',
    usual: '.tws',
    flag: '--dir <folder>',
    help: 'Folder of the data; default .tws.',
  },
  'embedded.port': {
    about: 'Port of the embedded server',
    usual: 5984,
    flag: '--port <n>',
    help: 'Port of the server; default 5984, 0: a free one.',
  },
  'embedded.storage': {
    about: `What new databases of the embedded server are kept in, ${kinds}; sqlite needs Node 22.13; default: as those that there are, leveldb in a new folder.`,
    usual: 'auto',
    flag: '--storage <kind>',
    help: `What new databases are kept in, ${kinds}; default: as those that there are, leveldb in a new folder.`,
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** What is set in the environment only. */
export const variables = {
  crypto_key: {
    about: 'Key of encrypted values, or a JSON list of keys; the first encrypts.',
    variable: 'TWS_CRYPTO_KEY',
    show: 'stars',
    credential: true,
  },
  exposed: {
    about: '1: an API of the project elsewhere can be reached from outside.',
    variable: 'TWS_EXPOSED',
    show: 'never',
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** One setting; its key in the table is its path in tws.json. */
export type Setting = {
  /** The sentence of the JSON Schema. Without a full stop the default is added to it. */
  readonly about: string;
  /** The default; absent: none. */
  readonly usual?: string | number | readonly string[];
  /** Variable of the environment. */
  readonly variable?: string;
  /** Option of the command line. `<n>` is read as a number, `<a,b>` as a list. */
  readonly flag?: string;
  /** The sentence of the option, where it differs from `about`. */
  readonly help?: string;
  /** The part of the option's value that this setting takes. */
  readonly ofFlag?: (value: string) => string | number | undefined;
  /** An option of what starts engines; its name in `Config` is the one here. */
  readonly engine?: true;
  /** How `tws config` shows the value; absent: as it is. */
  readonly show?: 'never' | 'stars' | 'count';
  /** Its name in `tws config`, where it differs. */
  readonly shownAs?: string;
  /** It holds a credential, which plugins must not find in the environment. */
  readonly credential?: true;
};

/** The path of a setting in tws.json. */
export type SettingName = keyof typeof settings;

/** The settings that an engine is started with. */
export type EngineSetting = {
  [N in SettingName]: (typeof settings)[N] extends { readonly engine: true } ? N : never;
}[SettingName];

export const engineSettings = Object.keys(settings).filter((name): name is EngineSetting => {
  const row: Setting = settings[name as SettingName];
  return row.engine === true;
});

const rows: readonly Setting[] = [...Object.values(settings), ...Object.values(variables)];

/** Variables of the environment that hold credentials. */
export const credentialVariables: readonly string[] = rows.flatMap(({ variable, credential }) =>
  credential === true && variable !== undefined ? [variable] : [],
);

/** What a setting is, in one sentence, with its default. */
export function sentenceOf(name: SettingName): string {
  const { about, usual }: Setting = settings[name];
  if (about.endsWith('.')) return about;
  return `${about}; default ${typeof usual === 'string' ? usual : JSON.stringify(usual)}.`;
}

/** The option of a setting, as `--help` shows it. */
export function optionOf(name: SettingName): { readonly flags: string; readonly about: string } {
  const { flag = '', help, variable }: Setting = settings[name];
  const or = variable === undefined ? '' : ` (or ${variable})`;
  return { flags: flag, about: help ?? sentenceOf(name).replace(/(?=;|\.$)/, or) };
}

/** `--url <url>` -> `--url`. */
export function flagName({ flag = '' }: Setting): string {
  return flag.split(' ')[0] ?? '';
}
