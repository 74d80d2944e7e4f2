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
  const isBroken = /other side closed|aborted|socket hang up/.test(error.message);
  return isBroken ? 'connection broken' : error.message;
}
