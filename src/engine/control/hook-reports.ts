import { checkExpression } from '../../evaluate/expressions.js';
import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import type { Problem } from '../../model/problems.js';
import { without } from '../../model/record.js';
import { parseDocument } from '../../reading/parse.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../log.js';

export type HookReportParts = {
  readonly store: Pick<Store, 'write'>;
  readonly log: Log;
};

/**
 * Writes into a hook that was stored by hand what is wrong with it, and takes that away once it is right.
 * The API serves hooks; engines only tell.
 */
export function reportHook({ store, log }: HookReportParts, doc: StoredDocument): void {
  const problems = hookProblems(doc);
  if (canonical(doc['problems'] ?? []) === canonical(problems)) return;
  for (const { message } of problems) log.warn({ hook: doc._id }, message);
  const told = without(doc, 'problems');
  // A lost write is dropped: the feed brings the version that won.
  store
    .write(problems.length === 0 ? told : { ...told, problems })
    .catch((error: unknown) => log.debug({ error: String(error) }, 'A problem was not told.'));
}

function hookProblems(doc: StoredDocument): readonly Problem[] {
  const parsed = parseDocument(without(doc, 'problems'));
  if (parsed.kind !== 'hook') return [];
  if (!parsed.ok) return parsed.problems;
  return (['match', 'params'] as const).flatMap((path) => {
    const expression = parsed.value[path];
    const reason = expression === undefined ? undefined : checkExpression(expression);
    return reason === undefined
      ? []
      : [{ path, message: `${path} is no valid JSONata: ${reason}.` }];
  });
}
