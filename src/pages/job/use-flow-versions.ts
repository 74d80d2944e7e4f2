import { asVersion, type FlowVersion, type FlowVersions } from '../../model/flow-versions.js';
import { get } from '../api.js';
import { isEnded, type StoredJob } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';
import { flowOwner } from './flow-owner.js';

/** The versions of the flow of a job that has not ended, as they are stored now; undefined while nobody knows. */
export function useFlowVersions(job: StoredJob): readonly FlowVersion[] | undefined {
  const { flow, status } = job;
  const named = flow === undefined || isEnded(status) ? undefined : `${flow}::${flowOwner(job)}`;
  const { value } = useLoaded(`versions for ${named}`, async (signal) => {
    if (named === undefined) return [];
    const path = `flows/${encodeURIComponent(named)}/versions?jobs=false`;
    return (await get<FlowVersions>(path, { signal })).versions;
  });
  return value;
}

/** The version that a job runs, or will take. */
export function versionOfJob({ document }: StoredJob): string | undefined {
  return asVersion(document['flow_version']);
}

/** Whether there is something to which a job could move: another version, or its own one stored anew. */
export function hasWhereToMove(job: StoredJob, versions: readonly FlowVersion[]): boolean {
  const [own, rev] = [versionOfJob(job), job.document['flow_rev']];
  return versions.some((one) => one.version !== own || (rev !== undefined && one.rev !== rev));
}

/** The version to which a job is moved most likely: the current one, else another one. */
export function versionToPropose(
  job: StoredJob,
  versions: readonly FlowVersion[],
): FlowVersion | undefined {
  const own = versionOfJob(job);
  const others = versions.filter(({ version }) => version !== undefined && version !== own);
  return others.find(({ current }) => current) ?? others[0];
}
