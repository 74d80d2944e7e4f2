import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import {
  usualToleranceMs,
  type HookCheck,
  type HookHmac,
  type HookToken,
} from '../../model/hook.js';
import { writtenSpanMs } from '../../model/span.js';

/** A request to a hook, as it came in. */
export type HookRequest = {
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The body as it was sent: a signature is about its bytes. */
  readonly raw: Uint8Array;
};

/** What a request is checked against: secrets in clear, each of which is valid, and the time (epoch ms). */
export type HookProof = { readonly secrets: readonly string[]; readonly now: number };

/**
 * Whether a sender has proved itself. Tokens and signatures are compared in constant time. Signatures follow
 * GitHub, Stripe and Slack, or the Standard Webhooks specification (https://www.standardwebhooks.com).
 */
export function isProved(check: HookCheck, request: HookRequest, proof: HookProof): boolean {
  const { token, hmac, standard_webhooks: standard } = check;
  if (token !== undefined) return hasToken(token, request, proof.secrets);
  if (hmac !== undefined) return isSigned(hmac, request, proof);
  return standard !== undefined && isStandard(standard, request, proof);
}

function hasToken(
  { header, query, prefix = '' }: HookToken,
  request: HookRequest,
  secrets: readonly string[],
): boolean {
  const given =
    header === undefined ? request.query[query ?? ''] : request.headers[header.toLowerCase()];
  if (typeof given !== 'string' || !given.startsWith(prefix)) return false;
  const token = digest(given.slice(prefix.length));
  return some(secrets, (secret) => timingSafeEqual(digest(secret), token));
}

/** Texts of any length become bytes of one length. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Whether one fits; all are looked at, so that the time tells nothing. */
function some<T>(all: readonly T[], fits: (one: T) => boolean): boolean {
  return all.filter(fits).length > 0;
}

function isSigned(hmac: HookHmac, { headers, raw }: HookRequest, proof: HookProof): boolean {
  const { header, algorithm = 'sha256', encoding = 'hex', prefix = '' } = hmac;
  const { time, signatures } = partsOf(hmac, headers[header.toLowerCase()] ?? '', headers);
  if (hasTime(hmac) && !isFresh(time, hmac.tolerance, proof.now)) return false;
  const content = signedContent(hmac, raw, time ?? '');
  const given = signatures
    .filter((one) => one.startsWith(prefix))
    .map((one) => Buffer.from(one.slice(prefix.length), encoding));
  return some(proof.secrets, (secret) => {
    const expected = createHmac(algorithm, secret).update(content).digest();
    return some(given, (one) => isEqual(one, expected));
  });
}

function hasTime({ fields, timestamp }: HookHmac): boolean {
  return fields !== undefined || timestamp !== undefined;
}

function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

type Parts = { readonly time: string | undefined; readonly signatures: readonly string[] };

/** `t=1,v1=aa,v1=bb` has the time 1 and two signatures. */
function partsOf(
  { fields, timestamp }: HookHmac,
  text: string,
  headers: HookRequest['headers'],
): Parts {
  if (fields === undefined) {
    return { time: headers[timestamp?.toLowerCase() ?? ''], signatures: [text.trim()] };
  }
  const pairs = text.split(',').map((pair) => {
    const [key = '', ...value] = pair.split('=');
    return [key.trim(), value.join('=').trim()] as const;
  });
  const of = (name: string) => pairs.filter(([key]) => key === name).map(([, value]) => value);
  return { time: of(fields.timestamp)[0], signatures: of(fields.signature) };
}

function isFresh(
  time: string | undefined,
  tolerance: string | number = usualToleranceMs,
  now: number,
): boolean {
  if (time === undefined || !/^\d{1,12}$/.test(time)) return false;
  return Math.abs(now - Number(time) * 1_000) <= writtenSpanMs(tolerance);
}

function signedContent(hmac: HookHmac, raw: Uint8Array, time: string): Buffer {
  const { signed = hasTime(hmac) ? '{timestamp}.{body}' : '{body}' } = hmac;
  const [before = '', after = ''] = signed.replaceAll('{timestamp}', time).split('{body}');
  return Buffer.concat([Buffer.from(before), raw, Buffer.from(after)]);
}

type Standard = NonNullable<HookCheck['standard_webhooks']>;

function isStandard(
  { tolerance }: Standard,
  { headers, raw }: HookRequest,
  { secrets, now }: HookProof,
): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': all } = headers;
  if (id === undefined || all === undefined || !isFresh(time, tolerance, now)) return false;
  const given = all
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice('v1,'.length), 'base64'));
  return some(secrets, (secret) => {
    const expected = standardSignature(secret, id, time ?? '', raw);
    return some(given, (one) => isEqual(one, expected));
  });
}

function standardSignature(secret: string, id: string, time: string, raw: Uint8Array): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(`${id}.${time}.`).update(raw).digest();
}

/** What a delivery is signed for: `id` names it where the check wants a name. */
export type ToSign = { readonly raw: Uint8Array; readonly now: number; readonly id: string };

/**
 * Returns the headers, and the parameters of the address, by which a sender that has the secret proves
 * itself: `tws hook test` sends them.
 */
export function proofOf(
  { token, hmac, standard_webhooks: standard }: HookCheck,
  secret: string,
  { raw, now, id }: ToSign,
): { readonly headers: Readonly<Record<string, string>>; readonly query: Record<string, string> } {
  const time = String(Math.floor(now / 1_000));
  if (standard !== undefined) {
    const signature = standardSignature(secret, id, time, raw).toString('base64');
    const headers = { 'webhook-id': id, 'webhook-timestamp': time };
    return { headers: { ...headers, 'webhook-signature': `v1,${signature}` }, query: {} };
  }
  if (hmac !== undefined)
    return { headers: signatureHeaders(hmac, secret, { raw, time }), query: {} };
  const { header, query, prefix = '' } = token ?? { header: undefined, query: undefined };
  if (header !== undefined) return { headers: { [header]: `${prefix}${secret}` }, query: {} };
  return { headers: {}, query: query === undefined ? {} : { [query]: `${prefix}${secret}` } };
}

function signatureHeaders(
  hmac: HookHmac,
  secret: string,
  { raw, time }: { readonly raw: Uint8Array; readonly time: string },
): Readonly<Record<string, string>> {
  const { header, algorithm = 'sha256', encoding = 'hex', prefix = '', fields, timestamp } = hmac;
  const hash = createHmac(algorithm, secret).update(signedContent(hmac, raw, time));
  const signature = `${prefix}${hash.digest(encoding)}`;
  if (fields !== undefined) {
    return { [header]: `${fields.timestamp}=${time},${fields.signature}=${signature}` };
  }
  return { [header]: signature, ...(timestamp !== undefined && { [timestamp]: time }) };
}
