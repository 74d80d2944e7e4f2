import type { StoredDocument } from '../../model/document.js';
import type { HookStatus } from '../../model/hook.js';
import { ownerOf } from '../../model/task.js';
import { hookCheckWord, hookPath, hookStatus } from '../../reading/hook.js';
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

/** The colour of the status of a hook. */
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
