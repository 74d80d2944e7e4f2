import type { Client } from '../client.js';
import { TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { defaultOwner, ownerOf } from '../model/task.js';
import { parseDocument } from '../reading/parse.js';
import { unreadKeys } from '../reading/unread-keys.js';
import { textOf } from '../words.js';

/** Returns all schedules, or all hooks; none where the design documents are older than these. */
export async function storedOfKind(
  client: Pick<Client, 'schedules' | 'hooks'>,
  kind: 'schedule' | 'hook',
): Promise<readonly StoredDocument[]> {
  try {
    return await (kind === 'schedule' ? client.schedules() : client.hooks());
  } catch (error) {
    if (error instanceof TwsError && error.code === 'view_missing') return [];
    throw error;
  }
}

/**
 * What is probably a mistake in a schedule or hook: a flow that is not stored, keys that
 * nothing reads.
 */
export async function noteSentences(
  client: Pick<Client, 'find'>,
  doc: StoredDocument,
): Promise<readonly string[]> {
  const keys = unreadKeys(doc).map(({ message }) => message);
  const { flow } = doc;
  if (typeof flow !== 'string') return keys;
  for (const owner of new Set([ownerOf(doc), defaultOwner])) {
    if ((await client.find('flow', flow, owner)).length > 0) return keys;
  }
  return [`flow names "${flow}", which is not stored: each of its jobs fails.`, ...keys];
}

/** What keeps a schedule or hook from starting jobs: its own mistakes, or what engines wrote into it. */
export function problemSentences(doc: StoredDocument): readonly string[] {
  const parsed = parseDocument(doc);
  if ((parsed.kind === 'hook' || parsed.kind === 'schedule') && !parsed.ok)
    return parsed.problems.map(({ message }) => message);
  const { problems } = doc;
  const written: readonly unknown[] = Array.isArray(problems) ? problems : [];
  return written.filter(isObject).map(({ message }) => textOf(message));
}
