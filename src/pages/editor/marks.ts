import type { Problem } from '../../model/problems.js';
import { spanAt } from './places.js';
import { parseJsonText, type TextMark } from './read-json.js';

/** What the API found in a document. */
export type CheckAnswer = {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Of a schedule: its next slots (epoch ms) as it is written. */
  readonly slots?: readonly { readonly slot: number }[];
};

/** A mark with the JSON path of what it is about; '' when it is about the text. */
export type EditorFinding = TextMark & { readonly path: string };

/** What is no JSON, with its places. */
export function findingsInText(text: string): readonly EditorFinding[] {
  return parseJsonText(text).marks.map((mark) => ({ ...mark, path: '' }));
}

/** What was found in the document that a text is, at its places in the text. */
export function findingsOf(text: string, checked: Partial<CheckAnswer>): readonly EditorFinding[] {
  const { tree } = parseJsonText(text);
  const { problems = [], warnings = [] } = checked;
  const at =
    (severity: TextMark['severity']) =>
    ({ path, message }: Problem): EditorFinding => {
      const { from, to } = spanAt(tree, path);
      // Of what goes over several lines the first one is marked.
      const line = text.indexOf('\n', from);
      return { from, to: line < 0 ? to : Math.min(to, line), severity, path, message };
    };
  return [...problems.map(at('error')), ...warnings.map(at('warning'))];
}

/** Each thing once: what both the schema and the server found is told by the first. */
export function withoutDoubles(findings: readonly EditorFinding[]): readonly EditorFinding[] {
  const first = new Map<string, EditorFinding>();
  for (const finding of findings) {
    const key = `${finding.from} ${finding.message}`;
    if (!first.has(key)) first.set(key, finding);
  }
  return [...first.values()].sort((a, b) => a.from - b.from);
}
