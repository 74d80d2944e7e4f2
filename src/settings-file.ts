import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { closest } from './model/closest.js';
import { problem } from './errors.js';
import { httpSettingsSchema } from './http/settings.js';
import { engineEventTypes } from './engine/events/system-events.js';
import { usualLeaseMs } from './model/engine.js';
import { isWebhookAddress } from './model/notify.js';
import { egressEntryProblem } from './plugin/egress.js';
import { durationSchema, queueSchema } from './model/scalars.js';
import { toProblems } from './model/problems.js';
import { olderDerivations, olderFormatProblem } from './secrets/older-format.js';

const text = z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' });
const texts = z.array(text, { error: 'must be a list of strings' });
const port = z.int().min(0).max(65_535, { error: 'must be a port, 0 to 65535' });
const slots = z.int({ error: 'must be a whole number' }).min(1, { error: 'must be 1 or more' });

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const count = z.int({ error: 'must be a whole number' }).min(1, { error: 'must be 1 or more' });

/** Half of what a timer of Node.js can wait. */
const longestDrainMs = 1_000_000_000;
const drainText = `must be milliseconds, from 0 to ${longestDrainMs}`;

/** How an earlier project encrypted `<first>:<cipher>`, both in hex. */
const olderFormatSchema = z
  .strictObject({
    cipher: text.describe('Cipher of OpenSSL in mode CBC, CTR, CFB or OFB, such as aes-256-cbc.'),
    kdf: z
      .enum(olderDerivations, { error: `must be one of ${olderDerivations.join(', ')}` })
      .describe(
        'How the key comes of TWS_CRYPTO_KEY: scrypt (Node.js defaults), pbkdf2, sha256 (of the key and then the salt), raw (it is the key, as text or in hex), evp (EVP_BytesToKey of the former crypto.createCipher: MD5, no salt).',
      ),
    first: z.exactOptional(
      z
        .enum(['salt', 'iv'], { error: 'must be "salt" or "iv"' })
        .describe('What the part before the colon is; default salt.'),
    ),
    salt_as: z.exactOptional(
      z
        .enum(['bytes', 'text'], { error: 'must be "bytes" or "text"' })
        .describe('How that salt goes into kdf: its bytes (default), or the hex text itself.'),
    ),
    salt: z.exactOptional(
      z
        .string({ error: 'must be a string' })
        .describe('Salt of kdf where "first" is "iv"; default: none.'),
    ),
    iv: z.exactOptional(
      z
        .enum(['zero', 'derived'], { error: 'must be "zero" or "derived"' })
        .describe(
          'The vector where "first" is "salt": zeros (default), or what kdf gives after the key (default with evp).',
        ),
    ),
    keylen: z.exactOptional(
      count.describe('Bytes that kdf gives; the cipher takes the first. Default: as it needs.'),
    ),
    digest: z.exactOptional(text.describe('Hash of pbkdf2; default sha256.')),
    iterations: z.exactOptional(count.describe('Rounds of pbkdf2; default 100000.')),
  })
  .describe('How values of the form salt:cipher, both in hex, were encrypted.');

const onText = `must be a list of ${engineEventTypes.join(', ')}`;

const addressText = 'must be an address with http or https, without a password';

const webhookSchema = z.strictObject(
  {
    url: text
      .refine(isWebhookAddress, { error: addressText, params: { told: true } })
      .describe('Address with http or https; may be encrypted by `tws encrypt`.'),
    on: z.exactOptional(
      z
        .array(z.enum(engineEventTypes, { error: onText }), { error: onText })
        .min(1, { error: onText })
        .describe('Events that it is told; default: all of them.'),
    ),
    secret: z.exactOptional(
      text.describe('Signs what is sent (Standard Webhooks); as `tws encrypt` prints it.'),
    ),
    headers: z.exactOptional(
      z.record(z.string(), z.union([z.string(), z.number()]), {
        error: 'must be an object of headers',
      }),
    ),
  },
  { error: 'must be {url, on, secret, headers}' },
);

const egressText =
  'must be an address, a range such as 10.0.0.0/8, a host name, *.example.com or *';
const egressEntries = z.array(
  text.refine((entry) => egressEntryProblem(entry) === undefined, { error: egressText }),
  { error: 'must be a list of addresses' },
);

