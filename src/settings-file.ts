import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { closest } from './closest.js';
import { problem } from './errors.js';
import { toProblems } from './model/problems.js';

const text = z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' });
const texts = z.array(text, { error: 'must be a list of strings' });
const port = z.int().min(0).max(65_535, { error: 'must be a port, 0 to 65535' });
const slots = z.int({ error: 'must be a whole number' }).min(1, { error: 'must be 1 or more' });

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

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
    lease: z.exactOptional(
      z
        .int({ error: 'must be milliseconds, 300 or more' })
        .min(300, { error: 'must be milliseconds, 300 or more' })
        .describe('Milliseconds after which an engine that gives no sign is dead; default 15000.'),
    ),
    log_level: z.exactOptional(z.enum(logLevels)),
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
  if (parsed.success) return parsed.data;
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

function unknownKey(path: readonly PropertyKey[], key: string): string {
  const known = path.length === 0 ? Object.keys(settingsFileSchema.shape) : ['dir', 'port'];
  const close = closest(key, known);
  const hint = close === undefined ? `Known are: ${known.join(', ')}.` : `Did you mean "${close}"?`;
  return `It knows no key "${[...path, key].join('.')}". ${hint}`;
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
