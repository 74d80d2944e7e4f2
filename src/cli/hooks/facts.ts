import type { Client } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import type { HookStatus } from '../../model/hook.js';
import { isObject } from '../../model/object.js';
import { defaultOwner, ownerOf } from '../../model/task.js';
import { hookCheckWord, hookPath, hookStatus } from '../../reading/hook.js';
import { parseDocument } from '../../reading/parse.js';
import { unreadKeys } from '../../reading/unread-keys.js';
import { textOf } from '../../words.js';
import type { Style } from '../io.js';

/** What lists show of a hook, also of a malformed one. */
export type HookFacts = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly flow: string;
  /** `none`, `token`, `hmac` or `standard_webhooks`. */
  readonly check: string;
  readonly status: HookStatus;
  /** Of its address. */
  readonly path: string;
};

export function hookFacts(doc: StoredDocument): HookFacts {
  return {
    id: doc._id,
    name: textOf(doc['name']),
    owner: ownerOf(doc),
    flow: textOf(doc['flow']),
    check: hookCheckWord(doc),
    status: hookStatus(doc),
    path: hookPath(doc),
  };
}

/** What keeps a hook from taking deliveries, as sentences. */
export function hookProblemsOf(doc: StoredDocument): readonly string[] {
  const parsed = parseDocument(doc);
  if (parsed.kind === 'hook' && !parsed.ok) return parsed.problems.map(({ message }) => message);
  const { problems } = doc;
  const told: readonly unknown[] = Array.isArray(problems) ? problems : [];
  return told.filter(isObject).map(({ message }) => textOf(message));
}

/** What a stored hook hardly means, as sentences: a flow that is not stored, keys that nothing reads. */
export async function hookNotes(
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

/** The colour that stands for the status of a hook. */
export function hookColour(status: HookStatus): Style {
  switch (status) {
    case 'active':
      return 'green';
    case 'disabled':
      return 'yellow';
    case 'invalid':
      return 'red';
  }
}
