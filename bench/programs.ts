import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that some tests and benchmarks use and that neither Node nor npm brings. */
export type Program = keyof typeof names;

/** What each is called, the first one found is taken; an environment variable may name it. */
const names = {
  // The shell draws no window of its own around the page: a sixth less work.
  chromium: [
    'chromium-headless-shell',
    'chromium',
    'chromium-browser',
    'google-chrome-stable',
    'google-chrome',
  ],
  bash: ['bash'],
  curl: ['curl'],
  script: ['script'],
  stty: ['stty'],
  python3: ['python3'],
  go: ['go'],
} as const;

/** Where a program is: what the variable of its name in capitals says (`CHROMIUM`), else on the PATH. */
export function findProgram(
  program: Program,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const named = env[program.toUpperCase()];
  if (named !== undefined && named !== '') return isExecutable(named) ? named : undefined;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return names[program]
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
