import { z } from 'zod';
import { openDatabase } from '../../client.js';
import { TwsError } from '../../errors.js';
import { checkFiles, type CheckedFiles, type CheckOptions } from '../check-files.js';
import { defineCommand } from '../command.js';
import { findFiles, type FoundFile } from '../files.js';
import type { Io } from '../io.js';
import { refuseProblems, showWarnings } from '../problems.js';

/** `tws validate`: what `push` checks, without a write; the database is asked when it answers. */
export const validate = defineCommand(z.object({}), async ({ args, config: read }, io) => {
  const config = read();
  const paths = args.length === 0 ? ['~tws'] : args;
  const { files } = await findFiles(paths, { cwd: io.cwd, root: config.root });
  const { client, close } = openDatabase(config);
  try {
    const checked = await check(files, { client, plugins: config.plugins }, io);
    refuseProblems(checked.problems, checked.warnings, io);
    showWarnings(checked.warnings, io);
    for (const { file, doc } of checked.good)
      io.out(`valid: ${file.shown} (${String(doc['type'])})`);
    io.json({ problems: [], warnings: checked.warnings, files: files.map(({ shown }) => shown) });
    return 0;
  } finally {
    await close();
  }
});

/** Without a database the files are checked all the same, only not against it. */
async function check(
  files: readonly FoundFile[],
  options: CheckOptions,
  io: Io,
): Promise<CheckedFiles> {
  try {
    return await checkFiles(files, options);
  } catch (error) {
    if (!(error instanceof TwsError) || error.exit === 78) throw error;
    io.say(`The files are not checked against a database: ${error.message}`);
    return checkFiles(files, { plugins: options.plugins });
  }
}
