import { z } from 'zod';
import { openDatabase, type JobToSubmit, type Client, type Submitted } from '../../client.js';
import { asVersion, whyNotChosen } from '../../model/flow-versions.js';
import { defaultOwner } from '../../model/task.js';
import { unreadKeys } from '../../reading/unread-keys.js';
import { checkDocument } from '../../validate/document.js';
import { remedy } from '../../validate/references.js';
import { defineCommand, secondsFlag, switchFlag } from '../command.js';
import type { Written } from '../../validate/written.js';
import type { Io } from '../io.js';
import { orderFor } from '../order.js';
import { sheltered, subjectGiven } from '../sensitive-values.js';
import { readParams } from '../params-flag.js';
import { refuseProblems, showWarnings } from '../problems.js';
import { giveUpSeconds, waitForJob } from '../waiting.js';

const flags = z.object({
  params: z.string().optional(),
  storedFlow: switchFlag,
  set: z.array(z.string()).default([]),
  flowVersion: z.string().min(1, { error: 'must not be empty' }).optional(),
  queue: z.string().optional(),
  id: z.string().min(1, { error: 'must not be empty' }).optional(),
  subject: z.string().min(1, { error: 'must not be empty' }).optional(),
  wait: switchFlag,
  giveUp: secondsFlag,
  timeout: secondsFlag,
});

/**
 * `tws submit`: stores the job of a file, or one of a stored flow; with `--wait` its exit is that of
 * the command.
 */
export const submit = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const config = read();
  const params = said.params === undefined ? {} : await readParams(said.params, io.cwd);
  const { client, close } = openDatabase(config);
  try {
    const order = await orderFor(args[0] ?? '', { client, config, said, params }, io);
    const { id: _id, queue, flowVersion } = said;
    const more = {
      ...(_id === undefined ? {} : { _id }),
      ...(queue === undefined ? {} : { queue }),
      ...(flowVersion === undefined ? {} : { flow_version: flowVersion }),
    };
    const given: Written = {
      ...order.job,
      ...more,
      ...(await subjectGiven(said.subject, order.job, config)),
    };
    const { sensitive: _apart, ...job } = given;
    refuseProblems(checkDocument(order.shown, job), [], io);
    const refused = (await client.unwelcome([job])).get(job);
    if (refused !== undefined) refuseProblems([{ file: order.shown, ...refused }], [], io);
    const warnings = unreadKeys(job).map((key) => ({ file: order.shown, ...key }));
    showWarnings(warnings, io);
    await warnOfFlow(client, job, io);
    const submitted = await client.submit(
      (await sheltered(given, config)) as unknown as JobToSubmit,
    );
    const { id, existed } = submitted;
    io.out(existed ? `skipping: ${order.shown} (${whyExisted(submitted)})` : `submitted: ${id}`);
    if (submitted.replaces !== undefined) {
      io.out(`It begins when job ${submitted.replaces}, which it replaces, has ended.`);
    }
    if (!said.wait) {
      io.json({ ...submitted, ...(warnings.length === 0 ? {} : { warnings }) });
      return 0;
    }
    const { giveUp = giveUpSeconds, timeout } = said;
    const limits = {
      giveUpMs: giveUp * 1000,
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
      leaseMs: config.leaseMs,
    };
    return await waitForJob(client, { id, database: config.database, ...limits }, io);
  } finally {
    await close();
  }
});

function whyExisted({ id, existing }: Submitted): string {
  return existing === true ? `job ${id} has the same "unique" key` : `already submitted as ${id}`;
}

/** The job is stored in any case: the flow may come later, and the job tells what became of it. */
async function warnOfFlow(client: Client, job: Written, io: Io): Promise<void> {
  const { flow } = job;
  if (typeof flow !== 'string') return;
  const owner = typeof job['owner'] === 'string' ? job['owner'] : defaultOwner;
  const named = { name: flow, owner };
  const choice = await client.chosenFlow(named, { version: asVersion(job['flow_version']) });
  if (choice.kind === 'chosen') return;
  const label = io.style('yellow', 'warning:', 'stderr');
  if (choice.kind !== 'none')
    return io.warn(`${label} flow "${flow}" ${whyNotChosen(choice, job['flow_version'])}`);
  const flows = (await client.definitions('flow')).map(({ name }) => String(name));
  const todo = remedy({ kind: 'flow', name: flow }, { flow: flows, task: [] });
  io.warn(`${label} there is no flow "${flow}" of owner "${owner}" yet. ${todo}`);
}
