import type { Client } from '../client.js';
import type { StoredDocument } from '../model/document.js';
import { asVersion, chooseVersion, versionName, versionOf } from '../model/flow-versions.js';
import { defaultOwner, keyOf, ownerOf } from '../model/task.js';
import type { FileProblem } from '../validate/written.js';
import { counted, listed, textOf } from '../words.js';
import type { GoodFile } from './check-files.js';

type Document = Readonly<Record<string, unknown>>;

/** What is known when versions of flows are to be removed. */
export type FlowUse = {
  readonly removed: readonly StoredDocument[];
  /** All stored flows, also those that are removed. */
  readonly flows: readonly StoredDocument[];
  /** What the files hold that are pushed. */
  readonly pushed: readonly Document[];
  /** Jobs that have not ended. */
  readonly jobs: readonly StoredDocument[];
};

/** So many unfinished jobs are looked at. */
const mostJobs = 10_000;

/** What still uses the flows that `--prune` would remove, as warnings. */
export async function flowsInUse(
  client: Client,
  removed: readonly StoredDocument[],
  files: readonly GoodFile[],
): Promise<readonly FileProblem[]> {
  if (!removed.some(isFlow)) return [];
  const flows = await client.definitions('flow');
  const { jobs } = await client.unfinished(mostJobs);
  return usesOfFlows({ removed, flows, pushed: files.map(({ doc }) => doc), jobs });
}

/**
 * Says of each flow that would be removed that it is the current version while others stay, and which jobs that
 * have not ended ask for it. A version gives way where a pushed file says that it is current.
 */
export function usesOfFlows(use: FlowUse): readonly FileProblem[] {
  return use.removed.filter(isFlow).flatMap((doc) => {
    const file = `${doc._id} in the database`;
    const messages = [...currentUse(doc, use), ...jobUse(doc, use)];
    return messages.map((message) => ({ file, path: '', message }));
  });
}

function currentUse(doc: StoredDocument, use: FlowUse): readonly string[] {
  const { isCurrent, after } = choices(doc, use);
  if (!isCurrent || after.kind === 'none') return [];
  const then =
    after.kind === 'chosen'
      ? `without it ${versionName(versionOf(after.doc))} is current`
      : 'without it none is current, and jobs that ask for no version fail';
  return [`it is the current version of the flow and no file holds it; ${then}.`];
}

function jobUse(doc: StoredDocument, use: FlowUse): readonly string[] {
  const { isCurrent, after } = choices(doc, use);
  const version = versionOf(doc);
  const isLeftAlone = isCurrent && after.kind !== 'chosen';
  const asks = ({ state, tasks, flow_version: asked }: StoredDocument): boolean => {
    const wanted = asVersion(asked);
    if (wanted !== undefined) return wanted === version;
    // One that has begun has a copy of its flow, and one with tasks of its own needs none.
    return isLeftAlone && state === undefined && tasks === undefined;
  };
  const jobs = use.jobs.filter((job) => isFor(job, doc, use.flows) && asks(job));
  if (jobs.length === 0) return [];
  const ids = listed(jobs.map(({ _id }) => _id));
  const called = version === undefined ? 'it' : `${versionName(version)} of it`;
  const [have, ask] = jobs.length === 1 ? ['has', 'asks'] : ['have', 'ask'];
  return [`${counted(jobs.length, 'job')} that ${have} not ended ${ask} for ${called}: ${ids}.`];
}

/** Whether it is the current version now, and which one is when the push is done. */
function choices(doc: StoredDocument, { removed, flows, pushed }: FlowUse) {
  const isSame = isSameFlow(doc);
  const own = flows.filter(isSame);
  const before = chooseVersion(own);
  const gone = new Set(removed.map(({ _id }) => _id));
  const files = pushed.filter(isSame);
  const marked = files.find(({ current }) => current === true);
  const versions = new Set(files.map(versionOf));
  const staying: readonly Document[] = own.filter(
    (one) => !gone.has(one._id) && !versions.has(versionOf(one)),
  );
  const after = chooseVersion(marked === undefined ? [...staying, ...files] : [marked]);
  const isCurrent = marked === undefined && before.kind === 'chosen' && before.doc._id === doc._id;
  return { isCurrent, after };
}

/** A job takes the flow of its owner, else everybody's. */
function isFor(
  job: StoredDocument,
  flow: StoredDocument,
  flows: readonly StoredDocument[],
): boolean {
  if (job['flow'] !== flow['name']) return false;
  if (ownerOf(job) === ownerOf(flow)) return true;
  const own = keyOf(textOf(flow['name']), ownerOf(job));
  const isOther = flows.some((one) => keyOf(textOf(one['name']), ownerOf(one)) === own);
  return ownerOf(flow) === defaultOwner && !isOther;
}

function isSameFlow(doc: Document): (other: Document) => boolean {
  return (other) =>
    isFlow(other) && other['name'] === doc['name'] && ownerOf(other) === ownerOf(doc);
}

function isFlow({ type }: Document): boolean {
  return type === 'flow';
}
