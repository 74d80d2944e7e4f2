import { flowNamed, refusedInJob, sealedInFlow, turnedAway } from './sealed-params.js';
import { closest } from '../model/closest.js';
import { checkDefinitions, type Finding } from '../reading/check.js';
import { finder, flowFinder } from '../reading/definition-lookup.js';
import type { Flow } from '../model/flow.js';
import { versionOf } from '../model/flow-versions.js';
import { parseDocument } from '../reading/parse.js';
import { defaultOwner, keyOf, type Task } from '../model/task.js';
import { isTurnedAway } from '../model/welcome.js';
import type { FileProblem, Written } from './written.js';
import { isSample } from './samples.js';
import { asWritten } from './written-path.js';

/** A document of a file, valid by itself. */
export type CheckedDocument = { readonly file: string; readonly doc: Written };

/** The tasks and flows of the database. */
export type StoredDefinitions = (kind: Finding['kind']) => Promise<readonly Written[]>;

export type References = {
  readonly problems: readonly FileProblem[];
  /** What may be right elsewhere or later: it does not stop a push. */
  readonly warnings: readonly FileProblem[];
  /** The definitions of the files and of the database, a file before the stored one. */
  readonly definitions: Definitions;
};

/** Valid definitions, each called by its file or by its id in the database. */
export type Definitions = {
  readonly tasks: readonly Called<Task>[];
  readonly flows: readonly Called<Flow>[];
};

/**
 * Checks documents of files against each other and against what the database holds. Without a
 * database (`database` is undefined) only warnings remain that nothing in one can refute or that say so.
 */
export async function checkReferences(
  documents: readonly CheckedDocument[],
  database: StoredDefinitions | undefined,
): Promise<References> {
  const stored = database ?? (() => Promise.resolve([]));
  const files = readAll(documents);
  // A file with the id of a stored document takes its place, whatever it is called now.
  const ids = new Set(documents.flatMap(({ doc: { _id: id } }) => (isText(id) ? [id] : [])));
  const all = readAll([...(await stored('task')), ...(await stored('flow'))].map(ofDatabase));
  const isKept = ({ _id }: Called<object>): boolean => !ids.has(_id.replace(inDatabase, ''));
  const kept = { tasks: all.tasks.filter(isKept), flows: all.flows.filter(isKept) };
  const tasks = together(files.tasks, kept.tasks, ownKey);
  const flows = together(
    withCurrents(files.flows, all.flows),
    givingWay(kept.flows, files.flows),
    versionKey,
  );
  const docs = new Map(documents.map(({ file, doc }) => [file, doc]));
  const findings = checkDefinitions({ tasks, flows }, ({ _id = '' }) => docs.has(_id));
  const known = { task: namesOf(tasks), flow: namesOf(flows) };
  const isAsked = database !== undefined;
  const todo: Todo = (missing) => (isAsked ? remedy : remedyUnasked)(missing, known);
  const ofLevel = (level: Finding['level']): readonly FileProblem[] =>
    findings
      .filter((finding) => finding.level === level)
      .filter(({ missing }) => level === 'problem' || isAsked || missing)
      .map(({ id: file = '', path, message, missing }) => {
        const sentence = missing === undefined ? message : `${message} ${todo(missing)}`;
        return { file, ...asWritten({ path, message: sentence }, docs.get(file) ?? {}) };
      });
  return {
    problems: [...ofLevel('problem'), ...sealedParams(documents, { tasks, flows })],
    warnings: [
      ...ofLevel('warning'),
      ...jobsOfNoFlow(documents, flows, { todo, isAsked }),
      ...jobsOfDeprecated(documents, { tasks, flows }),
    ],
    definitions: { tasks, flows },
  };
}

/** What flows, jobs and schedules set although a task seals it: their jobs would be refused. */
function sealedParams(
  documents: readonly CheckedDocument[],
  { tasks, flows }: Definitions,
): readonly FileProblem[] {
  const world = { task: finder(tasks), flow: flowFinder(flows) };
  const byFile = new Map(flows.map((flow) => [flow._id, flow]));
  return documents.flatMap(({ file, doc }) => {
    const flow = doc['type'] === 'flow' ? byFile.get(file) : undefined;
    const isJob = doc['type'] === 'job' || doc['type'] === 'schedule';
    const inJob = isJob ? refusedInJob({ ...doc, type: 'job' }, world) : undefined;
    const found = [
      ...(flow === undefined ? [] : sealedInFlow(flow, world)),
      ...(inJob === undefined ? [] : [inJob]),
    ];
    return found.map((one) => ({ file, ...asWritten(one, doc) }));
  });
}

type Known = Readonly<Record<Finding['kind'], readonly string[]>>;

/** What to do about a name that is nowhere: it is mistyped, one of the samples, or still to come. */
export function remedy({ kind, name }: Missing, known: Known): string {
  const close = closest(name, known[kind]);
  if (close !== undefined) return `Did you mean "${close}"?`;
  if (isSample(kind, name))
    return 'It is one of the samples: store them with `tws push --samples`.';
  return `Push that ${kind}, too, or jobs for it fail.`;
}

