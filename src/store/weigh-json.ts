import { createTurns } from '../turns.js';
import { createMembers, type Cut } from './document-members.js';

/**
 * Where documents are in an answer: the answer itself; in its rows, or results, as `doc`; in the line of
 * a feed as `doc`; in a list of revisions as `ok`. `nothing`: there are none.
 */
export type Holding = 'document' | 'rows' | 'line' | 'revisions' | 'nothing';

/** What a JSON text is made of: its values, and the parts of its documents that are not to be read. */
export type Weight = { readonly values: number; readonly cuts: readonly Cut[] };

/** How many lists and objects are around a document. */
const levels = { document: 0, line: 1, revisions: 2, rows: 3, nothing: Infinity } as const;
const names = { line: 'doc', revisions: 'ok', rows: 'doc' } as const;

const quote = 34;
const comma = 44;
const colon = 58;
const bracket = 91;
const backslash = 92;
const closeBracket = 93;
const brace = 123;
const closeBrace = 125;

/** So many characters are looked through before it is asked whether others wait. */
const stretch = 262_144;

/**
 * Looks through a JSON text without reading it: counts texts, numbers, lists, objects and keys, and finds
 * what is too large in its documents. Lets the event loop go on meanwhile. Answers undefined for what is
 * no JSON, as far as it sees that.
 */
export async function weighJson(text: string, holding: Holding): Promise<Weight | undefined> {
  const turns = createTurns();
  const outer = levels[holding];
  const wanted = holding === 'document' || holding === 'nothing' ? undefined : names[holding];
  const members = createMembers(text);
  let isInside = false;
  let [values, depth, seen] = [1, 0, 0];
  let [nameFrom, nameTo] = [0, 0];
  let name: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    if (at - seen > stretch) {
      seen = at;
      const turn = turns();
      if (turn !== undefined) await turn;
    }
    switch (text.charCodeAt(at)) {
      case quote:
        nameFrom = at + 1;
        at = nameTo = endOfText(text, at);
        if (at < 0) return undefined;
        break;
      case colon:
        values += 1;
        if (isInside && depth === outer + 1) {
          members.begin(text.slice(nameFrom, nameTo), at + 1, values);
        } else if (depth === outer) name = text.slice(nameFrom, nameTo);
        break;
      case comma:
        values += 1;
        if (isInside && depth === outer + 1) members.end(at, values);
        else if (depth === outer) name = undefined;
        break;
      case bracket:
      case brace:
        values += 1;
        if (depth === outer && name === wanted) {
          members.open();
          isInside = true;
        }
        depth += 1;
        if (isInside) members.deeper(depth - outer - 1);
        break;
      case closeBracket:
      case closeBrace:
        depth -= 1;
        if (!isInside || depth !== outer) break;
        members.end(at, values);
        members.close(at);
        isInside = false;
    }
  }
  return depth === 0 ? { values, cuts: members.cuts() } : undefined;
}

/** Where the quote stands that ends a text; -1: nowhere. */
export function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return -1;
}
