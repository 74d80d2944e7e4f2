/** Whether a status says "not now" rather than "no": 408, 425, 429 and 5xx. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/**
 * Milliseconds from `now` (epoch ms) that a Retry-After header asks to wait; undefined when it is
 * absent or unreadable. It holds seconds or an HTTP date (RFC 9110, 10.2.3).
 */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
