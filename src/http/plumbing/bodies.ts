import { addTo } from '../../model/grouped.js';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { problem } from '../../errors.js';
import { mostDocuments } from '../../validate/limits.js';
import { isOjsPath, ojsType } from '../ojs/protocol.js';

/** Deeper JSON is refused before anything walks it call by call. */
const deepest = 200;

const mediaTypes = ['application/json', 'application/x-ndjson'] as const;

/** The media types of bodies that are understood at an address. */
export function mediaTypesAt(url: string): readonly string[] {
  return isOjsPath(url) ? [ojsType, 'application/json'] : mediaTypes;
}

/**
 * Reads JSON and NDJSON in UTF-8, and nothing else. Names that would reach into the prototype of an
 * object are refused, and what would be stored as something else than was sent.
 */
export function acceptBodies(app: FastifyInstance, bodyLimit: number): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  const parseText = (text: string): unknown => {
    let value: unknown;
    let failed: Error | null = null;
    // The parser calls back at once.
    void parse({} as never, text, (error: Error | null, body?: unknown) => {
      failed = error;
      value = body;
    });
    if (failed !== null) throw problem('json_invalid', { reason: whyNot(text, failed) });
    const reason = refusalOf(value);
    if (reason !== undefined) throw problem('json_invalid', { reason });
    return value;
  };
  const asBytes = { parseAs: 'buffer', bodyLimit } as const;
  app.addContentTypeParser([...mediaTypes, ojsType], asBytes, (request, bytes: Buffer, done) => {
    const { headers, url } = request;
    settle(done, () => {
      const known = mediaTypesAt(url);
      const text = textOf(headers, bytes, known);
      const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
      if (!known.includes(type.trim())) throw unknownType(headers['content-type'] ?? '', known);
      if (type.trim() === 'application/x-ndjson') return parseLines(text, parseText);
      return text.trim() === '' ? undefined : parseText(text);
    });
  });
}

/** Hands over the bytes of any body as they came: what is signed is these. */
export function acceptBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes: Buffer, done) =>
    done(null, bytes),
  );
}

const deliveryTypes = ['application/json', 'application/x-www-form-urlencoded', 'text/plain'];

/**
 * Reads the body of a delivery: JSON as its value, a form as an object of its fields, another text as it is.
 * @throws TwsError `media_type_unknown`, `json_invalid`
 */
export function readDelivery(headers: IncomingHttpHeaders, bytes: Buffer): unknown {
  const text = textOf(headers, bytes, deliveryTypes);
  const [given = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const type = given.trim();
  if (type === 'application/x-www-form-urlencoded') return formOf(text);
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) return text;
  if (text.trim() === '') return undefined;
  const value = parsed(text);
  const reason = refusalOf(value);
  if (reason !== undefined) throw problem('json_invalid', { reason });
  return value;
}

/** @throws TwsError `json_invalid` */
function parsed(text: string): unknown {
  try {
    const safe = (key: string, value: unknown): unknown => {
      if (key === '__proto__')
        throw new Error('a name in it is "__proto__", which nobody may send');
      return value;
    };
    return JSON.parse(text, safe);
  } catch (error) {
    const { message } = error as Error;
    throw problem('json_invalid', { reason: reasonOf(new Error(message)) });
  }
}

/** A form with more fields is refused. */
const mostFields = 1_000;

/** A field that is sent several times is a list. @throws TwsError `json_invalid` */
function formOf(text: string): Readonly<Record<string, unknown>> {
  const fields = new URLSearchParams(text);
  if (fields.size > mostFields) {
    throw problem('json_invalid', { reason: `the form has more than ${mostFields} fields.` });
  }
  const values = new Map<string, string[]>();
  for (const [key, value] of fields) addTo(values, key, value);
  values.delete('__proto__');
  return Object.fromEntries([...values].map(([key, all]) => [key, all.length > 1 ? all : all[0]]));
}

/** @throws TwsError `media_type_unknown`, `json_invalid`: bytes that are no UTF-8 are no text */
function textOf(headers: IncomingHttpHeaders, bytes: Buffer, known: readonly string[]): string {
  const { 'content-type': type = '', 'content-encoding': packed = 'identity' } = headers;
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset) || packed.toLowerCase() !== 'identity') {
    const given = packed.toLowerCase() === 'identity' ? type : `${type}, ${packed}`;
    throw unknownType(given, known);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw problem('json_invalid', { reason: 'it is not in UTF-8.' });
  }
}

function unknownType(given: string, known: readonly string[]): Error {
  return problem('media_type_unknown', { given: given.slice(0, 100), known });
}

type Done = (error: Error | null, body?: unknown) => void;

function settle(done: Done, read: () => unknown): void {
  try {
    done(null, read());
  } catch (error) {
    done(error as Error);
  }
}

/** One document in each line; empty lines do not count. */
function parseLines(text: string, parse: (line: string) => unknown): readonly unknown[] {
  const lines = text.split('\n');
  const count = lines.filter((line) => line.trim() !== '').length;
  if (count > mostDocuments) throw problem('bulk_too_many', { count, most: mostDocuments });
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      return [parse(line)];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw problem('json_invalid', { reason: `line ${i + 1}: ${reason}` });
    }
  });
}

/** The parser itself says nothing more than that it refuses a text. */
function whyNot(text: string, failed: Error): string {
  try {
    JSON.parse(text);
    return 'a name in it is "__proto__", or "constructor" with a "prototype", which nobody may send.';
  } catch (error) {
    return reasonOf(error instanceof Error ? error : failed);
  }
}

function reasonOf({ message }: Error): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** Why a value cannot be taken as it is; looks level by level, never call by call. */
function refusalOf(value: unknown): string | undefined {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return `it is nested deeper than ${deepest} levels.`;
    const below: unknown[] = [];
    for (const one of level) {
      if (typeof one === 'number' && !Number.isFinite(one)) return 'a number in it is too large.';
      if (typeof one === 'string' && half.test(one)) return broken;
      if (typeof one !== 'object' || one === null) continue;
      if (!Array.isArray(one) && Object.keys(one).some((key) => half.test(key))) return broken;
      for (const inner of Object.values(one) as unknown[]) below.push(inner);
    }
    level = below;
  }
  return undefined;
}

/** No database keeps it. */
const half = /\p{Surrogate}/u;
const broken = 'a text in it holds half a character (a surrogate without its other half).';
