import { createTurns } from '../turns.js';

/** A piece of so many characters is parsed at once. */
const pieceLength = 32_768;
/** Deeper lists and objects are not read. */
const mostDepth = 2_000;

/**
 * Parses a long JSON text piece by piece and lets the event loop go on between the pieces. Lists and
 * objects that are longer than a piece are put together from runs of their items.
 *
 * J1 The text of a list or an object that is still open and has not been longer than a piece belongs to
 *    the piece of what is around it.
 * J2 What has been cut once is put together: its pieces are lists or objects of their own.
 *
 * Answers undefined for what is no JSON, or is nested deeper than 2,000 levels.
 */
export async function parsePieces(text: string): Promise<unknown> {
  const turns = createTurns();
  const reading: Reading = { text, levels: [], depth: 0, top: undefined, root: undefined };
  let asked = 0;
  try {
    for (let at = 0; at < text.length; at += 1) {
      if (at - asked > pieceLength) {
        asked = at;
        const turn = turns();
        if (turn !== undefined) await turn;
      }
      const code = text.charCodeAt(at);
      switch (code) {
        case character.quote:
          at = endOfText(text, at);
          break;
        case character.comma:
          separate(reading, at);
          break;
        case character.listStart:
        case character.objectStart:
          begin(reading, code === character.listStart, at);
          break;
        case character.listEnd:
        case character.objectEnd:
          end(reading, code === character.listEnd, at);
      }
    }
    return valueOf(reading);
  } catch {
    return undefined;
  }
}

/** The characters that say how a text is built. */
const character = {
  quote: 34,
  comma: 44,
  backslash: 92,
  listStart: 91,
  listEnd: 93,
  objectStart: 123,
  objectEnd: 125,
} as const;

/** A list or an object whose end was not seen yet. Places are those in the text. */
type Open = {
  isList: boolean;
  from: number;
  /** What was put together of it; undefined: nothing yet. */
  made: unknown[] | Record<string, unknown> | undefined;
  /** Where the text begins that was not parsed yet, and the last member in it. */
  pieceFrom: number;
  memberFrom: number;
  /** A member was taken whole that ends there: the text goes on with a comma or the end. */
  after: number | undefined;
};

/** How far a text was read. */
type Reading = {
  readonly text: string;
  /** A record of each level, of which `depth` are open; `top` is the innermost of these. */
  readonly levels: Open[];
  depth: number;
  top: Open | undefined;
  /** The list or object that the text is, and where it ends. */
  root: { readonly value: unknown; readonly to: number } | undefined;
};

/** At a comma. */
function separate({ text, top }: Reading, at: number): void {
  if (top === undefined) throw new SyntaxError('a comma stands outside');
  if (at - top.pieceFrom > pieceLength || top.after !== undefined) endPiece(text, top, at);
  top.memberFrom = at + 1;
}

/** At the start of a list or an object. */
function begin(reading: Reading, isList: boolean, at: number): void {
  const { levels, depth, root } = reading;
  if (depth === mostDepth || root !== undefined)
    throw new SyntaxError('too deep, or after the end');
  reading.top = open(levels, depth, isList, at);
  reading.depth = depth + 1;
}

/** At the end of a list or an object: it is put together, unless it is left to what is around it (J1). */
function end(reading: Reading, isList: boolean, at: number): void {
  const { text, levels, top: closed } = reading;
  if (closed?.isList !== isList) throw new SyntaxError('an end is that of something else');
  reading.depth -= 1;
  const top = levels[reading.depth - 1];
  reading.top = top;
  const isShort = at - closed.from <= pieceLength;
  if (isShort && closed.made === undefined && top !== undefined) return;
  const value = close(text, closed, at);
  if (top === undefined) reading.root = { value, to: at + 1 };
  else take(text, top, { from: closed.from, to: at + 1, value });
}

/** What a text says that was read to its end. */
function valueOf({ text, root }: Reading): unknown {
  if (root === undefined) return JSON.parse(text) as unknown;
  return text.slice(root.to).trim() === '' && startsClean(text) ? root.value : undefined;
}

/**
 * Begins a list or an object. Each level has one record, which the next list or object there uses again:
 * a text of nothing but brackets makes no more of them than it is deep.
 */
function open(levels: Open[], depth: number, isList: boolean, from: number): Open {
  const level = (levels[depth] ??= fresh());
  level.isList = isList;
  level.from = from;
  level.made = undefined;
  level.pieceFrom = from + 1;
  level.memberFrom = from + 1;
  level.after = undefined;
  return level;
}

function fresh(): Open {
  const nothing = { made: undefined, after: undefined };
  return { isList: false, from: 0, pieceFrom: 0, memberFrom: 0, ...nothing };
}

function startsClean(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/** At a comma: what came before it is parsed. */
function endPiece(text: string, open: Open, to: number): void {
  if (open.after !== undefined) blank(text.slice(open.after, to));
  else add(open, text.slice(open.pieceFrom, to));
  open.after = undefined;
  open.pieceFrom = to + 1;
}

/** At the end of a list or object. */
function close(text: string, open: Open, to: number): unknown {
  if (open.made === undefined) return JSON.parse(text.slice(open.from, to + 1)) as unknown;
  if (open.after !== undefined) blank(text.slice(open.after, to));
  else add(open, text.slice(open.pieceFrom, to));
  return open.made;
}

/** A member that was longer than a piece, or put together. */
function take(
  text: string,
  open: Open,
  { from, to, value }: { readonly from: number; readonly to: number; readonly value: unknown },
): void {
  if (open.memberFrom > open.pieceFrom) add(open, text.slice(open.pieceFrom, open.memberFrom - 1));
  const before = text.slice(open.memberFrom, from);
  open.made ??= open.isList ? [] : {};
  if (Array.isArray(open.made)) {
    blank(before);
    open.made.push(value);
  } else {
    // Only a name and a colon may stand there.
    const [name = ''] = Object.keys(JSON.parse(`{${before}0}`) as object);
    define(open.made, name, value);
  }
  open.after = to;
}

/** Parses some members, at least one, and adds them. */
function add(open: Open, members: string): void {
  open.made ??= open.isList ? [] : {};
  if (members.trim() === '') throw new SyntaxError('a member is missing');
  if (Array.isArray(open.made)) {
    for (const item of JSON.parse(`[${members}]`) as unknown[]) open.made.push(item);
    return;
  }
  const piece = JSON.parse(`{${members}}`) as Record<string, unknown>;
  for (const name of Object.keys(piece)) define(open.made, name, piece[name]);
}

function define(made: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') made[name] = value;
  else Object.defineProperty(made, name, { value, ...ordinary });
}

const ordinary = { enumerable: true, configurable: true, writable: true } as const;

function blank(text: string): void {
  if (text.trim() !== '') throw new SyntaxError('a comma is missing');
}

/** Where the quote stands that ends a text. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === character.backslash) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  throw new SyntaxError('a text has no end');
}
