const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection broken',
  EPIPE: 'connection broken',
  ERR_STREAM_PREMATURE_CLOSE: 'connection broken',
  UND_ERR_SOCKET: 'connection broken',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  EHOSTUNREACH: 'no way to the host',
  ENETUNREACH: 'no way to the network',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
};

/** Why a request got no answer, in a few words for a sentence: "connection refused". */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || /due to timeout/.test(error.message)) {
    return 'no answer in time';
  }
  if (error instanceof AggregateError) return causeOf(error.errors[0]);
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string' && words[code] !== undefined) return words[code];
  if (cause instanceof Error) return causeOf(cause);
  return inText(error.message);
}

/** nano leaves only the text of a failed connection, and of several addresses only their number. */
function inText(message: string): string {
  const code = /\b(E[A-Z]{4,}|UND_ERR_[A-Z_]+)\b/.exec(message)?.[0];
  if (code !== undefined && words[code] !== undefined) return words[code];
  if (message.includes('AggregateError')) return 'connection refused';
  if (/other side closed|aborted|socket hang up/.test(message)) return 'connection broken';
  return message.replace(/^error happened in your connection\. Reason: (\w*Error: )?/, '');
}
