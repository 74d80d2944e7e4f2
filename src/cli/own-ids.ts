import type { Client } from '../client.js';
import { addTo } from '../model/grouped.js';
import type { StoredDocument } from '../model/document.js';
import { ownerOf } from '../model/task.js';
import type { FileProblem, Written } from '../validate/written.js';

type IdentifiedFile = { readonly shown: string; readonly doc: Written };

/**
 * Files whose `_id` is that of another document: a copied file would take the place of the original. That is
 * another file with the same `_id`, or, where a database is asked, a document of another name or owner.
 */
export async function idProblems(
  files: readonly IdentifiedFile[],
  client?: Client,
): Promise<readonly FileProblem[]> {
  const identified = files.flatMap(({ shown, doc }) =>
    typeof doc['_id'] === 'string' ? [{ shown, doc, id: doc['_id'] }] : [],
  );
  const byId = new Map<string, IdentifiedFile[]>();
  for (const one of identified) addTo<string, IdentifiedFile>(byId, one.id, one);
  const stored = await client?.getMany([...byId.keys()]);
  return identified.flatMap(({ shown, doc, id }) => {
    const there = stored?.get(id);
    const message =
      there !== undefined && isOther(doc, there)
        ? otherText(doc, there)
        : twinText(id, byId.get(id)?.find((other) => other.shown !== shown)?.shown);
    return message === undefined ? [] : [{ file: shown, path: '_id', message }];
  });
}

function twinText(id: string, other: string | undefined): string | undefined {
  if (other === undefined) return undefined;
  return `"${id}" stands in ${other}, too; remove _id from the file that is the copy.`;
}

/** What is said of a file that would replace another document. */
export function otherText(doc: Written, { _id, ...stored }: StoredDocument): string {
  return `"${_id}" is ${identityOf(stored)}, and this file is ${identityOf(doc)}; remove _id from the file, and it is stored as a document of its own.`;
}

/** Whether a document of the same type has another name, queue or owner. */
export function isOther(doc: Written, stored: Written): boolean {
  const { type } = doc;
  return type === stored['type'] && type !== 'job' && identityOf(doc) !== identityOf(stored);
}

function identityOf({ type, name, queue, ...rest }: Written): string {
  if (type === 'queue-control') return `the control of queue "${String(queue)}"`;
  const what = type === 'notify' ? 'the notify list' : `${String(type)} "${String(name)}"`;
  return `${what} of owner "${ownerOf(rest)}"`;
}
