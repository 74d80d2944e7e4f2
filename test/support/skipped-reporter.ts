import type { Reporter, TestModule } from 'vitest/node';
import { programsIn } from './programs.js';

/** Prints one line about the tests that were skipped for want of a program; nothing when all ran. */
export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const notes = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map((test) => {
        const result = test.result();
        return result.state === 'skipped' ? result.note : undefined;
      }),
    );
    const line = skippedLine(notes);
    if (line !== '') process.stdout.write(`\n${line}\n`);
  }
}

/** How many tests were skipped for want of which programs, and how to run them. */
export function skippedLine(notes: readonly (string | undefined)[]): string {
  const lacking = notes.map(programsIn).filter((programs) => programs.length > 0);
  if (lacking.length === 0) return '';
  const counts = new Map<string, number>();
  for (const program of lacking.flat()) counts.set(program, (counts.get(program) ?? 0) + 1);
  const each = [...counts].map(([program, count]) => `${program} (${count})`).join(', ');
  const noun = lacking.length === 1 ? 'test was' : 'tests were';
  const where = counts.has('chromium') ? ' (or set CHROMIUM to the path of a Chromium)' : '';
  return `${lacking.length} ${noun} skipped on this machine, which lacks ${each}: install what is missing${where} and run npm test again.`;
}
