import { obstacleTo } from '../../decide/versions/obstacle.js';
import { isLiveJob, type LiveJob } from '../../model/job.js';
import { asVersion, versionName } from '../../model/flow-versions.js';
import type { Step } from '../../model/step.js';
import { parseDocument } from '../../reading/parse.js';
import { isOver, type LeafRevision } from './leaf-revisions.js';

/**
 * The merged leaf with a problem for each step that it took from a leaf of another definition, where its own has
 * something else: the rule of moves (MV1 to MV4) says so. The attempt is kept, since it has happened; the job goes on by
 * its own definition.
 */
export function withForeignSteps(
  merged: LeafRevision,
  loser: LeafRevision,
  taken: readonly Step[],
): LeafRevision {
  if (taken.length === 0 || merged['flow_rev'] === loser['flow_rev'] || isOver(merged))
    return merged;
  const [job, other] = [liveIn(merged), liveIn(loser)];
  if (job === undefined || other === undefined) return merged;
  const paths = [...new Set(taken.map(({ path }) => path))];
  const found = paths.flatMap((path) => {
    const steps = taken.filter((step) => step.path === path);
    const obstacle = obstacleTo({ ...other, run: job.run, steps }, job);
    if (obstacle === undefined) return [];
    const { was, now } = obstacle;
    const there = now === 'gone' ? 'nothing' : now;
    const from = versionName(asVersion(other.flow_version));
    const to = versionName(asVersion(job.flow_version));
    const message = `Step ${path} (${was}) was begun by the flow ${from} in another copy of the job. This copy goes by the flow ${to}, which has ${there} there. The attempt is kept, and the job goes on by the flow ${to}.`;
    return [{ path: 'steps', message }];
  });
  const before = job.problems ?? [];
  const known = new Set(before.map(({ message }) => message));
  const notes = found.filter(({ message }) => !known.has(message));
  return notes.length === 0 ? merged : { ...merged, problems: [...before, ...notes] };
}

function liveIn(leaf: LeafRevision): LiveJob | undefined {
  const parsed = parseDocument(leaf);
  return parsed.kind === 'job' && parsed.ok && isLiveJob(parsed.value) ? parsed.value : undefined;
}
