import { createHash, createHmac } from 'node:crypto';
import { isTemporary, retryAfter } from './answers.js';
import { usualEgress, type EgressPolicy } from './egress.js';
import { PluginError } from './errors.js';
import { fetchWithin, type FetchAnswer } from './fetch.js';
import { longestQuote, quoteOf, shortestText } from './quote.js';
import { requestMistake, setsHeader } from './request-mistake.js';

/** One message to one address. */
export type Webhook = {
  readonly url: string;
  /** The same for every try of the message, so that receivers can drop what they have had. */
  readonly id: string;
  /** Its JSON. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string | number>> | undefined;
  /** With what it is signed: `whsec_` and base64, or any other text, which is used as it is. */
  readonly secret?: string | undefined;
  /** Which addresses may be reached; absent: what holds without settings. */
  readonly egress?: EgressPolicy | undefined;
  /** Ends the try. */
  readonly signal: AbortSignal;
  /** Epoch ms. */
  readonly now: number;
};

/**
 * Posts a message and resolves with the status of the answer, which is one of 200 to 299. Signed as
 * Standard Webhooks (standardwebhooks.com) says: `webhook-id`, `webhook-timestamp` (s) and
 * `webhook-signature`, `v1,` and the base64 of the HMAC-SHA256 of `<id>.<timestamp>.<body>`. Redirects
 * are not followed: they could lead to where the message must not go.
 * @throws PluginError `WebhookUrlInvalid`, `WebhookHeaderInvalid`, `WebhookSecretInvalid`,
 * `WebhookUnreachable`, `WebhookRefused`, `EgressDenied`; retryable where it may go better later
 */
export async function sendWebhook(webhook: Webhook): Promise<number> {
  const { body, signal } = webhook;
  const url = addressOf(webhook.url);
  const headers = headersOf(webhook);
  const egress = webhook.egress ?? usualEgress;
  const options = { method: 'POST', headers, body, signal, egress, redirect: 'manual' } as const;
  const response = await fetchWithin(url, options).catch((error: unknown) => {
    throw signal.aborted || error instanceof PluginError ? error : unreachable(url, error);
  });
  if (response.ok) {
    await response.body?.cancel();
    return response.status;
  }
  const quote = await beginningOf(response, [...pathsOf(url), ...textsOf(webhook)]);
  throw refused(url, response, withoutPath(quote, url));
}

/** An id for a message that fits into a header, whatever the key is that tells it from all others. */
export function webhookId(key: string): string {
  return `msg_${createHash('sha256').update(key).digest('base64url').slice(0, 32)}`;
}

