import { documentKinds, type Client, type DocumentKind } from '../client.js';
import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { listed } from '../words.js';
import { withoutOtherVersions } from './flow-currents.js';
import type { Io } from './io.js';
import { jobTable } from './job-table.js';
import { definitionLine } from './lines.js';

/**
 * The one document that a word means; where it may be several they are listed on stderr.
 * @throws TwsError `name_missing`, `name_ambiguous`
 */
export function theOne(
  found: readonly StoredDocument[],
  name: string,
  kinds: readonly DocumentKind[] | undefined,
  io: Io,
): StoredDocument {
  const ofKind = found.filter(({ type }) => kinds?.some((kind) => kind === type) ?? true);
  const wanted = withoutOtherVersions(ofKind);
  const [doc, ...others] = wanted;
  if (doc === undefined) throw problem('name_missing', { name, kinds: wordsOf(kinds) });
  if (others.length === 0) return doc;
  for (const line of linesOf(wanted, io)) io.warn(line);
  throw problem('name_ambiguous', { name, ids: listed(wanted.map(({ _id }) => _id)) });
}

/** An id, or the name of a flow that has one job. @throws TwsError as `theOne` */
export async function jobIdOf(given: string, client: Client, io: Io): Promise<string> {
  if ((await client.get(given)) !== undefined) return given;
  return theOne(await client.lookUp(given, { kinds: ['job'] }), given, ['job'], io)._id;
}

function wordsOf(kinds: readonly DocumentKind[] = documentKinds): string {
  const last = kinds.at(-1) ?? '';
  return kinds.length < 2 ? last : `${kinds.slice(0, -1).join(', ')} or ${last}`;
}

function linesOf(docs: readonly StoredDocument[], io: Io): readonly string[] {
  const plain = { resultsOnTerminal: io.isTerminal, style: (_: unknown, text: string) => text };
  const isJob = ({ type }: StoredDocument): boolean => type === 'job';
  const definitions = docs
    .filter((doc) => !isJob(doc))
    .map((doc) => `${String(doc['type'])}  ${definitionLine(doc, { ...io, ...plain })}`);
  return [...definitions, ...jobTable(docs.filter(isJob), Date.now(), plain)];
}
