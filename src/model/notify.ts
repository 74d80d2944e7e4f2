import { z } from 'zod';
import { encryptedText, isEncrypted } from './encrypted.js';
import { secretsIn } from './encrypted-values.js';
import { toJsonPath, toProblems, type Problem } from './problems.js';
import { isReference, keysOf } from './secret-reference.js';
import { isObject } from './object.js';
import {
  alertOccasions,
  isFormEvent,
  occasions,
  type AlertOccasion,
  type Occasion,
} from './occasions.js';
import { changedFormLink } from './form-link.js';
import { retrySchema } from './retry.js';
import { writtenLengthSchema, spanSchema } from './span.js';
import { flagSchema, nameOf, paramsSchema, textSchema, askedVersionSchema } from './scalars.js';
import type { Status } from './status.js';

/** Ready-made bodies: `mail` for a task that sends mail, the others for webhooks. */
export const notifyFormats = ['mail', 'slack', 'teams', 'discord'] as const;
export type NotifyFormat = (typeof notifyFormats)[number];
const formatText = 'must be "mail", "slack", "teams" or "discord"';

/** What of the job that ended may go along when an entry asks for it. */
export const includable = ['params', 'result'] as const;

const onText =
  'must be a list of "succeeded", "failed", "cancelled", "ended", "late", "stuck", "waiting", "reminder", "due" or "escalated"';
const urlText = 'must be an address with http or https, without a password';
const secretText = 'must be a string, or {"$enc": …} as `tws encrypt` prints it';

const encryptableSchema = (error: string) =>
  z.union([z.string().min(1, { error }), z.looseObject({ $enc: z.string() }, { error })], {
    error,
  });

/** Addresses of webhooks are often secrets themselves: the one that is wrong is not shown. */
const urlSchema = encryptableSchema(urlText).refine(isWebhookAddress, {
  error: urlText,
  params: { isComplete: true },
});

