import { z } from 'zod';
import type { Problem } from '../../model/problems.js';
import { readNotify } from '../../model/notify.js';
import { readNotifyList } from '../../model/notify-list.js';
import { readRetain } from '../../model/retain.js';
import { readOn } from '../../model/trigger.js';
import { parseDocument } from '../../reading/parse.js';
import type { StoredDocument } from '../../model/document.js';
import { isRecord } from './schema-at.js';

// The pages may not make code of text, so nobody is to try.
z.config({ jitless: true });

/** What kinds of document are edited. */
export type EditedKind = 'task' | 'flow' | 'schedule' | 'hook' | 'notify' | 'job';

/**
 * What is wrong with a document by the schemas that the engine reads it with: the same sentences and
 * paths as the server's, without asking it. The server knows more: other definitions, templates.
 */
export function ownProblems(kind: EditedKind, value: unknown): readonly Problem[] {
  const word = kind === 'notify' ? 'notify list' : kind;
  if (!isRecord(value)) return [{ path: '', message: `A ${word} must be a JSON object: {…}.` }];
  const { type = kind } = value;
  if (type !== kind) {
    return [{ path: 'type', message: `type must be "${kind}", or be left out.` }];
  }
  const whole: StoredDocument = { ...value, type, _id: 'new', _rev: '0-0' };
  if (kind === 'notify') return readNotifyList(whole).problems;
  const parsed = parseDocument(whole);
  const beside = [
    ...(kind === 'flow' || kind === 'job' ? readNotify(value['notify']).problems : []),
    ...(kind === 'flow' ? readRetain(value['retain']).problems : []),
    ...(kind === 'flow' ? readOn(value['on']).problems : []),
  ];
  return parsed.kind === 'other' || parsed.ok ? beside : [...parsed.problems, ...beside];
}
