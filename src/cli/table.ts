import type { Io, Style } from './io.js';
import { safeLine } from './safe.js';

/** One cell of a table in the terminal. */
export type TableCell = { readonly text: string; readonly style?: Style };

/** Rows in aligned columns, one line each; a person on a terminal reads the heads of the columns, too. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly TableCell[])[],
  io: Pick<Io, 'style' | 'resultsOnTerminal'>,
): readonly string[] {
  if (rows.length === 0) return [];
  const heads = io.resultsOnTerminal
    ? [head.map((text): TableCell => ({ text, style: 'dim' }))]
    : [];
  const all = [
    ...heads,
    ...rows.map((row) => row.map((cell) => ({ ...cell, text: safeLine(cell.text) }))),
  ];
  const widths = head.map((_, i) => Math.max(...all.map((row) => lengthIn(row[i]?.text ?? ''))));
  return all.map((row) =>
    row
      .map(({ text, style }, i) => {
        const pad = ' '.repeat(i === row.length - 1 ? 0 : (widths[i] ?? 0) - lengthIn(text));
        return `${style === undefined ? text : io.style(style, text)}${pad}`;
      })
      .join('  '),
  );
}

/** Characters, as a terminal counts most of them. */
const lengthIn = (text: string): number => [...text].length;
