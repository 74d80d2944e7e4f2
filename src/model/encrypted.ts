/** Whether a value was encrypted by `tws encrypt`, alone or as `{"$enc": …}`. Later versions count, too. */
export function isEncrypted(value: unknown): boolean {
  const text = encryptedText(value);
  return text !== undefined && /^tws:v\d+:/.test(text);
}

/** The text inside `{"$enc": text}`, or the value itself when it is a string. */
export function encryptedText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length !== 1 || only?.[0] !== '$enc') return undefined;
  return typeof only[1] === 'string' ? only[1] : undefined;
}

/**
 * Whether a text may be of the format of earlier projects, `<salt>:<cipher>` in hex. Digests can look
 * the same: ask only where a secret is expected.
 */
export function isOlderFormat(value: string): boolean {
  return /^(?:[0-9a-f]{2}){8,}:(?:[0-9a-f]{2})+$/.test(value);
}
