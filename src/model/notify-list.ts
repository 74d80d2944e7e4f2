import { z } from 'zod';
import {
  entryFields,
  entryText,
  judgeEntry,
  mostEntries,
  notifySchema,
  readNotify,
  secretsInNotify,
  type NotifyEntry,
} from './notify.js';
import { isObject } from './object.js';
import { refuseUnknown } from './unknown-keys.js';
import type { Problem } from './problems.js';
import { nameSchema, textSchema, type Known } from './scalars.js';
import { defaultOwner, ownerOf } from './task.js';
import type { StoredDocument } from './document.js';

/** Who is notified of all jobs of an owner, as a document; without an owner, or with DEFAULT, of all jobs. */
export const notifyListSchema = z
  .looseObject({
    type: z.literal('notify'),
    owner: z.exactOptional(
      nameSchema.describe('Whose jobs; absent, or DEFAULT: the jobs of all owners.'),
    ),
    notify: notifySchema,
    problems: z.exactOptional(
      z
        .array(z.looseObject({ path: textSchema, message: textSchema }))
        .describe('What is wrong; engines write it.'),
    ),
  })
  .describe('Who is notified of the jobs of an owner, or of all owners.');

export type NotifyList = Known<z.infer<typeof notifyListSchema>> & { readonly _id: string };

/** Returns the id of the list that commands write: `me` -> `notify:me`. */
export function notifyListId(owner: string): string {
  return `notify:${owner}`;
}

/** An entry of a list: `of` is the id of the document, or `tws.json`, `at` its place there, `owner` whose it is. */
export type ListEntry = {
  readonly of: string;
  readonly at: number;
  readonly owner: string;
  readonly entry: NotifyEntry;
};

/** The entries of one document that can be read, and what is wrong with it. */
export type NotifyListRead = {
  readonly entries: readonly ListEntry[];
  readonly problems: readonly Problem[];
};

/**
 * Reads a list. A mistake costs the entry that it is in; one in `owner` costs the list, which must not
 * tell of other jobs than it was meant for.
 */
export function readNotifyList(doc: StoredDocument): NotifyListRead {
  // Engines write what is wrong into it.
  const { problems: _problems, notify, ...rest } = doc;
  const owner = ownerOf(rest);
  const isWhose = nameSchema.optional().safeParse(rest['owner']).success;
  if (!isWhose) {
    const path = 'owner';
    return {
      entries: [],
      problems: [{ path, message: 'owner must be a name (a string).' }],
    };
  }
  if (notify === undefined) {
    const message = 'notify is missing: it must be a list of notifications.';
    return { entries: [], problems: [{ path: 'notify', message }] };
  }
  const { problems } = readNotify(notify);
  return {
    entries: listEntries(doc._id, notify, () => owner),
    problems: [...problems, ...secretsInList(notify)],
  };
}

function listEntries(
  of: string,
  notify: unknown,
  ownerAt: (at: number) => string,
): readonly ListEntry[] {
  if (!Array.isArray(notify)) return [];
  return notify.flatMap((written: unknown, at): readonly ListEntry[] => {
    const [entry] = readNotify([written]).entries;
    if (entry === undefined || secretsInList([written]).length > 0) return [];
    return [{ of, at, owner: ownerAt(at), entry }];
  });
}

const remedy = 'name a "task" that has the secret, for example one of the plugin "webhook"';

/**
 * Secrets in a list: nothing there is decrypted, and what is in clear would be in the job of a notification, which
 * belongs to the owner of the job that it tells of. Paths begin with `notify`.
 */
export function secretsInList(notify: unknown): readonly Problem[] {
  const why = 'is an encrypted value, or refers to one, which no list can decrypt';
  const encrypted = secretsInNotify({ notify }, why, remedy);
  return encrypted.length > 0 ? encrypted : clearSecrets(notify);
}

function clearSecrets(notify: unknown): readonly Problem[] {
  if (!Array.isArray(notify)) return [];
  return notify.flatMap((entry: unknown, at) =>
    (['secret', 'headers'] as const).flatMap((field) => {
      if (!isObject(entry) || entry[field] === undefined) return [];
      const path = `notify[${at}].${field}`;
      return [
        { path, message: `${path} would be readable in the job of each notification: ${remedy}.` },
      ];
    }),
  );
}

/** Returns the entries that tell of the jobs of an owner: its own, and those of DEFAULT. */
export function entriesFor(entries: readonly ListEntry[], ofJob: string): readonly ListEntry[] {
  return entries.filter(({ owner }) => owner === defaultOwner || owner === ofJob);
}

/** One entry of `notify` in `tws.json`. */
const settingsEntrySchema = z
  .looseObject(
    {
      owner: z.exactOptional(
        nameSchema.describe('Whose jobs it tells of; absent, or DEFAULT: the jobs of all owners.'),
      ),
      ...entryFields,
    },
    { error: entryText },
  )
  .superRefine((entry, context) => {
    refuseUnknown(entry, ['owner', ...Object.keys(entryFields)], context);
    judgeEntry(entry, context);
    if (secretsInList([entry]).length === 0) return;
    const message = `must hold no secret: ${remedy}`;
    context.addIssue({ code: 'custom', path: [], message, params: { isComplete: true } });
  });

/** `notify` of `tws.json`. */
export const notifySettingsSchema = z
  .array(settingsEntrySchema, { error: 'must be a list of notifications' })
  .max(mostEntries, { error: `must have at most ${mostEntries} entries` })
  .describe('Who is notified of the jobs of an owner, or of all owners.');

export type NotifySettings = readonly z.infer<typeof settingsEntrySchema>[];

/** What names the list of `tws.json` in ids. */
const settingsList = 'tws.json';

/** The entries of `tws.json`. */
export function settingsEntries(settings: NotifySettings): readonly ListEntry[] {
  return listEntries(settingsList, settings, (at) => settings[at]?.owner ?? defaultOwner);
}
