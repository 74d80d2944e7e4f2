const escapeSign = '\u001B';
/** What colours text, moves the cursor or clears lines. */
const escapes = new RegExp(`${escapeSign}\\[[0-9;?]*[A-Za-z]`, 'y');

/** How many columns a text takes; colours take none. */
export function widthOf(text: string): number {
  return [...piecesOf(text)].reduce((sum, { width }) => sum + width, 0);
}

/** As much of a line as fits into so many columns; what is cut off ends in `…`. Colours end with it. */
export function fit(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let room = Math.max(0, columns - 1);
  let shown = '';
  let coloured = false;
  for (const { piece, width } of piecesOf(text)) {
    if (width > room) break;
    room -= width;
    shown += piece;
    if (piece.length > 1 && piece.startsWith(escapeSign)) coloured = true;
  }
  return `${shown}${columns > 0 ? '…' : ''}${coloured ? `${escapeSign}[0m` : ''}`;
}

/** A text with spaces behind it, so that it takes so many columns; a longer one is cut. */
export function padded(text: string, columns: number): string {
  const shown = fit(text, columns);
  return shown + ' '.repeat(Math.max(0, columns - widthOf(shown)));
}

function* piecesOf(text: string): Generator<{ readonly piece: string; readonly width: number }> {
  for (let at = 0; at < text.length;) {
    escapes.lastIndex = at;
    const escape = escapes.exec(text)?.[0];
    const piece = escape ?? String.fromCodePoint(text.codePointAt(at) ?? 0);
    yield { piece, width: escape === undefined ? widthOfSign(piece) : 0 };
    at += piece.length;
  }
}

/** Signs of East Asia and emoji take two columns, marks on the sign before none. */
const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;

function widthOfSign(sign: string): number {
  if (/\p{M}|\u200D|\uFE0F/u.test(sign)) return 0;
  return wide.test(sign) ? 2 : 1;
}
