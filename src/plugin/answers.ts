/** Whether a status says "not now" rather than "no": 408, 425, 429 and 5xx. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** No server is waited for longer, ms: a day. */
const longestWaitMs = 86_400_000;

/** The three forms of a date that HTTP knows (RFC 9110, 5.6.7). */
const httpDates = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * Milliseconds from `now` (epoch ms) that a Retry-After header asks to wait, a day at most; undefined when it is
 * absent or unreadable. It holds whole seconds or an HTTP date (RFC 9110, 10.2.3).
 */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(longestWaitMs, Number(text) * 1000);
  if (!httpDates.some((form) => form.test(text))) return undefined;
  // The third form names no zone; all are in UTC.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : Math.min(longestWaitMs, Math.max(0, at - now));
}
