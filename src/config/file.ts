import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { problem } from '../errors.js';
import { closest } from '../model/closest.js';
import { notifySettingsSchema } from '../model/notify-list.js';
import { toProblems } from '../model/problems.js';
import { factorSchema } from '../model/retry.js';
import { retainSchema } from '../model/retain.js';
import { queueSchema } from '../model/scalars.js';
import { writtenLengthSchema } from '../model/span.js';
import { olderFormatProblem } from '../secrets/older-format.js';
import { utf8TextOf, withoutMark } from '../text-file.js';
import { storageKinds } from '../storage-kinds.js';
import { sentenceOf, type SettingName } from './table.js';
import {
  count,
  drainSchema,
  egressEntries,
  leaseSchema,
  logLevels,
  olderFormatSchema,
  port,
  text,
  textList,
  webhookSchema,
} from './values.js';

/** A setting of the file, with the sentence of the table. */
const setting = <S extends z.ZodType>(name: SettingName, schema: S) =>
  z.exactOptional(schema.describe(sentenceOf(name)));

const rateSchema = z
  .strictObject({
    per_second: setting(
      'http.rate.per_second',
      z.number({ error: 'must be a number' }).positive({ error: 'must be more than 0' }),
    ),
    burst: setting('http.rate.burst', count),
  })
  .describe('How often somebody may ask; without sign-in there is no limit.');

const httpSchema = z
  .strictObject({
    host: setting('http.host', text),
    port: setting('http.port', port),
    tls: setting(
      'http.tls',
      z.strictObject({
        cert: text.describe('File of the certificate (PEM), with those that it is signed by.'),
        key: text.describe('File of its private key (PEM).'),
      }),
    ),
    sign_in: setting(
      'http.sign_in',
      z.enum(['auto', 'always'], { error: 'must be "auto" or "always"' }),
    ),
    public_url: setting(
      'http.public_url',
      z.url({ protocol: /^https?$/, error: 'must be a URL such as https://tws.example.com' }),
    ),
    trust_proxy: setting(
      'http.trust_proxy',
      z.array(text, { error: 'must be a list of addresses' }),
    ),
    body_limit: setting('http.body_limit', count),
    rate: z.exactOptional(rateSchema),
    streams: setting('http.streams', count),
    node_workflow: setting('http.node_workflow', z.boolean({ error: 'must be true or false' })),
    test_directives: setting('http.test_directives', z.boolean({ error: 'must be true or false' })),
  })
  .describe('The HTTP API: tws start --http, tws serve, tws dev.');

const egressSchema = z
  .strictObject(
    { allow: setting('egress.allow', egressEntries), deny: setting('egress.deny', egressEntries) },
    { error: 'must be {allow, deny}' },
  )
  .describe('Which addresses the shipped plugins and webhooks may reach.');

const codeSchema = z
  .strictObject(
    {
      script: setting('code.script', textList),
      modules: setting('code.modules', z.record(text, text, { error: 'must be {name: file}' })),
      shell: setting('code.shell', textList),
      programs: setting('code.programs', textList),
      env: setting('code.env', textList),
      lines: setting('code.lines', z.boolean({ error: 'must be true or false' })),
    },
    { error: 'must be {script, modules, shell, programs, env, lines}' },
  )
  .describe('What documents may have run of code and programs; nothing unless it is allowed here.');

const folders = z.union([text, textList], {
  error: 'must be a folder or a package, or a list of these',
});

const queues = z
  .array(queueSchema, { error: 'must be a list of queues' })
  .min(1, { error: 'must name a queue' });

const storage = z.enum(['auto', ...storageKinds], {
  error: `must be auto, ${storageKinds.join(' or ')}`,
});

