/** A result whose JSON is longer than this, in bytes, is kept as an attachment of its job. */
export const mostResultBytes = 65_536;

/** What stands in a step for a result that is kept as an attachment. */
export type Reference = { readonly $attachment: string; readonly bytes: number };

/** A result on its way into an attachment: the length of its JSON in bytes, and the JSON in base64. */
export type BigResult = { readonly bytes: number; readonly data: string };

/** A result, as JSON, on its way into an attachment. */
export function toBigResult(json: string): BigResult {
  const bytes = Buffer.from(json);
  return { bytes: bytes.length, data: bytes.toString('base64') };
}

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
  const { data } = (attachments?.[name] ?? {}) as { readonly data?: unknown };
  if (typeof data !== 'string') return undefined;
  return { value: JSON.parse(Buffer.from(data, 'base64').toString()) as unknown };
}

/** Whether a document has attachments whose contents are on their way into the database with it. */
export function isOnItsWay(doc: { readonly [key: string]: unknown }): boolean {
  return Object.values(doc['_attachments'] ?? {}).some(
    (one: unknown) => typeof one === 'object' && one !== null && 'data' in one,
  );
}