function addressOf(text: string): URL {
  if (URL.canParse(text)) {
    const url = new URL(text);
    if (/^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  }
  throw wrongUrl('The parameter url must be an address with http or https, without a password.');
}

function wrongUrl(message: string): PluginError {
  return new PluginError(message, { name: 'WebhookUrlInvalid', retryable: false, exit: 3 });
}

function headersOf({ headers = {}, id, body, secret, now }: Webhook): Headers {
  const all = new Headers({ 'content-type': 'application/json', 'user-agent': 'tws' });
  for (const [name, value] of Object.entries(headers)) setHeader(all, name, String(value));
  const timestamp = String(Math.floor(now / 1_000));
  all.set('webhook-id', id);
  all.set('webhook-timestamp', timestamp);
  if (secret === undefined) return all;
  const signed = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`);
  all.set('webhook-signature', `v1,${signed.digest('base64')}`);
  return all;
}

/** These are for the connection, which makes them itself. */
const ofConnection = /^(?:connection|content-length|expect|keep-alive|transfer-encoding|upgrade)$/i;

/** What is wrong with a header is told without its value, which is often a secret. */
function setHeader(headers: Headers, name: string, value: string): void {
  const refuse = (why: string): never => {
    const message = `The header ${JSON.stringify(name)} of the webhook ${why}.`;
    throw new PluginError(message, { name: 'WebhookHeaderInvalid', retryable: false, exit: 3 });
  };
  if (ofConnection.test(name)) refuse('must be left out: it belongs to the connection');
  if (!setsHeader(headers, name, value)) {
    refuse('cannot be sent: its name or a character of its value is not allowed in a header');
  }
}

const prefix = 'whsec_';

function keyOf(secret: string): Buffer {
  if (!secret.startsWith(prefix)) return Buffer.from(secret, 'utf8');
  const text = secret.slice(prefix.length);
  // What is no base64 would be left out in silence, and everybody knows the key that is nothing.
  if (/^[\w+/-]+={0,2}$/.test(text)) return Buffer.from(text, 'base64');
  const message = `The secret of the webhook begins with "${prefix}" and does not go on in base64.`;
  throw new PluginError(message, { name: 'WebhookSecretInvalid', retryable: false, exit: 3 });
}

/** So much of an answer is read to find where the texts end that its quote must not cut, in characters. */
const longestRead = 10_000;

/**
 * Enough of an answer for a sentence; the rest of it is not waited for. A receiver may repeat what it
 * was sent: no text of that is cut through, since half a secret is not known as one by who hides them.
 */
async function beginningOf({ body }: FetchAnswer, sent: readonly string[]): Promise<string> {
  const longest = Math.max(0, ...sent.map(({ length }) => length));
  const enough = Math.min(longestRead, longestQuote + longest);
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
      text += decoder.decode(part, { stream: true });
      if (text.length > enough) break;
    }
  } catch {
    // What came says enough.
  }
  return quoteOf(text, sent);
}

/** The texts of a message that may be secrets: headers, also by word, and strings in the body. */
function textsOf({ headers = {}, secret, body }: Webhook): readonly string[] {
  const given = Object.values(headers).map(String);
  const words = given.flatMap((value) => value.split(/\s+/));
  const strings = (body.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map((one) => one.slice(1, -1));
  const all = [...given, ...words, ...strings, ...(secret === undefined ? [] : [secret])];
  return [...new Set(all)].filter(({ length }) => length >= shortestText);
}

/** Where a message goes, as an answer may repeat it. The longest first. */
function pathsOf({ href, pathname, search }: URL): readonly string[] {
  const all = [href, `${pathname}${search}`, pathname, search, search.slice(1)];
  return all.filter(({ length }) => length >= shortestText);
}

/** Many servers say at which path there is nothing. */
function withoutPath(quote: string, url: URL): string {
  return pathsOf(url).reduce((text, path) => text.replaceAll(path, '[path]'), quote);
}

function refused(url: URL, { status, headers }: FetchAnswer, quote: string): PluginError {
  const isRedirect = status >= 300 && status < 400;
  const why = isRedirect ? ', a redirect, which is not followed' : quote === '' ? '' : `: ${quote}`;
  const delay = retryAfter(headers.get('retry-after'), Date.now());
  const message = `The webhook ${withoutSecrets(url)} answered ${status}${why}`;
  return new PluginError(/[.!?]$/.test(message) ? message : `${message}.`, {
    name: 'WebhookRefused',
    code: status,
    retryable: isTemporary(status),
    ...(isTemporary(status) && delay !== undefined ? { retryAfter: delay } : {}),
  });
}

function unreachable(url: URL, error: unknown): PluginError {
  const cause = (error as { readonly cause?: NodeJS.ErrnoException }).cause;
  const reason = (cause?.message || (error as Error).message).replace(/\s+/g, ' ').trim();
  const mistake = requestMistake(error);
  if (mistake !== undefined) {
    return wrongUrl(`The webhook ${withoutSecrets(url)} cannot be asked: ${mistake}.`);
  }
  return new PluginError(`The webhook ${withoutSecrets(url)} gave no answer: ${reason}`, {
    name: 'WebhookUnreachable',
    ...(cause?.code === undefined ? {} : { code: cause.code }),
    cause: error,
  });
}

/** The path of a webhook is often what keeps others from using it, and this goes into the job. */
const withoutSecrets = (url: URL): string => `${url.protocol}//${url.host}`;