const egressSchema = z
  .strictObject(
    {
      allow: z.exactOptional(
        egressEntries.describe(
          'Reached whatever else says, such as a server in a private network.',
        ),
      ),
      deny: z.exactOptional(
        egressEntries.describe('Not reached unless "allow" names it; * closes all others.'),
      ),
    },
    { error: 'must be {allow, deny}' },
  )
  .describe('Which addresses the shipped plugins and webhooks may reach.');

/** `tws.json` of a project. Credentials belong into the environment; here they are possible only. */
export const settingsFileSchema = z
  .strictObject({
    $schema: z.exactOptional(z.string()),
    project: z.exactOptional(
      text.describe('Name of the project; default: the name of its folder.'),
    ),
    url: z.exactOptional(text.describe('URL of CouchDB; default http://127.0.0.1:5984.')),
    user: z.exactOptional(text.describe('User of CouchDB; better in COUCH_USER.')),
    pass: z.exactOptional(text.describe('Password; better in COUCH_PASS.')),
    key: z.exactOptional(text.describe('API key that stands for user; better in COUCH_KEY.')),
    database: z.exactOptional(text.describe('Name of the database; default <project>_tasks.')),
    app: z.exactOptional(text.describe('Name of the design document; default tws.')),
    owner: z.exactOptional(text.describe('Owner of new tasks, flows and jobs; default DEFAULT.')),
    plugins: z.exactOptional(
      z
        .union([text, texts], { error: 'must be a folder or a list of folders' })
        .describe('Folders of plugins, relative to this file; default plugins.'),
    ),
    slots: z.exactOptional(slots.describe('Steps an engine runs at the same time.')),
    labels: z.exactOptional(texts.describe('Labels of the engines that are started here.')),
    queues: z.exactOptional(
      z
        .array(queueSchema, { error: 'must be a list of queues' })
        .min(1, { error: 'must name a queue' })
        .describe('Queues whose steps the engines take; default ["default"].'),
    ),
    lease: z.exactOptional(
      z
        .int({ error: 'must be milliseconds, 300 or more' })
        .min(300, { error: 'must be milliseconds, 300 or more' })
        .describe(
          `Milliseconds after which an engine that gives no sign is dead; default ${usualLeaseMs}.`,
        ),
    ),
    retry_delay: z.exactOptional(
      durationSchema.describe(
        'Milliseconds before a retry where neither task nor flow nor job says so; default 0.',
      ),
    ),
    drain: z.exactOptional(
      z
        .int({ error: drainText })
        .min(0, { error: drainText })
        .max(longestDrainMs, { error: drainText })
        .describe(
          'Milliseconds that running steps may take to end when an engine stops; default 30000.',
        ),
    ),
    log_level: z.exactOptional(
      z.enum(logLevels).describe('What an engine logs, and what is more important; default info.'),
    ),
    secrets: z.exactOptional(
      z
        .strictObject({ older: z.exactOptional(olderFormatSchema) })
        .describe('How values that an earlier project encrypted are read.'),
    ),
    webhooks: z.exactOptional(
      z
        .array(webhookSchema, { error: 'must be a list of webhooks' })
        .describe('Who is told of events of the engines, such as one that is lost.'),
    ),
    egress: z.exactOptional(egressSchema),
    http: z.exactOptional(httpSettingsSchema),
    embedded: z.exactOptional(
      z.strictObject({
        dir: z.exactOptional(text.describe('Folder of its data; default .tws.')),
        port: z.exactOptional(port.describe('Port of the embedded server; default 5984.')),
      }),
    ),
  })
  .describe('Settings of a TWS project.');

export type SettingsFile = z.infer<typeof settingsFileSchema>;

/** What `tws dev` leaves in its folder so that a second terminal needs no settings. */
export const embeddedFileSchema = z.looseObject({
  url: text,
  user: text,
  password: text,
  database: text,
  app: text,
  pid: z.int(),
});
export type EmbeddedFile = z.infer<typeof embeddedFileSchema>;

/**
 * Reads and checks `tws.json`; a key it does not know is a problem with a suggestion.
 * @throws TwsError `settings_file_invalid`
 */
export function readSettings(path: string): SettingsFile {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
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

/** The server that `tws dev` of this project keeps running, or undefined. */
export function runningDev(dir: string): EmbeddedFile | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(join(dir, 'embedded.json'), 'utf8'));
    const parsed = embeddedFileSchema.safeParse(content);
    if (!parsed.success) return undefined;
    process.kill(parsed.data.pid, 0);
    return parsed.data;
  } catch {
    return undefined;
  }
}
