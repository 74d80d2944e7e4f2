import { currentRecordKeys } from '../model/flow-versions.js';
import { newDefinitionId, type Client, type NamedKind } from '../client.js';
import { isMarkedCurrent, versionName, versionOf } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import type { StoredDocument } from '../model/document.js';
import { notifyListId } from '../model/notify-list.js';
import { twinScheduleId, twinText } from '../model/schedule.js';
import { queueControlId } from '../model/queue-control.js';
import { without } from '../model/record.js';
import { defaultOwner, ownerOf } from '../model/task.js';
import { engineFieldsIn } from '../validate/authored.js';
import { kinds } from '../validate/document.js';
import type { GoodFile } from './check-files.js';
import { contentHash, fileContent } from './files.js';
import type { FileProblem, Written } from '../validate/written.js';
import { isShipped, isInFolder, ownFolder } from './paths.js';
import { openPlaceholders } from './placeholders.js';
import { keptText, leftRemoved, mergeForPush, type PushConflict } from './push-merge.js';

/** What is to be done with one file. */
export type PushStep =
  | {
      readonly kind: 'skip';
      readonly file: GoodFile;
      readonly id?: string;
      readonly because: string;
      /** Keys that only the database has changed. */
      readonly kept?: readonly string[];
    }
  | {
      readonly kind: 'insert' | 'update';
      readonly file: GoodFile;
      readonly doc: Written & { readonly _id: string; readonly _rev?: string };
      /** Keys that only the database has changed; they stay. */
      readonly kept?: readonly string[];
      /** What it replaces, and how a later revision of that is replaced. */
      readonly replaces?: {
        readonly stored: StoredDocument;
        readonly again: (stored: StoredDocument) => PushStep | PushConflict;
      };
    };

type Plan = {
  readonly steps: readonly PushStep[];
  readonly problems: readonly FileProblem[];
  readonly conflicts: readonly PushConflict[];
};

/** Where files come from, and what gives way. */
export type PushPlace = {
  /** What the folder of the project brings names it in `pushed_from`. */
  readonly project: string;
  /** Folder of the project. */
  readonly root: string;
  /** Whether a sample never takes the place of a document of the user's own. */
  readonly keepOwn?: boolean;
  /** What files and database had when they last agreed, by id; absent: files replace documents. */
  readonly synced?: ReadonlyMap<string, { readonly content: Written }> | undefined;
};

/** Decides what to do with each file; reads the database and writes nothing. */
export async function planPush(
  client: Client,
  files: readonly GoodFile[],
  { project, root, keepOwn = false, synced }: PushPlace,
): Promise<Plan> {
  const own = ownFolder(root);
  const told = new Set(files.filter(({ doc }) => doc['current'] === true).map(flowKey));
  const steps: PushStep[] = [];
  const problems: FileProblem[] = [];
  const conflicts: PushConflict[] = [];
  for (const file of inOrder(files)) {
    const isOwn = !isShipped(file.file.path) && isInFolder(own, file.file.path);
    const isTold = told.has(flowKey(file));
    const from = isOwn ? { project, isTold, synced } : { isTold };
    const found = await planFile(client, file, from);
    const planned = keepOwn && isShipped(file.file.path) ? besideOwn(file, found) : found;
    if (isConflict(planned)) conflicts.push(planned);
    else if ('message' in planned) problems.push(planned);
    else steps.push(planned);
  }
  return { steps, problems, conflicts };
}

/** A sample that is stored in another form is somebody's own by now. */
function besideOwn(file: GoodFile, planned: Planned): PushStep {
  if (!('message' in planned) && planned.kind !== 'update') return planned;
  const because = 'you have one of your own by that name; push the file itself to replace it';
  return { kind: 'skip', file, because };
}

/** What is named is stored before what names it, and the current version of a flow before the others. */
function inOrder(files: readonly GoodFile[]): readonly GoodFile[] {
  const saysCurrent = ({ doc }: GoodFile): number => Number(isMarkedCurrent(doc));
  return kinds.flatMap((kind) =>
    files
      .filter(({ doc }) => doc['type'] === kind)
      .toSorted((a, b) => saysCurrent(b) - saysCurrent(a)),
  );
}

