import { fit, widthOf } from './fit.js';
import { safeLine } from './safe.js';
import type { Terminal } from './terminal.js';

/** Lines at the end of a terminal that are drawn again and again in their place. */
export type Redraw = {
  /** Draws these lines over the ones before; longer ones are cut. */
  readonly draw: (lines: readonly string[]) => void;
  /** Takes away what is drawn, so that other lines can be printed. */
  readonly clear: () => void;
};

/** Begins to draw where the cursor is now. */
export function createRedraw(terminal: Terminal): Redraw {
  let drawn: readonly string[] = [];
  /** When the terminal became narrower, lines take more rows than before. */
  const back = (): string => {
    const { columns } = terminal.size();
    const rows = drawn.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)),
      0,
    );
    return rows === 0 ? '\r' : `\u001B[${rows}A\r`;
  };
  const clear = (): void => {
    if (drawn.length > 0) terminal.write(`${back()}\u001B[J`);
    drawn = [];
  };
  return {
    clear,
    draw: (lines) => {
      const { columns, rows } = terminal.size();
      // The last row is for the cursor: a screen that is full would scroll.
      const shown = lines
        .slice(0, Math.max(1, rows - 1))
        .map((line) => fit(safeLine(line), columns - 1));
      const text = shown.map((line) => `${line}\u001B[K\n`).join('');
      terminal.write(`${back()}${text}\u001B[J`);
      drawn = shown;
    },
  };
}
