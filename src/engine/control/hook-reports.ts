import { checkExpression } from '../../evaluate/expressions.js';
import type { StoredDocument } from '../../model/document.js';
import type { Problem } from '../../model/problems.js';
import { without } from '../../model/record.js';
import { parseDocument } from '../../reading/parse.js';
import { createTellProblems, type TellProblemsParts } from './tell-problems.js';

/**
 * Writes into a hook that was stored by hand what is wrong with it, by one engine, and removes that once it
 * is right. The API serves hooks; engines only report mistakes.
 */
export function reportHook(parts: TellProblemsParts, doc: StoredDocument): void {
  createTellProblems(parts)(doc, hookProblems(doc));
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
