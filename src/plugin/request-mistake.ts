const ofRequest = [
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
];

/**
 * Returns what is wrong with a request that `fetch` refused to send; undefined when it failed on the way,
 * which "fetch failed" with a cause from the network tells.
 */
export function requestMistake(error: unknown): string | undefined {
  const { cause, message } = error as { readonly cause?: NodeJS.ErrnoException; message: string };
  if (cause === undefined) return message;
  if (cause.message === 'bad port') return 'its port is not for HTTP';
  return ofRequest.includes(String(cause.code)) ? cause.message : undefined;
}

/** Sets a header; false: its name or a character of its value cannot be sent. */
export function setsHeader(headers: Headers, name: string, value: string): boolean {
  try {
    headers.set(name, value);
    return true;
  } catch {
    return false;
  }
}
