import { existsSync } from 'node:fs';
import { z } from 'zod';
import { open, type JobToSubmit, type Client } from '../../client.js';
import { problem } from '../../errors.js';
import { defaultOwner } from '../../model/task.js';
import { answersFor } from '../answers.js';
import { checkDocument } from '../checks/document.js';
import { remedy } from '../checks/references.js';
import { command, numberFlag, switchFlag } from '../command.js';
import { readJsonFile, readJsonText, type FoundFile, type Written } from '../files.js';
import type { Io } from '../io.js';
import { resolvePath, shownPath, type Place } from '../paths.js';
import { problemLine, refuseProblems } from '../problems.js';
import { waitForJob } from '../waiting.js';

const flags = z.object({
  set: z.array(z.string()).default([]),
  id: z.string().min(1, { error: 'must not be empty' }).optional(),
  wait: switchFlag,
  giveUp: numberFlag(1),
  timeout: numberFlag(1),
});

/** So long a database may give no answer while a job is waited for, in seconds. */
const giveUpS = 60;

/** `tws submit`: stores the job of a file; with `--wait` its exit is that of the command. */
export const submit = command(flags, async ({ args, flags: said, config: read }, io) => {
  const config = read();
  const { doc, file } = await readJob(args[0] ?? '', { cwd: io.cwd, root: config.root }, io);
  const filled = await answersFor({ doc, file: file.shown, set: said.set }, io);
  const job = { ...filled, ...(said.id === undefined ? {} : { _id: said.id }) };
  refuseProblems(checkDocument(file.shown, job), [], io);
  const { client, close } = open(config);
  try {
    await warnOfFlow(client, job, io);
    const submitted = await client.submit(job as unknown as JobToSubmit);
    const { id, existed } = submitted;
    const line = existed
      ? `skipping: ${file.shown} (already submitted as ${id})`
      : `submitted: ${id}`;
    io.out(line);
    if (!said.wait) {
      io.json(submitted);
      return 0;
    }
    const { giveUp = giveUpS, timeout } = said;
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

type Job = { readonly doc: Written; readonly file: FoundFile };

/** A path, the name of a file in `~tws/jobs`, or `-` for stdin. */
async function readJob(given: string, place: Place, io: Io): Promise<Job> {
  const read =
    given === '-'
      ? readJsonText(await io.readInput(), { path: '-', shown: 'stdin', named: true })
      : await readJsonFile(fileOf(given, place));
  if (!read.ok) {
    const { file, ...where } = read.problem;
    throw problem('file_unusable', {
      file,
      reason: problemLine({ file: where.path, path: '', message: where.message }),
    });
  }
  const { doc, file } = read;
  if (doc['type'] !== 'job') {
    const { type } = doc;
    const what = typeof type === 'string' ? `a ${type}` : 'a document without type';
    const reason = `it holds ${what}, not a job.`;
    throw problem('file_unusable', { file: file.shown, reason });
  }
  const { $schema, ...job } = doc;
  return { doc: job, file };
}

function fileOf(given: string, place: Place): FoundFile {
  const candidates = [given, `${given}.json`, `~tws/jobs/${given}`, `~tws/jobs/${given}.json`];
  for (const candidate of candidates.filter((name) => name.endsWith('.json'))) {
    const path = resolvePath(candidate, place);
    if (existsSync(path)) return { path, shown: shownPath(path, place), named: true };
  }
  throw problem('file_missing', { file: given });
}

/** The job is stored in any case: the flow may come later, and the job tells what became of it. */
async function warnOfFlow(client: Client, job: Written, io: Io): Promise<void> {
  const { flow } = job;
  if (typeof flow !== 'string') return;
  const owner = typeof job['owner'] === 'string' ? job['owner'] : defaultOwner;
  for (const one of new Set([owner, defaultOwner])) {
    if ((await client.find('flow', flow, one)).length > 0) return;
  }
  const flows = (await client.definitions('flow')).map(({ name }) => String(name));
  const todo = remedy({ kind: 'flow', name: flow }, { flow: flows, task: [] });
  const label = io.style('yellow', 'warning:', 'stderr');
  io.warn(`${label} there is no flow "${flow}" of owner "${owner}" yet. ${todo}`);
}
