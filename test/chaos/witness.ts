import { existsSync, readFileSync } from 'node:fs';

/**
 * What a plugin did, told by itself in a file that is only ever appended to. Times are of the
 * machine's monotonic clock (`moment`), which all processes share and no wrong clock touches.
 */
export type Line = {
  /** `begin`: the plugin was called; `effect`: its work is done. */
  readonly what: 'begin' | 'effect';
  readonly job: string;
  readonly path: string;
  readonly attempt: number;
  readonly claim: string;
  readonly engine: string;
  readonly pid: number;
  readonly at: number;
};

/** Milliseconds of the machine's monotonic clock. */
export function moment(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** The file in the project's folder. */
export const witnessFile = 'witness.log';

/**
 * The plugin: works for 50 to 350 ms, the same for the same claim, and ignores its signal, as the
 * worst of plugins do.
 */
export const witnessPlugin = `
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export default async function witness({ job, step, cwd }) {
  const tell = (what) => {
    const at = Number(process.hrtime.bigint() / 1_000_000n);
    const { path, attempt, claim, engine } = step;
    const line = { what, job: job._id, path, attempt, claim, engine, pid: process.pid, at };
    appendFileSync(cwd + '/${witnessFile}', JSON.stringify(line) + '\\n');
  };
  tell('begin');
  let drawn = 0;
  for (const letter of step.claim) drawn = (drawn * 31 + letter.charCodeAt(0)) % 300;
  await sleep(50 + drawn);
  tell('effect');
  return step.attempt;
}
`;

/** All lines, in the order in which they were written. */
export function readWitness(folder: string): readonly Line[] {
  const file = `${folder}/${witnessFile}`;
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line);
}
