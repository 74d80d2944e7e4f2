/*
 * Durations of ISO 8601 in weeks, or in days, hours, minutes and seconds. Years and months have no fixed length, so
 * they are no durations here.
 */

const form = /^P(?=\d|T\d)(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** `PT1M30S` in milliseconds; undefined for a text that is none. */
export function durationMs(text: string): number | undefined {
  if (text.length > 40) return undefined;
  const weeks = /^P(\d+)W$/.exec(text)?.[1];
  if (weeks !== undefined) return Number(weeks) * 604_800_000;
  const match = form.exec(text);
  if (match === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((n = '0') => Number(n));
  return Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000);
}

/** A lease that is given in seconds or as a text, in ms. */
export function leaseLengthMs(length: string | number): number | undefined {
  return typeof length === 'number' ? Math.round(length * 1000) : durationMs(length);
}
