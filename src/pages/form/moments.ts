import type { Format } from './fields.js';

/** A value of a document as an input of its format shows it: times in the zone of whoever looks. */
export function toInput(value: string, format: Format | undefined): string {
  if (format === 'date-time') {
    const at = new Date(value);
    return Number.isNaN(at.getTime()) ? '' : localText(at);
  }
  return format === 'time' ? (/^\d\d:\d\d(?::\d\d)?/.exec(value)?.[0] ?? '') : value;
}

/** What an input of a format holds as a value of a document (RFC 3339). */
export function fromInput(text: string, format: Format | undefined): string {
  if (format === 'date-time') {
    const at = new Date(text);
    return Number.isNaN(at.getTime()) ? text : at.toISOString();
  }
  if (format !== 'time') return text;
  const seconds = /^\d\d:\d\d$/.test(text) ? `${text}:00` : text;
  return `${seconds}${offsetText(-new Date().getTimezoneOffset())}`;
}

/** `2026-11-21T10:00`, as `datetime-local` wants it. */
export function localText(at: Date): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const seconds = at.getSeconds() === 0 ? '' : `:${two(at.getSeconds())}`;
  return `${date}T${time}${seconds}`;
}

function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z';
  const two = (n: number): string => String(n).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** The zone of whoever looks: `Europe/Berlin`. */
export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
