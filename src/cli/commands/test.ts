import { z } from 'zod';
import { problem } from '../../errors.js';
import { captureConsole, shownConsole } from '../../plugin/console.js';
import { hearLeftBehind } from '../../plugin/left-behind.js';
import { casesOf, runTestCase, type CaseResult } from '../../testing/cases.js';
import { counted, lengthOf } from '../../words.js';
import { defineCommand } from '../command.js';
import type { Io } from '../io.js';
import { refuseProblems } from '../problems.js';
import { findTestFiles, readDefinitions, readTestFiles } from '../test-files.js';

/** `tws test`: runs the cases of `*.test.json` files, each on an engine of its own; no database is needed. */
export const test = defineCommand(
  z.object({ case: z.string().optional() }),
  async ({ args, flags, config: read }, io) => {
    const config = read();
    const place = { cwd: io.cwd, root: config.root };
    const { tests, problems } = await readTestFiles(await findTestFiles(args, place));
    const definitions = await readDefinitions(place);
    refuseProblems([...problems, ...definitions.problems], [], io);
    const settings = {
      ...{ documents: definitions.documents, folders: config.plugins, cwd: config.root },
      ...{ cryptoKey: config.cryptoKey, code: config.code },
    };
    const { case: text = '' } = flags;
    const cases = tests.flatMap(({ file, test: given }) =>
      casesOf(given).flatMap((one) => (one.name.includes(text) ? { file, one } : [])),
    );
    if (cases.length === 0) {
      throw problem('usage', { reason: `No case has "${text}" in its name.` });
    }
    const results: Shown[] = [];
    // What plugins print, also after their cases, may hold secrets, and standard output is for results.
    captureConsole(shownConsole(io.say));
    const lateErrors = hearLeftBehind(io.say);
    for (const { file, one } of cases) {
      const result = { file: file.shown, ...(await runTestCase(one, settings)) };
      results.push(result);
      show(result, io);
      if (io.stop.aborted) return 130;
    }
    const failed = results.filter(({ problems: found }) => found.length > 0).length;
    const all = `${counted(results.length, 'case')} in ${counted(tests.length, 'file')}`;
    io.out(failed === 0 ? `${all}: all as expected` : `${all}: ${failed} not as expected`);
    io.json({
      cases: results.map(({ file, name, problems: found, unused, tookMs }) => ({
        ...{ file, name, ok: found.length === 0, problems: found, unused, took_ms: tookMs },
      })),
    });
    return failed === 0 && lateErrors() === 0 ? 0 : 1;
  },
);

function show({ file, name, problems, unused, tookMs }: Shown, io: Io): void {
  const isOk = problems.length === 0;
  const verdict = isOk ? io.style('green', 'ok  ') : io.style('red', 'FAIL');
  io.out(`${verdict} ${file}: ${name}${isOk ? ` (${lengthOf(tookMs)})` : ''}`);
  for (const line of problems) io.out(`       ${line}`);
  for (const mock of unused) io.say(`       The mock "${mock}" was not used.`);
}

type Shown = CaseResult & { readonly file: string };
