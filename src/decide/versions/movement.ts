import type { LiveJob } from '../../model/job.js';

/** A definition of a flow, as a job that went by it has it on record. */
export type MovedPoint = { readonly version?: string; readonly rev?: string };

/** From which definition of its flow a job moved to which. */
export type Movement = { readonly from: MovedPoint; readonly to: MovedPoint };

/** What a job keeps on record of its move. */
export function movement(before: LiveJob, after: LiveJob): Movement {
  return { from: pointOf(before), to: pointOf(after) };
}

function pointOf({ flow_version: version, flow_rev: rev }: LiveJob): MovedPoint {
  return {
    ...(version === undefined ? {} : { version: String(version) }),
    ...(rev === undefined ? {} : { rev }),
  };
}