/** `project`: whose folder brings the file. `isTold`: a file says which version of the flow is current. */
type Bringer = Pick<PushPlace, 'synced'> & {
  readonly project?: string;
  readonly isTold: boolean;
};

type Planned = PushStep | FileProblem | PushConflict;

const isConflict = (planned: Planned): planned is PushConflict => 'keys' in planned;

function flowKey({ doc }: GoodFile): string {
  return JSON.stringify([doc['type'], doc['name'], ownerOf(doc)]);
}

async function planFile(client: Client, file: GoodFile, from: Bringer): Promise<Planned> {
  const { doc } = file;
  if (doc['type'] === 'job') return planJob(client, file);
  if (doc['type'] === 'queue-control' || doc['type'] === 'notify')
    return planNameless(client, file, from);
  const kind = doc['type'] as NamedKind;
  const name = String(doc['name']);
  const owner = typeof doc['owner'] === 'string' ? doc['owner'] : defaultOwner;
  const like = await storedLike(client, doc, { kind, name, owner });
  const { version, docs: byName, isOpen } = like;
  const given = typeof doc['_id'] === 'string' ? doc['_id'] : undefined;
  const stored = given === undefined ? byName[0] : await client.get(given);
  const other = byName.find(({ _id }) => _id !== (given ?? stored?._id));
  if (other !== undefined) {
    const message = `The ${kind} "${name}"${ofVersion(version)} of owner "${owner}" is stored as "${other._id}" already; use that _id, or remove that document.`;
    return { file: file.file.shown, path: '_id', message };
  }
  const unfit = stored === undefined ? undefined : ofOtherKind(file, stored);
  if (unfit !== undefined) return unfit;
  const id = stored?._id ?? given ?? newDefinitionId(kind, name, owner, version);
  if (stored !== undefined) return update(file, stored, { ...from, isOpen });
  return (await besideTwin(client, file, id)) ?? insertNew(file, id, { ...from, isOpen });
}

/**
 * What is written of a flow whose file says that it is current, where another document is current in its own right:
 * that moves when all are stored, so that there is no moment in which none or two are.
 */
function unmarked({ doc }: GoodFile): Written {
  return doc['type'] === 'flow' ? without(doc, 'current') : doc;
}

const ofVersion = (version: string | undefined): string =>
  version === undefined ? '' : `, ${versionName(version)},`;

type KindAndName = { readonly kind: NamedKind; readonly name: string; readonly owner: string };

/** What is stored under the name and owner of a file; of a flow, what is of the same version. */
async function storedLike(client: Client, doc: Written, { kind, name, owner }: KindAndName) {
  const docs = await client.find(kind, name, owner);
  if (kind !== 'flow') return { docs, version: undefined, isOpen: true };
  const version = versionOf(doc);
  return { docs: docs.filter((one) => versionOf(one) === version), version, isOpen: isOpen(docs) };
}

/** Whether the next document of a flow leaves none current: there is none yet, or one just because it is alone. */
function isOpen(docs: readonly StoredDocument[]): boolean {
  const [only, ...others] = docs;
  if (only === undefined) return true;
  return others.length === 0 && versionOf(only) !== undefined && !isMarkedCurrent(only);
}

/** A new schedule whose jobs would have the ids of those of another one. */
async function besideTwin(
  client: Client,
  { doc, file }: GoodFile,
  id: string,
): Promise<FileProblem | undefined> {
  const twin = doc['type'] === 'schedule' ? await client.get(twinScheduleId(id)) : undefined;
  if (twin?.['type'] !== 'schedule') return undefined;
  return { file: file.shown, path: '_id', message: `_id ${twinText(twin._id)}.` };
}

/** Controls of queues and notify lists have no names; several may be for the same queue or owner. */
async function planNameless(client: Client, file: GoodFile, from: Bringer): Promise<Planned> {
  const { _id, type, queue } = file.doc;
  const usual = type === 'notify' ? notifyListId(ownerOf(file.doc)) : queueControlId(String(queue));
  const id = typeof _id === 'string' ? _id : usual;
  const stored = await client.get(id);
  if (stored === undefined) return insertNew(file, id, from);
  return ofOtherKind(file, stored) ?? update(file, stored, from);
}

