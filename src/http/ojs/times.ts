import { toEpochMs } from '../../model/scalars.js';

/** A time under its name, as a text; nothing where it is none. */
export function timeText<K extends string>(key: K, value: unknown): { readonly [P in K]?: string } {
  const date = new Date(epochOf(value) ?? NaN);
  return Number.isNaN(date.getTime())
    ? {}
    : ({ [key]: date.toISOString() } as { readonly [P in K]?: string });
}

/** A time in epoch ms; undefined: it is none. */
export function epochOf(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const ms = toEpochMs(value);
  return Number.isFinite(ms) ? ms : undefined;
}
