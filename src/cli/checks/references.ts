import type { DefinitionKind } from '../../client.js';
import { failure } from '../../model/failures.js';
import { isObject } from '../../model/dialects.js';
import { parseDocument } from '../../model/parse.js';
import { defaultOwner, keyOf } from '../../model/task.js';
import { leavesOf } from '../../model/tree.js';
import type { Flow } from '../../model/flow.js';
import type { FileProblem, Written } from '../files.js';

/** A document of a file, as far as it is well formed. */
export type Checked = { readonly file: string; readonly doc: Written };

/** Looks a definition up in the database: its document, or undefined. */
export type LookUp = (
  kind: DefinitionKind,
  name: string,
  owner: string,
) => Promise<Written | undefined>;

export type References = {
  readonly problems: readonly FileProblem[];
  /** What may be right elsewhere or later: it does not stop a push. */
  readonly warnings: readonly FileProblem[];
};

/** Checks what documents say about each other: names that are nowhere, handlers in a circle. */
export async function checkReferences(
  documents: readonly Checked[],
  lookUp: LookUp,
): Promise<References> {
  const find = finder(documents, lookUp);
  const problems: FileProblem[] = [...duplicates(documents)];
  const warnings: FileProblem[] = [];
  for (const { file, doc } of documents) {
    for (const { kind, name, path } of namesIn(doc)) {
      const found = await find(kind, name, ownerOf(doc));
      if (found !== undefined) continue;
      const message = `${path} names the ${kind} "${name}", which neither these files nor the database hold.`;
      warnings.push({ file, path, message });
    }
    const circle = await circleFrom(doc, find);
    if (circle !== undefined) {
      const { message } = failure('HandlerCycle', { names: circle.join(' -> ') });
      problems.push({ file, path: 'error', message });
    }
  }
  return { problems, warnings };
}

type Find = (kind: DefinitionKind, name: string, owner: string) => Promise<Written | undefined>;

/** The owner's own definition first, then the one of everybody; files before the database. */
function finder(documents: readonly Checked[], lookUp: LookUp): Find {
  const inFiles = new Map<string, Written>();
  for (const { doc } of documents) inFiles.set(nameKey(doc), doc);
  const asked = new Map<string, Promise<Written | undefined>>();
  const one = (kind: DefinitionKind, name: string, owner: string): Promise<Written | undefined> => {
    const key = `${kind} ${keyOf(name, owner)}`;
    const own = inFiles.get(key);
    if (own !== undefined) return Promise.resolve(own);
    const known = asked.get(key) ?? lookUp(kind, name, owner);
    asked.set(key, known);
    return known;
  };
  return async (kind, name, owner) =>
    (await one(kind, name, owner)) ??
    (owner === defaultOwner ? undefined : one(kind, name, defaultOwner));
}

function nameKey(doc: Written): string {
  return `${String(doc['type'])} ${keyOf(String(doc['name']), ownerOf(doc))}`;
}

function ownerOf({ owner }: Written): string {
  return typeof owner === 'string' ? owner : defaultOwner;
}

/** Two files must not define the same name for the same owner. */
function duplicates(documents: readonly Checked[]): readonly FileProblem[] {
  const first = new Map<string, string>();
  return documents.flatMap(({ file, doc }) => {
    if (doc['type'] === 'job') return [];
    const key = nameKey(doc);
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, file);
      return [];
    }
    const what = `${String(doc['type'])} "${String(doc['name'])}" of owner "${ownerOf(doc)}"`;
    return [{ file, path: 'name', message: `The ${what} is defined by ${before}, too; keep one.` }];
  });
}

type Named = { readonly kind: DefinitionKind; readonly name: string; readonly path: string };

/** Every task and flow that a document names, with the place where it does. */
function namesIn(doc: Written): readonly Named[] {
  const parsed = parseDocument({ ...doc, _id: 'new', _rev: '0-0' });
  if (parsed.kind === 'other' || !parsed.ok) return [];
  switch (parsed.kind) {
    case 'task': {
      const { error, flow } = parsed.value;
      return [...named('task', error, 'error'), ...named('flow', flow, 'flow')];
    }
    case 'flow':
      return flowNames(parsed.value);
    case 'job': {
      const { flow } = doc;
      return typeof flow === 'string' ? named('flow', flow, 'flow') : [];
    }
    case 'request':
    case 'engine':
      return [];
  }
}

function flowNames({ tasks, cancel, error }: Flow): readonly Named[] {
  const inTree = (tree: Flow['tasks'], root: string): readonly Named[] =>
    leavesOf(tree).flatMap(({ entry, path }) => {
      const at = `${root}.sequence${jsonPath(path)}`;
      return [...named('task', entry.task, at), ...named('task', entry.error, `${at}.error`)];
    });
  return [
    ...inTree(tasks, 'tasks'),
    ...(cancel === undefined ? [] : inTree(cancel, 'cancel')),
    ...named('task', error?.name, 'error'),
  ];
}

/** `0.sequence.1` -> `[0].sequence[1]`. */
function jsonPath(path: string): string {
  return path
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}

function named(kind: DefinitionKind, name: string | undefined, path: string): readonly Named[] {
  return name === undefined ? [] : [{ kind, name, path }];
}

/** The names of a circle that the error handler of this document leads into. */
async function circleFrom(doc: Written, find: Find): Promise<readonly string[] | undefined> {
  const owner = ownerOf(doc);
  const seen: string[] = doc['type'] === 'task' ? [String(doc['name'])] : [];
  let next = handlerOf(doc);
  while (next !== undefined) {
    const at = seen.indexOf(next);
    if (at >= 0) return [...seen.slice(at), next];
    seen.push(next);
    next = handlerOf((await find('task', next, owner)) ?? {});
  }
  return undefined;
}

function handlerOf({ error }: Written): string | undefined {
  if (typeof error === 'string') return error;
  if (isObject(error) && typeof error['name'] === 'string') return error['name'];
  return undefined;
}