/** `tws.json` of a project. Credentials belong in the environment; here they are possible only. */
export const settingsFileSchema = z
  .strictObject({
    $schema: z.exactOptional(z.string()),
    project: setting('project', text),
    url: setting('url', text),
    user: setting('user', text),
    pass: setting('pass', text),
    key: setting('key', text),
    database: setting('database', text),
    app: setting('app', text),
    owner: setting('owner', text),
    plugins: setting('plugins', folders),
    slots: setting('slots', count),
    labels: setting('labels', textList),
    queues: setting('queues', queues),
    lease: setting('lease', leaseSchema),
    retry_delay: setting('retry_delay', writtenLengthSchema),
    retry_factor: setting('retry_factor', factorSchema),
    retry_max: setting('retry_max', writtenLengthSchema),
    event_ttl: setting('event_ttl', writtenLengthSchema),
    drain: setting('drain', drainSchema),
    retain: setting('retain', retainSchema),
    sensitive_retain: setting('sensitive_retain', writtenLengthSchema),
    notify: setting('notify', notifySettingsSchema),
    log_level: setting('log_level', z.enum(logLevels)),
    secrets: z.exactOptional(
      z
        .strictObject({ older: setting('secrets.older', olderFormatSchema) })
        .describe('How values that an earlier project encrypted are read.'),
    ),
    webhooks: setting('webhooks', z.array(webhookSchema, { error: 'must be a list of webhooks' })),
    egress: z.exactOptional(egressSchema),
    code: z.exactOptional(codeSchema),
    http: z.exactOptional(httpSchema),
    embedded: z.exactOptional(
      z.strictObject({
        dir: setting('embedded.dir', text),
        port: setting('embedded.port', port),
        storage: setting('embedded.storage', storage),
      }),
    ),
  })
  .describe('Settings of a TWS project.');

export type SettingsFile = z.infer<typeof settingsFileSchema>;

/**
 * Reads and checks `tws.json`; a key it does not know is a problem with a suggestion.
 * @throws TwsError `settings_file_invalid`
 */
export function readSettings(path: string): SettingsFile {
  let content: unknown;
  try {
    content = JSON.parse(withoutMark(utf8TextOf(readFileSync(path), path)));
  } catch (error) {
    const reason = error instanceof Error ? `${error.message}.` : String(error);
    throw problem('settings_file_invalid', { file: path, reasons: [reason] });
  }
  const parsed = settingsFileSchema.safeParse(content);
  if (parsed.success) return withSenseOf(parsed.data, path);
  const { issues } = parsed.error;
  const reasons = [
    ...issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => unknownKey(issue.path, key))
        : [],
    ),
    ...toProblems(
      issues.filter((issue) => issue.code !== 'unrecognized_keys'),
      content,
    ).map((found) => found.message),
  ];
  throw problem('settings_file_invalid', { file: path, reasons });
}

/** What only OpenSSL knows of the settings. @throws TwsError `settings_file_invalid` */
function withSenseOf(settings: SettingsFile, path: string): SettingsFile {
  const { older } = settings.secrets ?? {};
  const wrong = older === undefined ? undefined : olderFormatProblem(older);
  if (wrong === undefined) return settings;
  throw problem('settings_file_invalid', { file: path, reasons: [`secrets.older${wrong}.`] });
}

function unknownKey(path: readonly PropertyKey[], key: string): string {
  const known = knownKeys(path);
  const close = closest(key, known);
  const hint = close === undefined ? `Known are: ${known.join(', ')}.` : `Did you mean "${close}"?`;
  return `It knows no key "${[...path, key].join('.')}". ${hint}`;
}

function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let schema: z.ZodType = settingsFileSchema;
  for (const key of path) {
    const inner = shapeOf(schema)[String(key)];
    if (inner === undefined) return [];
    schema = inner;
  }
  return Object.keys(shapeOf(schema));
}

function shapeOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  const bare = schema instanceof z.ZodExactOptional ? (schema.unwrap() as z.ZodType) : schema;
  return bare instanceof z.ZodObject ? bare.shape : {};
}
