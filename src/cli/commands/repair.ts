import { z } from 'zod';
import { openDatabase, type RequestDetails } from '../../client.js';
import { problem } from '../../errors.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { textOf } from '../../words.js';
import { defineCommand, numberFlag, switchFlag } from '../command.js';
import { defined, eachJob } from '../each-job.js';
import { searchFor } from '../job-search.js';
import { jsonFlag } from '../json-flag.js';
import { requestManyJobs } from '../many-jobs.js';

const who = { by: z.string().optional(), reason: z.string().optional() };

/** `tws retry`: lets ended jobs go on, one by id or many by flow and failure. */
export const retry = defineCommand(
  z.object({
    ...who,
    from: z.string().optional(),
    params: jsonFlag.optional(),
    latest: switchFlag,
    failed: switchFlag,
    flow: z.string().optional(),
    failure: z.string().optional(),
    limit: numberFlag(1),
  }),
  async ({ args, flags, config: read }, io) => {
    const { failed, flow, failure, limit, latest, params, ...rest } = flags;
    const ids = args.filter((id) => id !== '');
    const chooses = flow !== undefined || failure !== undefined || limit !== undefined;
    if (failed === ids.length > 0 || (chooses && !failed)) {
      const reason = 'Name jobs, or choose them by --failed (with --flow, --failure, --limit).';
      throw problem('usage', { reason });
    }
    const details: RequestDetails = defined({
      ...rest,
      ...(latest ? { latest } : {}),
      params: params as RequestDetails['params'],
    });
    const config = read();
    const { client, close } = openDatabase(config);
    try {
      if (!failed) {
        const options = { ...details, signal: io.stop };
        return await eachJob(ids, io, (id) => client.request(id, 'retry', options));
      }
      const search = searchFor({ flow, status: ['failed'] }, config);
      const isMeant = (job: StoredDocument): boolean =>
        failure === undefined || hasFailed(job, failure);
      const many = { action: 'retry', details, search, isMeant, limit, confirm: false } as const;
      return await requestManyJobs(client, many, io);
    } finally {
      await close();
    }
  },
);

/** A failure is called by its name or its code. */
function hasFailed({ failure }: StoredDocument, called: string): boolean {
  if (!isObject(failure)) return false;
  return [failure['name'], failure['code']].some((word) => textOf(word) === called);
}

/** `tws skip`: leaves a step of a job out. */
export const skip = defineCommand(z.object(who), async ({ args, flags, config: read }, io) => {
  const [job = '', step = ''] = args;
  const { client, close } = openDatabase(read());
  try {
    return await eachJob([job], io, (id) =>
      client.request(id, 'skip', { step, ...defined(flags) }),
    );
  } finally {
    await close();
  }
});

/** `tws note`: keeps a remark in a job. */
export const note = defineCommand(
  z.object({ by: z.string().optional() }),
  async ({ args, flags, config: read }, io) => {
    const [job = '', ...words] = args;
    const { client, close } = openDatabase(read());
    try {
      return await eachJob([job], io, (id) =>
        client.request(id, 'note', { text: words.join(' '), ...defined(flags) }),
      );
    } finally {
      await close();
    }
  },
);
