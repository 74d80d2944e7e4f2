import type { StoredDocument } from '../model/document.js';
import type { HookStatus } from '../model/hook.js';
import { defaultOwner, ownerOf } from '../model/task.js';
import { parseDocument } from './parse.js';

/** Returns how a hook stands; one that is valid by its schema may still hold an expression that is none. */
export function hookStatus(doc: StoredDocument): HookStatus {
  const { problems, enabled } = doc;
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'hook' || !parsed.ok) return 'invalid';
  if (Array.isArray(problems) && problems.length > 0) return 'invalid';
  return enabled === false ? 'disabled' : 'active';
}

/** Returns the path of the address of a hook, below which senders POST. */
export function hookPath(doc: StoredDocument): string {
  const name = typeof doc['name'] === 'string' ? doc['name'] : '';
  const owner = ownerOf(doc);
  // `check` is another address.
  const isShort = owner === defaultOwner && name !== 'check';
  return `/_tws/hooks/${encodeURIComponent(isShort ? name : `${name}::${owner}`)}`;
}

/** How senders prove themselves, in a word: `none`, `token`, `hmac` or `standard_webhooks`. */
export function hookCheckWord({ check }: StoredDocument): string {
  if (check === 'none') return 'none';
  const kinds = ['token', 'hmac', 'standard_webhooks'];
  const keys = typeof check === 'object' && check !== null ? Object.keys(check) : [];
  return keys.find((key) => kinds.includes(key)) ?? '-';
}
