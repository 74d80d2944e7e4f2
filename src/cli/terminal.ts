import { print } from './output.js';

/** A terminal that can be drawn on. Sizes in characters. */
export type Terminal = {
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly write: (text: string) => void;
  /** Registers a listener for changes of the size; returns the function that removes it. */
  readonly onResize: (listener: () => void) => () => void;
};

/** The terminal behind a stream, if there is one. */
export function terminalOf(stream: NodeJS.WriteStream): Terminal | undefined {
  if (!stream.isTTY) return undefined;
  return {
    // A terminal that does not tell its size says 0.
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    write: (text) => print(stream, text),
    onResize: (listener) => {
      stream.on('resize', listener);
      return () => void stream.off('resize', listener);
    },
  };
}

/** Keys as they are pressed, each at once: `q`, `\x03` for Ctrl-C. Nothing where stdin is no terminal. */
export function onKeys(listener: (key: string) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const take = (chunk: Buffer): void => {
    for (const key of chunk.toString('utf8')) listener(key);
  };
  stdin.setRawMode(true);
  stdin.on('data', take);
  stdin.resume();
  return () => {
    stdin.off('data', take);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
