import { z } from 'zod';
import { openDatabase, pushDesign } from '../../client.js';
import { problem } from '../../errors.js';
import { checkFiles, type GoodFile } from '../check-files.js';
import { defineCommand, switchFlag } from '../command.js';
import { showDesign } from '../design.js';
import type { Io } from '../io.js';
import { refuseProblems, showWarnings } from '../problems.js';
import { planPush } from '../push-plan.js';
import { filesToPush, type PushOptions } from '../push-files.js';
import { runPush } from '../push-run.js';

const flags = z.object({
  map: switchFlag,
  tasks: switchFlag,
  flows: switchFlag,
  jobs: switchFlag,
  design: switchFlag,
  samples: switchFlag,
});

/** `tws push`: checks everything, then writes; with a problem anywhere nothing is written. */
export const push = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const wanted: PushOptions = { ...said, paths: args };
  const design = wanted.map || wanted.design;
  const { tasks, flows, jobs, samples } = wanted;
  if (!design && !tasks && !flows && !jobs && !samples && args.length === 0) {
    const reason =
      'Say what to push: files, folders, --map, --tasks, --flows, --jobs, --design or --samples.';
    throw problem('usage', { reason });
  }
  const config = read();
  const found = await filesToPush(wanted, { cwd: io.cwd, root: config.root });
  const { client, close } = openDatabase(config);
  try {
    const checked = await checkFiles(found.files, { client, plugins: config.plugins });
    const { kept, leftOut } = withoutJobs(checked.good, found.jobs);
    const plan = await planPush(client, kept, { keepOwn: samples });
    refuseProblems([...checked.problems, ...plan.problems], checked.warnings, io);
    showWarnings(checked.warnings, io);
    const installed = design ? await pushDesign(config) : undefined;
    if (installed !== undefined) showDesign(installed, config.app, io);
    sayIgnored([...found.ignored.map((file) => [file, 'its name begins with _'] as const)], io);
    sayIgnored(leftOut, io);
    const documents = await runPush(plan.steps, client, io);
    io.json({
      ...(installed === undefined ? {} : { design: installed }),
      documents,
      warnings: checked.warnings,
    });
    if (found.files.length === 0 && !design) io.say('There is nothing to push.');
    return 0;
  } finally {
    await close();
  }
});

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
