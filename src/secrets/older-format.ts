/**
 * Whether a text may be of the format of earlier projects, `<salt>:<cipher>` in hex. Digests can look
 * the same: ask only where a secret is expected. It is recognised, so that nobody takes it for a
 * clear text; it cannot be read, because its cipher is not known here.
 */
export function isOlderFormat(value: string): boolean {
  return /^(?:[0-9a-f]{2}){8,}:(?:[0-9a-f]{2})+$/.test(value);
}
