import type { ExitStatus } from './exits.js';

/** One row: `say` gets the values that are wrong and makes the sentence. Secrets never go in. */
export type Row<D> = {
  readonly say: (details: D) => string;
  /** What the reader can do next; one sentence. */
  readonly hint: string;
  /** Exit status of a command that ends with it. */
  readonly exit: ExitStatus;
  /** HTTP status of an API answer that carries it. */
  readonly status: number;
};

/** Makes a row. */
export const row = <D>(
  say: (details: D) => string,
  hint: string,
  exit: ExitStatus,
  status: number,
): Row<D> => ({ say, hint, exit, status });
