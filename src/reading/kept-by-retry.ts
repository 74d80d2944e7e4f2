import type { StoredDocument } from '../model/document.js';
import type { LiveJob } from '../model/job.js';
import { paramsRead } from '../model/param-keys.js';
import type { Node, Structure } from '../model/tree.js';
import { kindOf } from '../structures/kinds.js';
import { definedPath, placeWord } from '../structures/paths.js';
import { structuresIn } from '../structures/tree.js';
import { countsSince } from './attempts.js';
import { parseDocument } from './parse.js';
import { readSteps } from './step-reading.js';

/**
 * Returns what a retry with other parameters leaves as it was, in sentences, with what to do about it: a map
 * keeps the list with which it began and a choice the case it took, unless the retry begins them anew.
 * `doc` is the job after the retry, `params` what was changed. Undefined: all of it takes effect.
 */
export function keptByRetry(
  doc: StoredDocument,
  params: Readonly<Record<string, unknown>>,
): string | undefined {
  const parsed = parseDocument(doc);
  const { tasks, run } = doc as { readonly tasks?: Node; readonly run?: number };
  if (parsed.kind !== 'job' || !parsed.ok || tasks === undefined) return undefined;
  const since = (path: string): number => countsSince(parsed.value as LiveJob, path);
  const kept = new Set(
    readSteps(doc)
      .filter((step) => step.structure !== undefined)
      .filter((step) => step.run < Number(run) && step.run >= since(step.path))
      .map(({ path }) => definedPath(path)),
  );
  const sentences = structuresIn(tasks)
    .filter(({ path }) => kept.has(path))
    .flatMap(({ node, path }) => sentenceOf(node, path, { params, id: doc._id }));
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

type Asked = { readonly params: Readonly<Record<string, unknown>>; readonly id: string };

function sentenceOf(node: Structure, path: string, { params, id }: Asked): readonly string[] {
  const keeps = keepingWords[node.structure];
  const read = paramsRead(kindOf(node).finding?.asks(node, []) ?? []);
  const [key] = Object.keys(params).filter((one) => read.has(one));
  if (keeps === undefined || key === undefined) return [];
  const word = node.name ?? placeWord(path);
  const at = path === '' ? 'that is the whole flow' : `at ${path}`;
  const called = node.name === undefined ? at : `"${node.name}"`;
  const todo = `Let it begin anew with \`tws retry ${id} --from ${word}\`.`;
  return [`The ${node.structure} ${called} ${keeps} and does not read "${key}" again. ${todo}`];
}

/** A loop asks again before each round. */
const keepingWords: Readonly<Record<string, string>> = {
  map: 'keeps the list with which it began',
  choice: 'keeps the case that it took',
};
