import type { Client } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { defaultOwner, ownerOf } from '../../model/task.js';
import { unreadKeys } from '../../reading/unread-keys.js';

/** What a stored schedule hardly means, as sentences: a flow that is not stored, keys that nothing reads. */
export async function scheduleNotes(
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
