/** Whether a value was encrypted by `tws encrypt`, alone or as `{"$enc": …}`. Later versions count, too. */
export function isEncrypted(value: unknown): boolean {
  const text = encryptedText(value);
  return text !== undefined && /^tws:v\d+:/.test(text);
}

/** The text inside `{"$enc": text}`, or the value itself when it is a string. */
export function encryptedText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  // Any value of a document is asked, also an object of ten thousand keys.
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, '$enc'))
    return undefined;
  const { $enc: text } = value as { readonly $enc: unknown };
  return typeof text === 'string' && Object.keys(value).length === 1 ? text : undefined;
}

/**
 * Whether a text may be of the format of earlier projects, `<salt>:<cipher>` in hex. Digests can look
 * the same: ask only where a secret is expected.
 */
export function isOlderFormat(value: string): boolean {
  return /^(?:[0-9a-f]{2}){8,}:(?:[0-9a-f]{2})+$/.test(value);
}