/** The same where no database was asked: the name may be there. */
function remedyUnasked({ kind, name }: Missing, known: Known): string {
  const close = closest(name, known[kind]);
  const meant = close === undefined ? '' : ` Did you mean "${close}"?`;
  return `It may be in the database only, which was not asked.${meant}`;
}

type Missing = NonNullable<Finding['missing']>;
/** What to do about a name that is nowhere. */
type Todo = (missing: Missing) => string;

function namesOf(definitions: readonly Named[]): readonly string[] {
  return definitions.map(({ name }) => name);
}

/** A definition that is called by the file it is in, or by its id in the database. */
type Called<T> = T & { readonly _id: string };

function ofDatabase(doc: Written): CheckedDocument {
  return { file: `${String(doc['_id'])}${inDatabase}`, doc };
}

const inDatabase = ' in the database';
const isText = (value: unknown): value is string => typeof value === 'string';

/** What is malformed is told elsewhere. */
function readAll(documents: readonly CheckedDocument[]): Definitions {
  const tasks: Called<Task>[] = [];
  const flows: Called<Flow>[] = [];
  for (const { file, doc } of documents) {
    const parsed = parseDocument({ ...doc, _id: file, _rev: '0-0' });
    if (parsed.kind === 'task' && parsed.ok) tasks.push(parsed.value);
    if (parsed.kind === 'flow' && parsed.ok) flows.push(parsed.value);
  }
  return { tasks, flows };
}

type Named = { readonly name: string; readonly owner?: string };

/** A file stands for the stored document of its name and owner, and of its version. */
function together<T>(
  files: readonly T[],
  stored: readonly T[],
  identity: (one: T) => string,
): readonly T[] {
  const keys = new Set(files.map(identity));
  return [...files, ...stored.filter((one) => !keys.has(identity(one)))];
}

/** What the database says of which version is current counts where no file of the flow says so. */
function withCurrents(
  files: readonly Called<Flow>[],
  stored: readonly Called<Flow>[],
): readonly Called<Flow>[] {
  const told = toldIn(files);
  const kept = new Map(stored.map((flow) => [versionKey(flow), flow]));
  return files.map((flow) => {
    const { current, current_since: since } = kept.get(versionKey(flow)) ?? {};
    if (flow.current !== undefined || told.has(ownKey(flow)) || current !== true) return flow;
    return { ...flow, current, ...(since === undefined ? {} : { current_since: since }) };
  });
}

/** Stored flows of which a file says that another version is current: that takes the place when it is pushed. */
function givingWay(
  stored: readonly Called<Flow>[],
  files: readonly Called<Flow>[],
): readonly Called<Flow>[] {
  const told = toldIn(files);
  return stored.map((flow) => {
    const { current: _current, ...rest } = flow;
    return told.has(ownKey(flow)) ? rest : flow;
  });
}

/** The flows of which a file says which version is current. */
function toldIn(files: readonly Called<Flow>[]): ReadonlySet<string> {
  return new Set(files.filter(({ current }) => current === true).map(ownKey));
}

const ownKey = ({ name, owner }: Named): string => keyOf(name, owner);
const versionKey = (flow: Flow): string =>
  JSON.stringify([keyOf(flow.name, flow.owner), versionOf(flow)]);

function jobsOfNoFlow(
  documents: readonly CheckedDocument[],
  flows: readonly Flow[],
  { todo, isAsked }: { readonly todo: Todo; readonly isAsked: boolean },
): readonly FileProblem[] {
  const keys = new Set(flows.map(({ name, owner }) => keyOf(name, owner)));
  return documents.flatMap(({ file, doc }) => {
    const { type, flow, owner } = doc;
    if (!startsJobs.has(type) || typeof flow !== 'string') return [];
    const own = typeof owner === 'string' ? owner : defaultOwner;
    if (keys.has(keyOf(flow, own)) || keys.has(keyOf(flow, defaultOwner))) return [];
    const missing = { kind: 'flow', name: flow } as const;
    const message = `flow names the flow "${flow}", which ${isAsked ? 'neither these files nor the database hold' : 'none of these files defines'}. ${todo(missing)}`;
    return [{ file, path: 'flow', message }];
  });
}

/** Jobs, schedules and hooks whose flow takes no new jobs. */
function jobsOfDeprecated(
  documents: readonly CheckedDocument[],
  { tasks, flows }: Definitions,
): readonly FileProblem[] {
  const world = { task: finder(tasks), flow: flowFinder(flows) };
  return documents.flatMap(({ file, doc }) => {
    const flow = startsJobs.has(doc['type']) ? flowNamed(doc, world) : undefined;
    if (flow === undefined || !isTurnedAway(flow, doc)) return [];
    return [{ file, path: 'flow', message: turnedAway(flow) }];
  });
}

const startsJobs: ReadonlySet<unknown> = new Set(['job', 'schedule', 'hook']);
