import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A line for plugins of tests: goes on when nothing holds it. What somebody is to see running must not
 * end before a slow browser has shown it.
 */
export const unlessHeld = `
  const { existsSync } = await import('node:fs');
  while (existsSync(cwd + '/hold') && !signal.aborted) await new Promise((go) => setTimeout(go, 20));
`;

/** Holds such plugins of a workspace until the answer is called. */
export async function hold({ folder }: { readonly folder: string }): Promise<() => Promise<void>> {
  const file = join(folder, 'hold');
  await writeFile(file, '');
  return () => rm(file);
}
