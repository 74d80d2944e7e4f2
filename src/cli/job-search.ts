import type { JobSearch } from '../client.js';
import type { Config } from '../config/load.js';
import { statuses, type Status } from '../model/status.js';
import { listFlag } from './command.js';

/** What jobs are chosen by on the command line. */
type Choice = {
  /** `name` or `name::owner`. */
  readonly flow?: string | undefined;
  readonly flowVersion?: string | undefined;
  readonly status?: readonly Status[] | undefined;
};

/** One or more statuses, as `a,b` or by repeating the option. */
export const statusFlag = listFlag
  .refine((given) => given === undefined || given.every(isStatus), {
    error: `must be of ${statuses.join(', ')}`,
  })
  .transform((given) => given?.filter(isStatus));

function isStatus(word: string): word is Status {
  return (statuses as readonly string[]).includes(word);
}

/** The search for what was chosen; an owner narrows it where a flow or the command line names one. */
export function searchFor({ flow, flowVersion, status }: Choice, config: Config): JobSearch {
  const [name, ofFlow] = flow?.split('::') ?? [];
  const owner = ofFlow ?? (config.origins['owner'] === '--owner' ? config.owner : undefined);
  return {
    flow: name,
    version: flowVersion,
    status,
    ...(owner === undefined ? {} : { owners: [owner] }),
  };
}
