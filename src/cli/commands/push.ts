import { z } from 'zod';
import { openDatabase, pushDesign } from '../../client.js';
import { problem } from '../../errors.js';
import { checkFiles, type GoodFile } from '../check-files.js';
import { defineCommand, switchFlag } from '../command.js';
import { showDesign } from '../design.js';
import type { Io } from '../io.js';
import { refusePushConflicts, refuseProblems, showWarnings } from '../problems.js';
import { openSynced } from '../pull/synced.js';
import { notePushed } from '../push-notes.js';
import { keptFromPrune } from '../push-merge.js';
import { flowsInUse } from '../prune-use.js';
import { planPush } from '../push-plan.js';
import { filesToPush, type PushOptions } from '../push-files.js';
import { brokenBy, isRemovalAgreed, pruneScope, removeAll, superfluous } from '../push-prune.js';
import { runPush, showPlan } from '../push-run.js';

const flags = z.object({
  map: switchFlag,
  tasks: switchFlag,
  flows: switchFlag,
  schedules: switchFlag,
  hooks: switchFlag,
  jobs: switchFlag,
  design: switchFlag,
  samples: switchFlag,
  prune: switchFlag,
  force: switchFlag,
  dryRun: switchFlag,
  confirm: z.boolean().default(true),
});

/** `tws push`: checks everything, then writes; with a problem anywhere nothing is written. */
export const push = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const wanted = wantedOf(args, said);
  const design = wanted.map || wanted.design;
  const config = read();
  const scope = said.prune ? pruneScope(wanted, config) : undefined;
  const found = await filesToPush(wanted, { cwd: io.cwd, root: config.root });
  const { client, close } = openDatabase(config);
  try {
    const checked = await checkFiles(found.files, { client, plugins: config.plugins });
    const { kept, leftOut } = withoutJobs(checked.good, found.jobs);
    const book = await openSynced(config, client);
    const synced = said.force ? undefined : book.agreed;
    const plan = await planPush(client, kept, { ...config, keepOwn: said.samples, synced });
    const removed = scope === undefined ? [] : await superfluous(client, kept, plan.steps, scope);
    const broken = await brokenBy(client, kept, removed);
    const problems = [...checked.problems, ...plan.problems, ...broken];
    const conflicts = [
      ...plan.conflicts,
      ...removed.flatMap((doc) => keptFromPrune(doc, synced?.get(doc._id)) ?? []),
    ];
    if (problems.length === 0) refusePushConflicts(conflicts, checked.warnings, io);
    refuseProblems([...problems, ...conflicts], checked.warnings, io);
    const uses = await flowsInUse(client, removed, kept);
    const warnings = [...checked.warnings, ...uses];
    showWarnings(said.dryRun ? warnings : checked.warnings, io);
    if (said.dryRun) {
      const documents = showPlan(plan.steps, removed, io);
      io.json({ dry_run: true, documents, warnings });
      return 0;
    }
    if (!(await isRemovalAgreed({ removed, uses }, said.confirm, io))) return 1;
    const installed = design ? await pushDesign(config) : undefined;
    if (installed !== undefined) showDesign(installed, config.app, io);
    sayIgnored([...found.ignored.map((file) => [file, 'its name begins with _'] as const)], io);
    sayIgnored(leftOut, io);
    const notes = notePushed(config, book, io);
    const documents = await runPush(plan.steps, client, io, notes.done)
      .then(async (pushed) => [...pushed, ...(await removeAll(removed, client, io, notes.gone))])
      .finally(notes.end);
    io.json({
      ...(installed === undefined ? {} : { design: installed }),
      documents,
      warnings,
    });
    if (found.files.length === 0 && !design) io.say('There is nothing to push.');
    return 0;
  } finally {
    await close();
  }
});

/** @throws TwsError `usage` when nothing is named */
function wantedOf(paths: readonly string[], said: Omit<PushOptions, 'paths'>): PushOptions {
  const { map, tasks, flows, schedules, hooks, jobs, design, samples } = said;
  const wanted = { map, tasks, flows, schedules, hooks, jobs, design, samples };
  if (paths.length > 0 || Object.values(wanted).includes(true)) return { paths, ...wanted };
  const reason =
    'Say what to push: files, folders, --map, --tasks, --flows, --schedules, --hooks, --jobs, --design or --samples.';
  throw problem('usage', { reason });
}

type LeftOut = readonly [file: string, because: string];

/** Jobs in folders are orders for `tws submit`, unless they were asked for. */
function withoutJobs(
  files: readonly GoodFile[],
  jobs: boolean,
): { readonly kept: readonly GoodFile[]; readonly leftOut: readonly LeftOut[] } {
  const isLeft = ({ file, doc }: GoodFile): boolean =>
    doc['type'] === 'job' && !file.named && !jobs;
  return {
    kept: files.filter((file) => !isLeft(file)),
    leftOut: files
      .filter(isLeft)
      .map(({ file }) => [file.shown, 'a job: submit it, or push --jobs'] as const),
  };
}

function sayIgnored(files: readonly LeftOut[], io: Io): void {
  for (const [file, because] of files) io.out(`skipping: ${file} (${because})`);
}
