/** One measured value. What else is in it says under which conditions. */
export type Figure = {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  readonly [condition: string]: unknown;
};

/** Takes the figures of one benchmark. */
export type Say = (figure: Figure) => void;

/** Prints each figure as a line of JSON; numbers keep four significant digits. */
export function printer(bench: string, store: string): Say {
  return (figure) => {
    const line = JSON.stringify({ bench, ...figure, store }, (_key, value: unknown) =>
      typeof value === 'number' ? rounded(value) : value,
    );
    process.stdout.write(`${line}\n`);
  };
}

function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
}

/** The value that this share (0 to 1) of all values does not exceed; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/** The sum of all values. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
