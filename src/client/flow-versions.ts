import { makeCurrent, versionBefore } from '../decide/versions/make-current.js';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import {
  type FlowVersion,
  type FlowVersions,
  asVersion,
  byVersion,
  chooseVersion,
  currentBy,
  currentSince,
  versionOf,
  versionsOf,
  whyNotChosen,
} from '../model/flow-versions.js';
import { ownerOf } from '../model/task.js';
import type { Store } from '../store/store.js';
import { findDefinition, type FlowName } from './definitions.js';
import { unfinishedJobs } from './lists.js';
import { writeDocument } from './writes.js';

/** Which version is current now, and which was before; `changed` is false when it was so already. */
export type MadeCurrent = {
  readonly id: string;
  readonly version?: string;
  readonly before?: string;
  readonly changed: boolean;
};

/** The part of the client for versions of flows. */
export type VersionsOfFlows = {
  /** The documents of a flow; `jobs`: with their counts. @throws TwsError `definition_missing` */
  readonly flowVersions: (
    named: FlowName,
    options?: { readonly jobs?: boolean },
  ) => Promise<FlowVersions>;
  /**
   * The document of a version, or of an id; `undefined`: the current one.
   * @throws TwsError `definition_missing`, `flow_version_missing`, `definition_ambiguous`
   */
  readonly flowVersion: (named: FlowName, version: string | undefined) => Promise<StoredDocument>;
  /**
   * Makes a version current, by its name or the id of its document, or with `undefined` the one before. `by`: who
   * does, for the record.
   * @throws TwsError as `flowVersion`, `flow_before_unknown`, `document_conflict`
   */
  readonly useFlowVersion: (
    named: FlowName,
    version: string | undefined,
    by?: string,
  ) => Promise<MadeCurrent>;
};

/** So many unfinished jobs are counted. */
const mostCounted = 10_000;

/** The part of the client for versions of flows. */
export function versionsOfFlows(store: Store, now: () => number = Date.now): VersionsOfFlows {
  return {
    flowVersions: (named, { jobs = true } = {}) => listVersions(store, named, jobs),
    flowVersion: async (named, version) => versionIn(await docsOf(store, named), named, version),
    useFlowVersion: async (named, version, by) => {
      const docs = await docsOf(store, named);
      const target = version === undefined ? versionBefore(docs) : versionIn(docs, named, version);
      if (target === undefined) throw problem('flow_before_unknown', { given: named.name });
      return use(store, docs, { named, target, now: now(), by });
    },
  };
}

async function docsOf(store: Store, named: FlowName): Promise<readonly StoredDocument[]> {
  const docs = await findDefinition(store, 'flow', named.name, named.owner);
  if (docs.length === 0) throw problem('definition_missing', { kind: 'flow', ...named });
  return docs.toSorted((a, b) => byVersion(versionOf(a) ?? '', versionOf(b) ?? ''));
}

async function listVersions(
  store: Store,
  named: FlowName,
  isCounted: boolean,
): Promise<FlowVersions> {
  const docs = await docsOf(store, named);
  const counted = isCounted ? await unfinishedJobs(store, mostCounted) : undefined;
  const own = counted?.jobs.filter(
    (job) => job['flow'] === named.name && ownerOf(job) === named.owner && !hasOwnTasks(job),
  );
  const choice = chooseVersion(docs);
  const current = choice.kind === 'chosen' ? choice.doc : undefined;
  const versionOfJob = ({ state, flow_version: version }: StoredDocument): string | undefined =>
    asVersion(version) ?? (state === undefined && current ? versionOf(current) : undefined);
  const versions = docs.map((doc): FlowVersion => {
    const [version, patch] = [versionOf(doc), versionOf({ version: doc['patch'] })];
    const [since, by] = [currentSince(doc), currentBy(doc)];
    return {
      id: doc._id,
      rev: doc._rev,
      ...(version === undefined ? {} : { version }),
      ...(patch === undefined ? {} : { patch }),
      current: current === doc,
      ...(since === undefined ? {} : { since }),
      ...(by === undefined ? {} : { by }),
      ...(own && { jobs: own.filter((job) => versionOfJob(job) === version).length }),
    };
  });
  const isOpen = choice.kind === 'ambiguous' || choice.kind === 'absent';
  const why = isOpen ? { problem: `The flow ${whyNotChosen(choice, undefined)}` } : {};
  return { ...named, versions, ...why, partly: counted?.more ?? false };
}

/** A new job with tasks of its own runs no flow. */
function hasOwnTasks({ state, tasks }: StoredDocument): boolean {
  return state === undefined && tasks !== undefined;
}

function versionIn(
  docs: readonly StoredDocument[],
  named: FlowName,
  version: string | undefined,
): StoredDocument {
  const byId = docs.find(({ _id }) => _id === version);
  if (byId !== undefined) return byId;
  const choice = chooseVersion(docs, { version });
  if (choice.kind === 'chosen') return choice.doc;
  if (choice.kind === 'ambiguous') {
    const why = whyNotChosen(choice, version);
    const ids = choice.docs.map(({ _id }) => _id);
    throw problem('definition_ambiguous', { kind: 'flow', ...named, ids, why });
  }
  throw problem('flow_version_missing', {
    given: named.name,
    version: String(version),
    versions: versionsOf(docs).join(', '),
  });
}

type Use = {
  readonly named: FlowName;
  readonly target: StoredDocument;
  readonly now: number;
  readonly by: string | undefined;
};

async function use(
  store: Store,
  docs: readonly StoredDocument[],
  { named, target, now, by }: Use,
): Promise<MadeCurrent> {
  const twins = docs.filter((doc) => versionOf(doc) === versionOf(target));
  if (twins.length > 1) {
    const choice = { kind: 'ambiguous', docs: twins } as const;
    const cause = { kind: 'same_version', version: versionOf(target) } as const;
    const ids = twins.map(({ _id }) => _id);
    const why = whyNotChosen({ ...choice, cause }, undefined);
    throw problem('definition_ambiguous', { kind: 'flow', ...named, ids, why });
  }
  const was = chooseVersion(docs);
  const writes = makeCurrent(docs, target._id, { now, by });
  if (writes.length > 0) await makeSo(store, docs, { named, target, writes });
  const version = versionOf(target);
  return {
    id: target._id,
    ...(version === undefined ? {} : { version }),
    ...(was.kind === 'chosen' && writes.length > 0 ? { before: was.doc._id } : {}),
    changed: writes.length > 0,
  };
}

type ToMake = Pick<Use, 'named' | 'target'> & { readonly writes: readonly StoredDocument[] };

/**
 * Writes what makes a version current. Where others write meanwhile it counts which version is current in the end.
 * @throws TwsError `document_conflict`: another one
 */
async function makeSo(
  store: Store,
  docs: readonly StoredDocument[],
  { named, target, writes }: ToMake,
): Promise<void> {
  const revs = new Map(docs.map(({ _id, _rev }) => [_id, _rev]));
  try {
    for (const doc of writes) {
      const rev = await writeDocument(store, { ...doc, _rev: String(revs.get(doc._id)) });
      revs.set(doc._id, rev);
    }
  } catch (error) {
    if (!(error instanceof TwsError) || error.code !== 'document_conflict') throw error;
  }
  const choice = chooseVersion(await docsOf(store, named));
  if (choice.kind === 'chosen' && choice.doc._id === target._id) return;
  throw problem('document_conflict', { id: target._id });
}
