import { createHash } from 'node:crypto';
import { BigResult } from '../model/big-result.js';
import type { StoredDocument } from '../model/document.js';
import type { WriteResult } from '../store/batch.js';
import { usualDocumentLimit } from '../store/document-limit.js';
import type { NewDocument } from '../store/writer.js';
import { generationIn } from './revisions.js';

/** What a document holds beside its JSON, by the digest of its bytes. */
export type MemoryAttachments = Map<string, Buffer>;

type Refused = Extract<WriteResult, { kind: 'refused' }>;

const special = new Set(['_id', '_rev', '_deleted', '_attachments', '_revisions']);

/** A half of a character, which no UTF-8 has. */
const halfCharacter = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/**
 * The copy of a document that is stored (X12), with its attachments beside it; or why a CouchDB would
 * refuse it. `stubsOf`: the attachments of the revision upon which it is written.
 */
export function storedForm(
  given: NewDocument,
  mostBytes: number,
  stubsOf: (rev: string | undefined) => Readonly<Record<string, unknown>>,
  attachments: MemoryAttachments,
): { readonly kind: 'form'; readonly doc: NewDocument } | Refused {
  const { _attachments: attached, ...rest } = given;
  let json: string;
  try {
    json = JSON.stringify(rest);
  } catch {
    return refused('The document cannot be made JSON.');
  }
  const bytes = Buffer.byteLength(json);
  if (bytes > mostBytes) {
    return { ...refused(`The document is ${bytes} bytes long, of ${mostBytes} allowed.`), bytes };
  }
  if (bytes > usualDocumentLimit) return refused('The document is too large for this CouchDB.');
  const doc = JSON.parse(json.replace(halfCharacter, '$1\ufffd')) as NewDocument;
  const problem = problemOf(doc);
  if (problem !== undefined) return refused(problem);
  if (attached === undefined) return { kind: 'form', doc };
  const stubs = stored(attached as Attached, stubsOf(doc._rev), attachments, generationAfter(doc));
  return { kind: 'form', doc: { ...doc, _attachments: stubs } };
}

function refused(reason: string): Refused {
  return { kind: 'refused', reason };
}

function problemOf({ _id, _rev, ...doc }: NewDocument): string | undefined {
  if (_id === '') return 'Document id must not be empty';
  if (_id.startsWith('_') && !/^_(design|local)\/./.test(_id)) {
    return 'Only reserved document ids may start with underscore.';
  }
  if (_rev !== undefined && !/^\d+-[0-9a-z]+$/.test(_rev)) return 'Invalid rev format';
  const wrong = Object.keys(doc).find((name) => name.startsWith('_') && !special.has(name));
  return wrong === undefined ? undefined : `Bad special document member: ${wrong}`;
}

function generationAfter({ _rev }: NewDocument): number {
  return _rev === undefined ? 1 : generationIn(_rev) + 1;
}

type Attached = Readonly<
  Record<string, { readonly content_type?: string; readonly data?: unknown } | undefined>
>;

/** The attachments as stubs; their bytes are kept. */
function stored(
  attached: Attached,
  before: Readonly<Record<string, unknown>>,
  attachments: MemoryAttachments,
  revpos: number,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(attached).flatMap(([name, about = {}]) => {
      const { data, content_type } = about;
      if (data === undefined) return name in before ? [[name, before[name]] as const] : [];
      const base64 = data instanceof BigResult ? data.toJSON() : (data as string);
      const bytes = Buffer.from(base64, 'base64');
      const digest = `md5-${createHash('md5').update(bytes).digest('base64')}`;
      attachments.set(digest, bytes);
      const { length } = bytes;
      return [[name, { content_type, revpos, digest, length, stub: true }] as const];
    }),
  );
}

/** The bytes of the attachments of a document, as a copy of it carries them. */
export function withBytes(doc: StoredDocument, attachments: MemoryAttachments): StoredDocument {
  const { _attachments: stubs } = doc;
  if (stubs === undefined) return doc;
  const carried = Object.entries(stubs as Record<string, Stub>).map(([name, stub]) => {
    const { stub: _stub, ...about } = stub;
    const data = attachments.get(about.digest)?.toString('base64') ?? '';
    return [name, { ...about, data }] as const;
  });
  return { ...doc, _attachments: Object.fromEntries(carried) };
}

export type Stub = { readonly digest: string; readonly stub: true };
