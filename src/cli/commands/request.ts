import { z } from 'zod';
import { openDatabase, type Client } from '../../client.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import type { RequestAction } from '../../model/request.js';
import type { Status } from '../../model/status.js';
import { defineCommand, numberFlag, switchFlag, type Command } from '../command.js';
import { defined, eachJob } from '../each-job.js';
import type { Io } from '../io.js';
import { unfinishedStatuses } from '../../model/status.js';
import { searchFor, statusFlag } from '../job-search.js';
import { jobLine } from '../jobs.js';
import { requestManyJobs } from '../many-jobs.js';

const flags = z.object({
  reason: z.string().optional(),
  by: z.string().optional(),
  every: switchFlag,
  flow: z.string().optional(),
  flowVersion: z.string().optional(),
  status: statusFlag,
  limit: numberFlag(1),
  confirm: z.boolean().default(true),
});

/** `tws cancel`: asks for the end of jobs. */
export const cancel = requestOf('cancel', unfinishedStatuses);
/** `tws pause`: lets no new step begin. */
export const pause = requestOf('pause', ['queued', 'scheduled', 'running', 'waiting']);
/** `tws resume`: lets paused jobs go on. */
export const resume = requestOf('resume', ['paused']);

/** `usual`: the statuses in which a job can be asked for it. */
function requestOf(action: RequestAction, usual: readonly Status[]): Command {
  return defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
    const { reason, by, every, flow, flowVersion, status = usual, limit, confirm } = said;
    const choices = [flow, flowVersion, said.status, limit];
    const chooses = choices.some((choice) => choice !== undefined);
    if (every === args.length > 0 || (chooses && !every)) {
      const reason =
        'Name jobs, or choose them by --every (with --flow, --flow-version, --status, --limit).';
      throw problem('usage', { reason });
    }
    const details = defined({ reason, by });
    const config = read();
    const { client, close } = openDatabase(config);
    try {
      const options = { ...details, signal: io.stop };
      if (every) {
        const search = searchFor({ flow, flowVersion, status }, config);
        const isAsked = confirm && action === 'cancel';
        const many = { action, details, search, limit, confirm: isAsked };
        return await requestManyJobs(client, many, io);
      }
      if (args.length > 1) {
        return await eachJob(args, io, (one) => client.request(one, action, options));
      }
      return await askOne(client, { id: args[0] ?? '', action, options }, io);
    } finally {
      await close();
    }
  });
}

type One = {
  readonly id: string;
  readonly action: RequestAction;
  readonly options: Parameters<Client['request']>[2];
};

/** Asks it of one job, and shows the job with its effect. */
async function askOne(client: Client, { id, action, options }: One, io: Io): Promise<number> {
  const requested = await client.request(id, action, options);
  if (requested.kind === 'applied') {
    io.out(`applied: ${action} ${id}`);
    io.out(jobLine((await withEffect(client, id, action)) ?? requested.job, io));
  } else {
    io.out(
      `stored: the request to ${action} ${id}; no engine has taken it yet, one will when it runs.`,
    );
  }
  io.json(requested);
  return 0;
}

/** How long the effect of a request is waited for, in ms; a running step may take longer. */
const effectMs = 2_000;

/** The job when the request shows, or as it is when that takes too long. */
async function withEffect(
  client: Client,
  id: string,
  action: RequestAction,
): Promise<StoredDocument | undefined> {
  const enough = new AbortController();
  let last: StoredDocument | undefined;
  const onChange = (job: StoredDocument): void => {
    last = job;
    if (shows(action, job)) enough.abort();
  };
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(effectMs)]);
  await client.watch(id, { signal, onChange });
  return last;
}

function shows(action: RequestAction, { state }: StoredDocument): boolean {
  switch (action) {
    case 'pause':
      return state === '$$paused';
    case 'resume':
      return state !== '$$paused';
    case 'cancel':
      return state === '$$cancelled' || state === '$$complete';
    case 'retry':
    case 'skip':
    case 'note':
    case 'migrate':
      return true;
  }
}