/** Whether webhooks may go there. Encrypted texts and templates show only later what they come to. */
export function isWebhookAddress(written: string | { readonly $enc: string }): boolean {
  const text = encryptedText(written);
  if (typeof written !== 'string' || text === undefined) return true;
  if (isEncrypted(text) || isReference(text) || text.includes('{{')) return true;
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

const kinds = ['url', 'task', 'flow'] as const;
const ofWebhooks = ['headers', 'secret', 'body', 'timeout', 'retry'] as const;

/** What an entry is, when it is no object. */
export const entryText = 'must be {on, url}, {on, task, params} or {on, flow, params}';

/** What may be in an entry of `notify`. */
export const entryFields = {
  on: z.exactOptional(
    z
      .array(z.enum(occasions, { error: onText }), { error: onText })
      .min(1, { error: onText })
      .describe(
        'What it tells of; default: ended, which is every end. late: the job runs for longer than `expected` of its flow; stuck: no engine can run what is next; waiting: it waits for a signal or a person; reminder, due, escalated: a person has not answered.',
      ),
  ),
  after: z.exactOptional(
    spanSchema.describe(
      'How long late, stuck, waiting … must last before it is told; default: stuck 30 s, others 0.',
    ),
  ),
  each: z.exactOptional(
    flagSchema.describe(
      'true: each user whom a form asks by name is told on their own; false: all at once. Default: on their own where the entry uses both form.link and job.notifies.assignee.',
    ),
  ),
  url: z.exactOptional(urlSchema.describe('Address of a webhook: JSON is posted to it.')),
  task: z.exactOptional(nameOf('task').describe('Task that tells of it.')),
  flow: z.exactOptional(nameOf('flow').describe('Flow that tells of it.')),
  version: z.exactOptional(askedVersionSchema),
  params: z.exactOptional(paramsSchema),
  headers: z.exactOptional(
    z
      .record(z.string(), z.union([z.string(), z.number(), z.looseObject({})]), {
        error: 'must be an object of headers',
      })
      .describe('Headers of the webhook.'),
  ),
  secret: z.exactOptional(
    encryptableSchema(secretText).describe(
      'Signs the webhook (Standard Webhooks); encrypted by `tws encrypt`.',
    ),
  ),
  body: z.exactOptional(
    z.unknown().describe('JSON to post instead of the usual body; with templates.'),
  ),
  format: z.exactOptional(
    z
      .enum(notifyFormats, { error: formatText })
      .describe(
        'Ready-made text: slack, teams or discord for a webhook, or a task of the plugin "webhook"; mail for a task that sends mail.',
      ),
  ),
  include: z.exactOptional(
    z
      .array(z.enum(includable, { error: 'must be "params" or "result"' }), {
        error: 'must be a list of "params" and "result"',
      })
      .describe('What of the job goes along.'),
  ),
  timeout: z.exactOptional(
    writtenLengthSchema.describe(
      'Milliseconds, or a text such as "30s", that one try of the webhook may take; default 15000.',
    ),
  ),
  retry: z.exactOptional(retrySchema),
};

/** One entry of `notify`: on which end of a job what is told, and how. */
export const notifyEntrySchema = z
  .looseObject(entryFields, { error: entryText })
  .superRefine(judgeEntry);

export type NotifyEntry = z.infer<typeof notifyEntrySchema>;

/** Tells what is wrong with an entry as a whole. */
export function judgeEntry(
  entry: z.infer<z.ZodObject<typeof entryFields>>,
  context: z.core.$RefinementCtx<unknown>,
): void {
  const [kind, other] = kinds.filter((key) => entry[key] !== undefined);
  const refuse = (path: readonly string[], message: string): void =>
    context.addIssue({ code: 'custom', path: [...path], message, params: { isComplete: true } });
  if (kind === undefined) return refuse([], 'must name a "url", a "task" or a "flow"');
  if (other !== undefined) {
    return refuse([other], `must not stand beside "${kind}": an entry tells in one way`);
  }
  if (entry.format !== undefined) judgeFormat(entry, refuse);
  if (entry.after !== undefined && !(entry.on ?? []).some(isAlert)) {
    refuse(
      ['after'],
      'must stand beside "on" with "late", "stuck", "waiting", "reminder", "due" or "escalated": an end is told at once',
    );
  }
  if (entry.each !== undefined && !(entry.on ?? []).some(isAboutForms)) {
    refuse(
      ['each'],
      'must stand beside "on" with "waiting", "reminder", "due" or "escalated": nothing else asks users',
    );
  }
  judgeLinks(entry, refuse);
  const foreign = kind === 'url' ? (['params'] as const) : ofWebhooks;
  for (const key of foreign) {
    if (entry[key] === undefined) continue;
    refuse(
      [key],
      `must not stand beside "${kind}": ${key === 'params' ? 'a webhook has a "body"' : 'it is for webhooks'}`,
    );
  }
}

/** What stands for a link in stored parameters becomes one only as it is. */
function judgeLinks(
  entry: z.infer<z.ZodObject<typeof entryFields>>,
  refuse: (path: readonly string[], message: string) => void,
): void {
  for (const key of ['params', 'body', 'url', 'headers'] as const) {
    const tag = changedFormLink(entry[key]);
    if (tag !== undefined)
      refuse([key], `must use form.link as it is, {{form.link}}: ${tag} would change the link`);
  }
}

/** A format makes what is sent, in the form that its receiver takes. */
function judgeFormat(
  { format, url, flow, body }: z.infer<z.ZodObject<typeof entryFields>>,
  refuse: (path: readonly string[], message: string) => void,
): void {
  if (flow !== undefined)
    refuse(['format'], 'must not stand beside "flow": a flow makes its own texts');
  if (body !== undefined)
    refuse(['format'], 'must not stand beside "body": either of them is sent');
  if (format === 'mail' && url !== undefined) {
    refuse(['format'], 'must not be "mail" beside "url": name a "task" that sends mail');
  }
}

/** Each is a job of its own: the end of one job is not to make very many. */
export const mostEntries = 100;
const mostText = `must have at most ${mostEntries} entries`;

/** The whole list of a flow or of a job. */
export const notifySchema = z
  .array(notifyEntrySchema, { error: 'must be a list of notifications' })
  .max(mostEntries, { error: mostText })
  .describe('Who is told when a job has ended: webhooks, tasks and flows.');

/** The entries that can be read, by their place in the list, and what is wrong with the others. */
export type ReadNotify = {
  readonly entries: readonly NotifyEntry[];
  readonly problems: readonly Problem[];
};

/**
 * Reads the `notify` of a flow or job as somebody wrote it: a mistake in it costs the entry that it is
 * in, and never the job; of too many the first ones count. Paths of problems begin with `notify`.
 */
export function readNotify(written: unknown): ReadNotify {
  if (written === undefined) return { entries: [], problems: [] };
  const document = { notify: written };
  if (!Array.isArray(written)) {
    const { error } = z.looseObject({ notify: notifySchema }).safeParse(document);
    return { entries: [], problems: error === undefined ? [] : toProblems(error.issues, document) };
  }
  const read = written
    .slice(0, mostEntries)
    .map((entry: unknown) => notifyEntrySchema.safeParse(entry));
  const { error: tooMany } = lengthSchema.safeParse(document);
  const issues = read.flatMap(({ error }, i) =>
    (error?.issues ?? []).map((issue) => ({ ...issue, path: ['notify', i, ...issue.path] })),
  );
  return {
    entries: read.flatMap(({ data }) => (data === undefined ? [] : [data])),
    problems: toProblems([...(tooMany?.issues ?? []), ...issues], document),
  };
}

const lengthSchema = z.object({
  notify: z.array(z.unknown()).max(mostEntries, { error: mostText }),
});

/**
 * Encrypted values in the `notify` of a job: they are decrypted in stored definitions only, so what they
 * are in would fail at the end of the job. Paths begin with `notify`.
 */
export function secretsInNotify(
  { notify }: Readonly<Record<string, unknown>>,
  why = 'is an encrypted value, or refers to one, which nothing in a job may be',
  remedy = 'put the entry into "notify" of the flow, or name a task or flow there that has the secret',
): readonly Problem[] {
  if (notify === undefined) return [];
  return [...secretsIn(notify).keys()].map((field) => {
    const keys = keysOf(field).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    const path = toJsonPath(['notify', ...keys]);
    return { path, message: `${path} ${why}: ${remedy}.` };
  });
}

/** Whether it is told while the job goes on. */
export function isAlert(occasion: Occasion): occasion is AlertOccasion {
  return alertOccasions.some((one) => one === occasion);
}

function isAboutForms(occasion: Occasion): boolean {
  return isAlert(occasion) && isFormEvent(occasion);
}

/** Whether an entry of what somebody wrote asks for an alert; cheap, for each decision. */
export function asksFor(notify: unknown, alert: AlertOccasion): boolean {
  return (
    Array.isArray(notify) &&
    notify.some((entry: unknown) => {
      const on = isObject(entry) ? entry['on'] : undefined;
      return Array.isArray(on) && on.includes(alert);
    })
  );
}

/** Whether an entry is about a job that ended like that. */
export function isAbout({ on = ['ended'] }: NotifyEntry, status: Status): boolean {
  return on.some((occasion) => occasion === 'ended' || occasion === status);
}

/**
 * What a notification says of its subject, the job that it tells of; templates of its tasks see it
 * as `job.notifies`. Times are epoch ms.
 */
const notifiesSchema = z.looseObject({
  job: z.string(),
  /** The run that ended; 0: it ended before it began. */
  run: z.number(),
  status: textSchema,
  /** What it tells of a job that goes on; absent: its end. */
  event: z.exactOptional(z.enum(alertOccasions)),
  depth: z.number(),
  /** What tells it from other jobs of the same id: when it began, or the revision that never did. */
  start: z.exactOptional(z.number()),
  of_rev: z.exactOptional(z.string()),
  include: z.exactOptional(z.array(z.enum(includable))),
  /** The format of the entry, and the body that it makes. */
  format: z.exactOptional(z.enum(notifyFormats)),
  message: z.exactOptional(z.unknown()),
  /** The entry of a flow's `notify` that it was made of; absent: an entry of the job itself. */
  entry: z.exactOptional(
    z.looseObject({
      flow: z.string(),
      owner: z.string(),
      version: z.exactOptional(z.string()),
      at: z.int().min(0),
    }),
  ),
  /** Of a wait for people: the users who are asked by name. */
  assignee: z.exactOptional(z.array(z.string()).readonly()),
  /** Of a wait for people: the attempt, and its links; `mark` is what their places hold in parameters. */
  answer: z.exactOptional(
    z.looseObject({
      path: z.string(),
      attempt: z.int().min(1),
      since: z.number(),
      links: z.array(
        z.looseObject({
          for: z.string(),
          hash: z.string(),
          until: z.number(),
          mark: z.string(),
        }),
      ),
    }),
  ),
  /** When the end of the subject was found to be stored; absent: it waits for that. */
  since: z.exactOptional(z.number()),
});
export type Notifies = z.infer<typeof notifiesSchema>;

/** What a notification tells of; undefined for every other job. */
export function notifiesOf(job: Readonly<Record<string, unknown>>): Notifies | undefined {
  const { notifies } = job;
  if (notifies === undefined) return undefined;
  return notifiesSchema.safeParse(notifies).data;
}

/** A notification as its subject names it: it was made when the job ended, at that time. */
export type NotificationMade = {
  readonly id: string;
  readonly run: number;
  readonly at: number;
  /** What it tells of a job that went on; absent: its end. */
  readonly event?: AlertOccasion;
  /** The only user whom it tells, and the id of one that tells all of them at once. */
  readonly for?: string;
  readonly of?: string;
};

/** The notifications that a job names, the oldest first. */
export function notificationsOf(
  job: Readonly<Record<string, unknown>>,
): readonly NotificationMade[] {
  const { notifications } = job;
  if (!Array.isArray(notifications)) return [];
  return notifications.filter(isMade);
}

function isMade(one: unknown): one is NotificationMade {
  if (typeof one !== 'object' || one === null) return false;
  const { id, at } = one as { readonly id?: unknown; readonly at?: unknown };
  return typeof id === 'string' && typeof at === 'number';
}
