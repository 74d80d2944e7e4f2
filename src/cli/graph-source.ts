import { existsSync } from 'node:fs';
import type { Client } from '../client.js';
import type { Config } from '../config/load.js';
import { problem } from '../errors.js';
import { ambiguityText, asVersion } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import { parseDocument } from '../reading/parse.js';
import type { StoredDocument } from '../model/document.js';
import { defaultOwner, ownerOf } from '../model/task.js';
import { toTree } from '../structures/to-tree.js';
import type { Structure } from '../model/tree.js';
import type { ShownJob } from '../reading/trail.js';
import { findFiles, readJsonFile } from './files.js';
import type { Io } from './io.js';
import { theOne } from './naming.js';
import { resolvePath, shownPath } from './paths.js';
import { problemLine } from './problems.js';

/** What is to be drawn: its tree, what is known besides, and what it is called. */
export type Drawn = {
  readonly title: string;
  readonly tree: Structure;
  readonly about: ShownJob;
};

/** Whether a word is the name of a file rather than of something stored. */
export function isFileName(given: string, { cwd }: Pick<Io, 'cwd'>, { root }: Config): boolean {
  const path = resolvePath(given, { cwd, root });
  return given.startsWith('~tws') || (given.endsWith('.json') && existsSync(path));
}

/**
 * The flow or job in a file, with the tasks of the project beside it.
 * @throws TwsError `file_missing`, `file_unusable`
 */
export async function fromFile(given: string, io: Io, { root }: Config): Promise<Drawn> {
  const place = { cwd: io.cwd, root };
  const path = resolvePath(given, place);
  const shown = shownPath(path, place);
  if (!existsSync(path)) throw problem('file_missing', { file: shown });
  const read = await readJsonFile({ path, shown, named: true });
  if (!read.ok) throw problem('file_unusable', { file: shown, reason: read.problem.message });
  const doc = { _id: shown, _rev: '0-0', ...read.doc };
  const { type } = doc as Readonly<Record<string, unknown>>;
  if (type === 'flow') return drawnFlow(doc, await tasksInFiles(place), shown);
  if (type === 'job' && 'tasks' in doc) return drawnJob(doc, shown);
  throw problem('file_unusable', {
    file: shown,
    reason: 'it holds neither a flow nor a job with tasks of its own.',
  });
}

/** The flow or job of an id or name. @throws TwsError `name_missing`, `name_ambiguous` */
export async function fromDatabase(given: string, client: Client, io: Io): Promise<Drawn> {
  const kinds = ['flow', 'job'] as const;
  const flows = await client.lookUp(given, { kinds: ['flow'] });
  const found = flows.length > 0 ? flows : await client.lookUp(given, { kinds: ['job'] });
  const doc = theOne(found, given, kinds, io);
  if (doc['type'] === 'flow') {
    return drawnFlow(doc, await client.definitions('task'), doc._id);
  }
  if ('tasks' in doc) return drawnJob(doc, doc._id);
  const named = { name: String(doc['flow']), owner: ownerOf(doc) };
  const choice = await client.chosenFlow(named, { version: asVersion(doc['flow_version']) });
  if (choice.kind === 'none') throw problem('name_missing', { name: named.name, kinds: 'flow' });
  if (choice.kind === 'absent') {
    const [version, versions] = [asVersion(doc['flow_version']) ?? '', choice.versions.join(', ')];
    throw problem('flow_version_missing', { given: named.name, version, versions });
  }
  if (choice.kind === 'ambiguous') {
    const ids = choice.docs.map(({ _id }) => _id);
    const why = ambiguityText(choice.cause, ids);
    throw problem('definition_ambiguous', { kind: 'flow', ...named, ids, why });
  }
  const drawn = drawnFlow(choice.doc, await client.definitions('task'), choice.doc._id);
  const { state, exit } = doc as ShownJob;
  const about = { ...drawn.about, ...stateOf(state, exit), steps: [] };
  return { ...drawn, title: `Job ${doc._id}`, about };
}

function stateOf(state: unknown, exit: unknown): ShownJob {
  return {
    ...(typeof state === 'string' ? { state } : {}),
    ...(typeof exit === 'number' ? { exit } : {}),
  };
}

function drawnFlow(
  doc: StoredDocument,
  tasks: readonly Readonly<Record<string, unknown>>[],
  shown: string,
): Drawn {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'flow' || !parsed.ok) throw unreadable(parsed, shown);
  const { tasks: tree, ...settings } = parsed.value;
  const ofFlow = tasks.filter((task) => [settings.owner, defaultOwner].includes(ownerOf(task)));
  // The owner's own task comes last and so before everybody's.
  const sorted = ofFlow.toSorted((a) => (ownerOf(a) === defaultOwner ? -1 : 1));
  const definitions = Object.fromEntries(sorted.map((task) => [String(task['name']), task]));
  const about = { flow_definition: settings, definitions } as unknown as ShownJob;
  return { title: `Flow ${settings.name}`, tree, about };
}

/** A job that has begun has all it needs; one in a file only its tasks. */
function drawnJob(doc: StoredDocument, shown: string): Drawn {
  const { state, tasks } = doc;
  if (typeof state === 'string' && isObject(tasks) && Array.isArray(doc['steps'])) {
    const about = doc as unknown as ShownJob;
    return { title: `Job ${shown}`, tree: toTree(tasks), about };
  }
  const parsed = parseDocument({ ...doc, type: 'job' });
  if (parsed.kind !== 'job' || !parsed.ok) throw unreadable(parsed, shown);
  const { tasks: tree } = parsed.value as { readonly tasks?: Structure };
  if (tree === undefined) throw problem('name_missing', { name: shown, kinds: 'flow' });
  return { title: `Job ${shown}`, tree, about: {} };
}

function unreadable(parsed: ReturnType<typeof parseDocument>, file: string): Error {
  const [first] = 'problems' in parsed ? parsed.problems : [];
  const { path, message } = first ?? { path: '', message: 'It cannot be read.' };
  const reason = problemLine({ file, path, message }).slice(`${file}: `.length);
  return problem('file_unusable', { file, reason });
}

/** The tasks of the project's files: they tell of handlers. */
async function tasksInFiles(place: {
  readonly cwd: string;
  readonly root: string;
}): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (!existsSync(resolvePath('~tws/tasks', place))) return [];
  const { files } = await findFiles(['~tws/tasks'], place);
  const read = await Promise.all(files.map(readJsonFile));
  return read.flatMap((one) => (one.ok && one.doc['type'] === 'task' ? [one.doc] : []));
}
