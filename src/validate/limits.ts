import { isExpression, isOfEntry, isOfTrigger, textsIn } from './document.js';
import type { Problem } from '../model/problems.js';
import type { Written } from './written.js';

/**
 * What one document may hold at most. Checking it takes time that grows with these, and meanwhile the
 * process does nothing else: with these bounds about a second at worst.
 */
export const limits = {
  /** Texts, numbers, lists, objects … in all. */
  values: 50_000,
  /** `{{` in all templates together. */
  tags: 10_000,
  /** Characters of all expressions together. */
  expressions: 100_000,
  /** Characters of an id or a name: it has to fit into a path. */
  name: 1_000,
  /** Bytes of it in UTF-8, of which each may take three characters of a path. */
  nameBytes: 2_000,
  /** Characters of the JSON of a `schema`. */
  schema: 100_000,
} as const;

/** So many documents one request may bring. */
export const mostDocuments = 10_000;

/** What a document has too much of, to be looked at before anything else is; undefined when nothing. */
export function excessOf(doc: Written): Problem | undefined {
  if (hasTooMany(doc)) {
    return tooMuch('', `The document must not hold more than ${limits.values} values.`);
  }
  const long = tooLongName(doc);
  if (long !== undefined) return long;
  for (const key of ['schema', 'output_schema']) {
    if (JSON.stringify(doc[key] ?? {}).length <= limits.schema) continue;
    return tooMuch(key, `${key} must not be longer than ${limits.schema} characters.`);
  }
  let tags = 0;
  let letters = 0;
  for (const { keys, path, text } of textsIn(doc)) {
    if (keys.includes('params') || isOfEntry(keys)) tags += text.split('{{').length - 1;
    if (isExpression(keys) || isOfTrigger(keys)) letters += text.length;
    if (tags > limits.tags) {
      return tooMuch(path, `The templates must not have more than ${limits.tags} "{{" together.`);
    }
    if (letters > limits.expressions) {
      const most = `${limits.expressions} characters together`;
      return tooMuch(path, `The expressions must not be longer than ${most}.`);
    }
  }
  return undefined;
}

/** Ids and names are looked up before anything else is done with a document. */
export function tooLongName(doc: Written): Problem | undefined {
  const long = ['_id', 'name', 'flow', 'owner'].find((key) => {
    const value = doc[key];
    if (typeof value !== 'string') return false;
    return value.length > limits.name || Buffer.byteLength(value) > limits.nameBytes;
  });
  const message = `${long ?? ''} must not be longer than ${limits.name} characters and ${limits.nameBytes} bytes.`;
  return long === undefined ? undefined : tooMuch(long, message);
}

function tooMuch(path: string, message: string): Problem {
  return { path, message };
}

/** Whether a value holds more values than what is sent may; stops counting a little above that. */
export function hasTooMany(value: unknown): boolean {
  const open: unknown[] = [value];
  let count = 0;
  while (open.length > 0 && count <= limits.values) {
    const one = open.pop();
    count += 1;
    if (typeof one !== 'object' || one === null) continue;
    for (const inner of Object.values(one) as unknown[]) open.push(inner);
  }
  return count > limits.values;
}