/** What is stored under the id of a file keeps its type. */
function ofOtherKind({ doc, file }: GoodFile, stored: StoredDocument): FileProblem | undefined {
  const kind = String(doc['type']);
  if (stored['type'] === kind) return undefined;
  const message = `Document "${stored._id}" is a ${String(stored['type'])} and cannot become a ${kind}.`;
  return { file: file.shown, path: '_id', message };
}

/** A job that is stored is running: it is never written a second time. */
async function planJob(client: Client, file: GoodFile): Promise<PushStep | FileProblem> {
  const open = openPlaceholders(file.doc);
  if (open.length > 0 && !file.file.named) {
    const labels = open.map(({ label }) => `[[${label}]]`).join(', ');
    return { kind: 'skip', file, because: `${labels} open: submit it` };
  }
  if (open.length > 0) {
    const message = `[[${open[0]?.label ?? ''}]] is open; \`tws submit\` asks for it.`;
    return { file: file.file.shown, path: open[0]?.paths[0] ?? '', message };
  }
  const { _id } = file.doc;
  const stored = typeof _id === 'string' ? await client.get(_id) : undefined;
  if (stored === undefined) return insert(file, typeof _id === 'string' ? _id : newJobId());
  return { kind: 'skip', file, id: stored._id, because: 'already submitted' };
}

function newJobId(): string {
  return crypto.randomUUID().replaceAll('-', '');
}

/** `isOpen`: a version that says so is the current one at once. */
type Place = Bringer & { readonly isOpen?: boolean };

/** Without an id the step asks for nothing more: what was removed is no version that could be current. */
function insertNew(file: GoodFile, id: string, from: Place): PushStep | PushConflict {
  const left = leftRemoved(file.file, file.doc, from.synced?.get(id)?.content);
  if (left === undefined) return insert(file, id, from);
  return 'keys' in left ? left : { kind: 'skip', file, ...left };
}

function insert(
  file: GoodFile,
  id: string,
  { project, isOpen = true }: Partial<Place> = {},
): PushStep {
  const content = fileContent(isOpen ? file.doc : unmarked(file));
  return { kind: 'insert', file, doc: { ...content, ...broughtBy(project), _id: id } };
}

function update(file: GoodFile, stored: StoredDocument, from: Place): PushStep | PushConflict {
  const { project, isTold, isOpen = false, synced } = from;
  const { pushed_from: bringer, ...before } = stored;
  const merged = mergeForPush({
    file: file.file,
    doc: isTold && !isOpen ? unmarked(file) : file.doc,
    stored,
    agreed: synced?.get(stored._id)?.content,
  });
  if ('keys' in merged) return merged;
  const doc = { ...switchesOf(stored), ...merged.content };
  const kept = merged.kept.length === 0 ? {} : { kept: merged.kept };
  // What another project brought stays its own as long as the file changes nothing.
  const isClaimed = project === undefined || bringer !== undefined;
  if (contentHash(doc) === contentHash(before) && isClaimed) {
    const because = merged.kept.length === 0 ? 'already up to date' : keptText(merged.kept);
    return { kind: 'skip', file, id: stored._id, because, ...kept };
  }
  const { _id, _rev } = stored;
  const again = (later: StoredDocument): PushStep | PushConflict => update(file, later, from);
  const replaces = { stored, again };
  const written = { ...doc, ...broughtBy(project), _id, _rev };
  return { kind: 'update', file, doc: written, replaces, ...kept };
}

/** The mark by which `--prune` knows what the folder of a project brought. */
function broughtBy(project: string | undefined): Written {
  return project === undefined ? {} : { pushed_from: project };
}

/**
 * What operators switch in the database stays as it is, unless the file says otherwise; so does what
 * engines and API write into a schedule or a hook.
 */
function switchesOf(stored: StoredDocument): Written {
  const { enabled, paused, current } = stored;
  const keys = [...currentRecordKeys, ...(stored['type'] === 'schedule' ? ['backfill'] : [])];
  const kept = keys.filter((key) => stored[key] !== undefined);
  return {
    ...(enabled === false ? { enabled } : {}),
    ...(paused === true ? { paused } : {}),
    ...(current === true ? { current } : {}),
    ...Object.fromEntries(kept.map((key) => [key, stored[key]])),
    ...engineFieldsIn(String(stored['type']), stored),
    ...(isObject(stored['_attachments']) ? { _attachments: stored['_attachments'] } : {}),
  };
}
