import {
  PluginError,
  decodedText,
  fetchWithin,
  isTemporary,
  quoteOf,
  requestMistake,
  retryAfter,
  textsSent,
  type FetchAnswer,
  type PluginContext,
} from '../src/plugin/index.js';
import { readLimited } from './_http/body.js';
import { invalidRequest, toRequest, type RequestParams } from './_http/request.js';

export const description = 'Makes an HTTP request; its result is the status, headers and body';

export const params = {
  type: 'object',
  required: ['url'],
  properties: {
    url: { type: 'string', minLength: 1 },
    method: { type: 'string', description: 'GET, or POST where something is sent' },
    headers: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
    query: { type: 'object' },
    json: { description: 'sent as JSON' },
    body: { type: 'string', description: 'sent as it is' },
    auth: {
      type: 'object',
      description: 'user and pass, or token',
      properties: {
        user: { type: 'string' },
        pass: { type: 'string' },
        token: { type: 'string' },
      },
    },
    expect: { type: 'array', items: { type: 'integer' }, description: 'statuses; else 200 to 299' },
    redirect: { enum: ['follow', 'manual', 'error'] },
    response: {
      enum: ['auto', 'json', 'text', 'base64'],
      description: 'auto gives bytes that are no text as base64, with body_encoding: base64',
    },
    max_bytes: { type: 'integer', minimum: 1, description: 'of the response; 1 MiB when absent' },
  },
};

type Params = RequestParams & {
  readonly expect?: readonly number[];
  readonly response?: 'auto' | 'json' | 'text' | 'base64';
  readonly max_bytes?: number;
};

const mebibyte = 1024 * 1024;
export default async function httpRequest(context: PluginContext<Params>): Promise<unknown> {
  const { params, signal, key, egress } = context;
  const { url, options } = toRequest(params, key);
  const response = await fetchWithin(url, { ...options, signal, egress }).catch(
    (error: unknown) => {
      if (signal.aborted || error instanceof PluginError) throw error;
      const mistake = requestMistake(error);
      throw mistake === undefined
        ? unreachable(options.method, url, error)
        : invalidRequest(mistake);
    },
  );
  const bytes = await readLimited(response, params.max_bytes ?? mebibyte);
  const { status } = response;
  const expected = params.expect ? params.expect.includes(status) : response.ok;
  if (!expected) {
    const sent = textsSent(options.headers.values(), options.body ?? '', url);
    const answer = decodedText(bytes, response.headers.get('content-type') ?? '');
    const quote = quoteOf(answer ?? bytes.toString('latin1'), sent);
    throw refused(options.method, url, response, quote);
  }
  // The request was made, whatever has come meanwhile.
  return context.done({
    status,
    headers: headersOf(response),
    ...toBody(bytes, params.response ?? 'auto', response),
  });
}

/** The headers by name; `set-cookie`, the one that may not be joined, is a list where it comes often. */
function headersOf({ headers }: FetchAnswer): Readonly<Record<string, string | string[]>> {
  const cookies = headers.getSetCookie();
  return {
    ...Object.fromEntries(headers),
    ...(cookies.length > 1 ? { 'set-cookie': cookies } : {}),
  };
}

/** Bytes that are no text are given as base64, and said to be, unless a text was asked for. */
function toBody(
  bytes: Buffer,
  as: NonNullable<Params['response']>,
  { headers }: FetchAnswer,
): { readonly body: unknown; readonly body_encoding?: 'base64' } {
  const type = headers.get('content-type') ?? '';
  const isJson = as === 'json' || (as === 'auto' && /^[^;]*[/+]json\b/i.test(type));
  if (as === 'base64') return { body: bytes.toString('base64') };
  const text = decodedText(bytes, type);
  if (text === undefined) {
    if (as !== 'auto' || isJson) throw invalidAnswer('a text in the encoding that it names');
    return { body: bytes.toString('base64'), body_encoding: 'base64' };
  }
  if (!isJson || text === '') return { body: text };
  try {
    return { body: JSON.parse(text) as unknown };
  } catch (cause) {
    throw invalidAnswer('the JSON that it should be', cause);
  }
}

function invalidAnswer(what: string, cause?: unknown): PluginError {
  return new PluginError(`The answer is not ${what}.`, {
    name: 'HttpAnswerInvalid',
    retryable: false,
    cause,
  });
}

function refused(method: string, url: URL, response: FetchAnswer, quote: string): PluginError {
  const { status, headers } = response;
  const delay = retryAfter(headers.get('retry-after'), Date.now());
  return new PluginError(
    `${method} ${withoutSecrets(url)} answered ${status}${quote === '' ? '.' : `: ${quote}`}`,
    {
      name: 'HttpStatus',
      code: status,
      retryable: isTemporary(status),
      ...(isTemporary(status) && delay !== undefined ? { retryAfter: delay } : {}),
    },
  );
}

function unreachable(method: string, url: URL, error: unknown): PluginError {
  const cause = (error as { readonly cause?: NodeJS.ErrnoException }).cause;
  const reason = cause?.message || (error as Error).message;
  return new PluginError(`${method} ${withoutSecrets(url)} got no answer: ${reason}`, {
    name: 'HttpUnreachable',
    ...(cause?.code === undefined ? {} : { code: cause.code }),
    cause: error,
  });
}

/** Names, passwords and queries often carry secrets, and this goes into the job document. */
const withoutSecrets = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}`;
