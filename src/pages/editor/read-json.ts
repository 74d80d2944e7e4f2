import { parseTree, type Node, type ParseError } from 'jsonc-parser';

/** A stretch of the text that something is said about; `to` is behind the last character. */
export type TextMark = {
  readonly from: number;
  readonly to: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
};

/** What a text is as JSON. */
export type ReadJson = {
  /** Also of a text with mistakes, as far as it goes. */
  readonly tree: Node | undefined;
  /** Absent when the text is not valid JSON. */
  readonly value?: unknown;
  /** What is no JSON, and keys that are there twice. */
  readonly marks: readonly TextMark[];
};

/** Reads a text as strict JSON: no comments, no trailing commas. */
export function parseJsonText(text: string): ReadJson {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const marks = [...errors.map((error) => markOf(error, text)), ...doubledKeys(tree)];
  try {
    return { tree, value: JSON.parse(text) as unknown, marks };
  } catch (error) {
    const found = errors.length > 0 ? marks : [unreadable(text, error), ...marks];
    return { tree, marks: found };
  }
}

/** Also what the tolerant parser lets pass is an error. */
function unreadable(text: string, error: unknown): TextMark {
  const reason = error instanceof Error ? error.message : String(error);
  return { from: 0, to: text.length, severity: 'error', message: `This is no JSON: ${reason}.` };
}

function markOf({ error, offset, length }: ParseError, text: string): TextMark {
  // What is missing at the end is shown at the last thing that is there.
  const end = text.trimEnd().length;
  const from = Math.min(offset, Math.max(0, end - 1));
  const to = Math.max(from + 1, Math.min(offset + length, text.length));
  const message = sentences[error] ?? 'This is no JSON.';
  return { from, to: Math.min(to, text.length), severity: 'error', message };
}

/** By the codes of the parser (`ParseErrorCode`). */
const sentences: Readonly<Record<number, string>> = {
  1: 'This is neither a value nor a name: texts need double quotes.',
  2: 'This is no number of JSON.',
  3: 'A key in double quotes must stand here.',
  4: 'A value must stand here.',
  5: 'A colon must stand between the key and its value.',
  6: 'A comma must stand before this.',
  7: 'A "}" is missing.',
  8: 'A "]" is missing.',
  9: 'Nothing may follow the end of the document.',
  10: 'Comments are not allowed in JSON.',
  11: 'The comment does not end.',
  12: 'The text does not end: its second double quote is missing.',
  13: 'The number does not end.',
  14: 'This is no character of Unicode: write \\u and four hexadecimal digits.',
  15: 'After a backslash only " \\ / b f n r t or u may stand.',
  16: 'This character must be written with a backslash.',
};

/** Of a key that is there twice JSON keeps the last one. */
function doubledKeys(node: Node | undefined): readonly TextMark[] {
  if (node?.children === undefined) return [];
  const below = node.children.flatMap(doubledKeys);
  if (node.type !== 'object') return below;
  const seen = new Set<unknown>();
  const own = node.children.flatMap((property): readonly TextMark[] => {
    const key = property.children?.[0];
    if (key === undefined) return [];
    const isDouble = seen.has(key.value);
    seen.add(key.value);
    if (!isDouble) return [];
    const message = `${JSON.stringify(key.value)} is there twice: only the last one counts.`;
    return [{ ...spanOf(key), severity: 'warning', message }];
  });
  return [...own, ...below];
}

/** Where a node stands. */
export function spanOf({ offset, length }: Node): { readonly from: number; readonly to: number } {
  return { from: offset, to: offset + length };
}
