import { jsonPieces } from './json-pieces.js';

/** A result whose JSON is longer than this, in bytes, is kept as an attachment of its job. */
export const mostResultBytes = 65_536;

/** What stands in a step for a result that is kept as an attachment. */
export type Reference = { readonly $attachment: string; readonly bytes: number };

/**
 * A result on its way into an attachment. It is made JSON only as it is sent, so that it is in memory
 * once; it must not change meanwhile. In the JSON of its document it is base64, as CouchDB takes
 * attachments there. A class, so that a copy for another thread leaves the method out.
 */
export class BigResult {
  constructor(
    readonly value: unknown,
    /** The length of its JSON. */
    readonly bytes: number,
  ) {}

  toJSON(): string {
    return Buffer.from([...jsonPieces(this.value)].join('')).toString('base64');
  }
}

/** A long result whose JSON is known, on its way into an attachment. */
export function toBigResult(value: unknown, json: string): BigResult {
  return new BigResult(value, Buffer.byteLength(json));
}

/** What a document has for an attachment that is on its way into the database with it. */
export function attachmentWith(big: BigResult): NewAttachment {
  return { content_type: 'application/json', data: big };
}

/** An attachment on its way into the database. */
export type NewAttachment = { readonly content_type: 'application/json'; readonly data: BigResult };

type Attempt = { readonly path: string; readonly attempt: number };

/** The name of the attachment that holds the result of an attempt. */
export function attachmentName({ path, attempt }: Attempt): string {
  return `result-${path}-${attempt}.json`;
}

/** What an attempt keeps as its result when the result itself goes into an attachment. */
export function referenceTo(step: Attempt, { bytes }: BigResult): Reference {
  return { $attachment: attachmentName(step), bytes };
}

/**
 * The attachment that holds the result of a step; undefined when the step holds it itself. A result
 * that only looks like a reference names no attachment of its own attempt.
 */
export function attachmentOf(step: Attempt & { readonly result?: unknown }): string | undefined {
  const { result } = step;
  if (typeof result !== 'object' || result === null || !('$attachment' in result)) return undefined;
  const name = attachmentName(step);
  return result.$attachment === name ? name : undefined;
}

type Attachments = Readonly<Record<string, unknown>> | undefined;

/**
 * The result in an attachment that is on its way into the database with its job; undefined when the
 * attachment is stored already, or is not there.
 */
export function contentOnItsWay(
  attachments: Attachments,
  name: string,
): { readonly value: unknown } | undefined {
  const { data } = (attachments?.[name] ?? {}) as Partial<NewAttachment>;
  return data === undefined ? undefined : { value: data.value };
}

/** Whether a document has attachments whose contents are on their way into the database with it. */
export function isOnItsWay(doc: { readonly [key: string]: unknown }): boolean {
  return Object.values(doc['_attachments'] ?? {}).some(
    (one: unknown) => typeof one === 'object' && one !== null && 'data' in one,
  );
}
