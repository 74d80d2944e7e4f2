import { fit } from './fit.js';
import { safeLine } from './safe.js';
import type { Terminal } from './terminal.js';

/** The whole of a terminal, which has its own content back when it is left. */
export type FullScreen = {
  /** Draws these lines from the top; what has no room is cut. */
  readonly draw: (lines: readonly string[]) => void;
  readonly leave: () => void;
};

const enter = '\u001B[?1049h\u001B[?25l';
const restore = '\u001B[?25h\u001B[?1049l';

/** Takes the terminal; it is given back also when the process ends without asking. */
export function enterFullScreen(terminal: Terminal): FullScreen {
  let left = false;
  const leave = (): void => {
    if (left) return;
    left = true;
    process.off('exit', leave);
    terminal.write(restore);
  };
  process.on('exit', leave);
  terminal.write(enter);
  return {
    leave,
    draw: (lines) => {
      if (left) return;
      const { columns, rows } = terminal.size();
      const shown = lines.slice(0, rows).map((line) => `${fit(safeLine(line), columns)}\u001B[K`);
      terminal.write(`\u001B[H${shown.join('\r\n')}\u001B[J`);
    },
  };
}
