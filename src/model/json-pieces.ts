/** A piece is made of values that are this long together, in characters that they are written with. */
const pieceLength = 65_536;

/**
 * The JSON of a value, as `JSON.stringify` writes it, in pieces of which each takes a few milliseconds at
 * the most: a long text is cut, and of long lists and objects some members are written at a time. The
 * value is JSON already (no `toJSON`, no circle), and must not change meanwhile. No piece has a line
 * break.
 */
export function* jsonPieces(value: unknown): Generator<string, void, undefined> {
  if (isShort(value)) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* textPieces(value);
  else if (Array.isArray(value)) yield* listPieces(value);
  else yield* objectPieces(value as Members);
}

type Members = Readonly<Record<string, unknown>>;

function* textPieces(text: string): Generator<string, void, undefined> {
  yield '"';
  for (let from = 0; from < text.length;) {
    let to = from + pieceLength;
    // Both halves of a character belong in one piece.
    if (isHigh(text.charCodeAt(to - 1))) to += 1;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function* listPieces(list: readonly unknown[]): Generator<string, void, undefined> {
  let before = '[';
  for (let from = 0; from < list.length;) {
    let room = pieceLength;
    let to = from;
    for (; to < list.length && room > 0; to += 1) room -= lengthOf(list[to], room);
    // What does not fit is the next piece; alone it is cut.
    if (room < 0 && to - from > 1) to -= 1;
    const isOne = to - from === 1;
    if (isOne) {
      yield before;
      yield* jsonPieces(list[from]);
    } else yield before + JSON.stringify(list.slice(from, to)).slice(1, -1);
    before = ',';
    from = to;
  }
  yield ']';
}

function* objectPieces(object: Members): Generator<string, void, undefined> {
  let before = '{';
  let short = '';
  for (const key of Object.keys(object)) {
    const member = object[key];
    if (member === undefined) continue;
    const name = `${before}${JSON.stringify(key)}:`;
    before = ',';
    if (isShort(member)) short += `${name}${JSON.stringify(member)}`;
    else {
      yield `${short}${name}`;
      yield* jsonPieces(member);
      short = '';
    }
    if (short.length < pieceLength) continue;
    yield short;
    short = '';
  }
  yield `${short}${before === '{' ? '{' : ''}}`;
}

function isShort(value: unknown): boolean {
  return lengthOf(value, pieceLength) <= pieceLength;
}

/** As numbers, `true` and the like are at most about so long. */
const scalarLength = 25;

/** About how long the JSON of a value is, escapes left aside; counting stops beyond `enough`. */
function lengthOf(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return scalarLength;
  let sum = 3;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && sum <= enough; i += 1)
      sum += lengthOf(value[i], enough - sum);
    return sum;
  }
  for (const key of Object.keys(value)) {
    sum += key.length + 4 + lengthOf((value as Members)[key], enough - sum);
    if (sum > enough) return sum;
  }
  return sum;
}
