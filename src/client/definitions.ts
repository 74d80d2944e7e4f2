import { problem } from '../errors.js';
import { engineControlId, everyEngine } from '../model/engine-control.js';
import type { DefinitionKind, StoredDocument } from '../model/document.js';
import {
  ambiguityText,
  asVersion,
  chooseVersion,
  versionOf,
  type VersionAsk,
  type VersionChoice,
} from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import { defaultOwner, keyOf, ownerOf } from '../model/task.js';
import type { Store } from '../store/store.js';
import { tellWorker } from './workers.js';
import { writeDocument } from './writes.js';
import { textOf } from '../words.js';

/** The view of each kind, by name and owner. */
export const definitionViews = {
  task: 'tasks',
  flow: 'flows',
  schedule: 'schedules',
  hook: 'hooks',
} as const;

/** A document that has a name and an owner. */
export type NamedKind = DefinitionKind | 'schedule' | 'hook';

/** The documents stored under a name and an owner. */
export async function findDefinition(
  store: Store,
  kind: NamedKind,
  name: string,
  owner: string,
): Promise<readonly StoredDocument[]> {
  const rows = await store.view(definitionViews[kind], {
    key: keyOf(name, owner),
    includeDocs: true,
  });
  return rows.flatMap(({ doc }) => doc ?? []);
}

/** A task or flow, as somebody calls it. */
type CalledDefinition = {
  readonly kind: NamedKind;
  readonly called: string;
  readonly owner: string;
  readonly isMeant?: ((doc: StoredDocument) => boolean) | undefined;
};

/**
 * A task or flow as it is called: by its id, where `isMeant` agrees, or as `name` or `name::owner`.
 * Undefined when there is none. @throws TwsError `definition_ambiguous`
 */
export async function calledDefinition(
  store: Store,
  { kind, called, owner, isMeant = () => true }: CalledDefinition,
): Promise<StoredDocument | undefined> {
  const byId = await store.get(called);
  if (byId?.['type'] === kind && isMeant(byId)) return byId;
  return (await theOneCalled(store, kind, called, owner)).doc;
}

/** The definition called `name` or `name::owner`. @throws TwsError `definition_ambiguous` */
async function theOneCalled(store: Store, kind: NamedKind, called: string, owner: string) {
  const [name = called, ofOwner = owner] = called.split('::');
  const found = await findDefinition(store, kind, name, ofOwner);
  const named = { kind, name, owner: ofOwner };
  const choice = kind === 'flow' ? chooseVersion(found) : undefined;
  if (choice?.kind === 'chosen') return { named, doc: choice.doc };
  if (found.length > 1) {
    const ids = found.map(({ _id }) => _id);
    const why = choice?.kind === 'ambiguous' ? ambiguityOf(choice) : undefined;
    throw problem('definition_ambiguous', { ...named, ids, why });
  }
  return { named, doc: found[0] };
}

function ambiguityOf({
  cause,
  docs,
}: VersionChoice<StoredDocument> & { readonly kind: 'ambiguous' }) {
  return ambiguityText(
    cause,
    docs.map(({ _id }) => _id),
  );
}

/** The id of a new task, flow, schedule or hook that has none: it tells what it is. `version`: of a flow. */
export function newDefinitionId(
  kind: NamedKind,
  name: string,
  owner: string,
  version?: string,
): string {
  return `${kind}:${owner}:${name}${version === undefined ? '' : `@${version}`}`;
}

type Switch = { readonly flow: string; readonly enabled: boolean; readonly owner: string };

/**
 * Sets `enabled` of a flow, or of an engine (`engine:…`, `*` for all), on the revision that was read; a worker
 * (`worker:…`) is told to be quiet.
 */
export async function setEnabled(
  store: Store,
  { flow, enabled, owner }: Switch,
): Promise<{ readonly id: string; readonly changed: boolean }> {
  if (flow === everyEngine || flow.startsWith('engine:')) return setEngine(store, flow, enabled);
  if (flow.startsWith('worker:')) return tellWorker(store, flow, enabled ? undefined : 'quiet');
  const doc = await flowOf(store, flow, owner);
  if ((doc['enabled'] !== false) === enabled) return { id: doc._id, changed: false };
  await writeDocument(store, { ...doc, enabled });
  return { id: doc._id, changed: true };
}

/** Stores what an engine is to do; one that was never seen is hardly meant. */
async function setEngine(
  store: Store,
  engine: string,
  enabled: boolean,
): Promise<{ readonly id: string; readonly changed: boolean }> {
  const _id = engineControlId(engine);
  const control = await store.get(_id);
  if (control === undefined && engine !== everyEngine && (await store.get(engine)) === undefined) {
    throw problem('document_missing', { id: engine });
  }
  if ((control?.['enabled'] !== false) === enabled) return { id: engine, changed: false };
  const { restored, reason, ...rest }: Readonly<Record<string, unknown>> = control ?? {};
  // Whoever lets engines work on a restored backup says that the original works no more.
  const kept = restored === undefined && reason !== undefined ? { reason } : {};
  await writeDocument(store, { ...rest, ...kept, _id, type: 'engine-control', engine, enabled });
  return { id: engine, changed: true };
}

/** A flow named by its id, or by its name: `name` or `name::owner`. */
async function flowOf(store: Store, given: string, owner: string): Promise<StoredDocument> {
  const byId = await store.get(given);
  if (byId?.['type'] === 'flow') return byId;
  if (byId !== undefined) {
    throw problem('document_kind', { id: given, kind: textOf(byId['type']), wanted: 'flow' });
  }
  const { named, doc } = await theOneCalled(store, 'flow', given, owner);
  if (doc === undefined) throw problem('definition_missing', named);
  return doc;
}

/**
 * The flow of a job as it is stored now, the owner's, else everybody's: of a job that has begun in the version that
 * it runs, while there is one.
 */
export async function storedFlowOf(
  store: Store,
  job: StoredDocument,
): Promise<StoredDocument | undefined> {
  const { flow, owner, flow_definition: settings, flow_version: asked } = job;
  if (typeof flow !== 'string') return undefined;
  const ask: VersionAsk = isObject(settings)
    ? { version: versionOf(settings), orCurrent: true }
    : { version: asVersion(asked) };
  const choice = await chosenFlow(store, { name: flow, owner: ownerOf({ owner }) }, ask);
  return choice.kind === 'chosen' ? choice.doc : undefined;
}

/** A flow by name: the owner's own documents, else those of everybody. */
export type FlowName = { readonly name: string; readonly owner: string };

/** Which document of a flow counts, as engines choose: the current version, or the one that is asked for. */
export type ChooseFlow = (
  named: FlowName,
  ask?: VersionAsk,
) => Promise<VersionChoice<StoredDocument>>;

/** Which document of a flow counts, as the engines choose. */
export async function chosenFlow(
  store: Store,
  named: FlowName,
  ask?: VersionAsk,
): Promise<VersionChoice<StoredDocument>> {
  return chooseVersion(await flowDocuments(store, named), ask);
}

/** The documents of a flow: the owner's own, else those of everybody. */
export async function flowDocuments(
  store: Store,
  { name, owner }: FlowName,
): Promise<readonly StoredDocument[]> {
  for (const one of new Set([owner, defaultOwner])) {
    const docs = await findDefinition(store, 'flow', name, one);
    if (docs.length > 0) return docs;
  }
  return [];
}
