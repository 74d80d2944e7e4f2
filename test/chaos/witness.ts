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

/** What both plugins do: they tell of themselves and ignore their signal, as the worst of plugins do. */
const tellingModule = `
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Works for 50 to 350 ms, the same for the same claim; answers what was drawn. */
export async function work({ job, step, cwd }) {
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
  return drawn;
}
`;

/** One result in eight is so large that it is kept as an attachment. */
const witnessModule = `
import { work } from './_work.mjs';

export default async function witness(context) {
  const drawn = await work(context);
  return drawn % 8 === 0 ? 'x'.repeat(70_000) : context.step.attempt;
}
`;

/** It begins a step and a child; when both have ended the job goes on as a new one, once. */
const bossModule = `
import { work } from './_work.mjs';

export default async function boss(context) {
  await work(context);
  const { job, step } = context;
  const decider = step.path.replace(/\\.decision\\.\\d+$/, '');
  if (step.path.endsWith('.decision.0')) {
    return [{ schedule: 'witness', id: 'a' }, { start_child: 'child', id: 'b' }];
  }
  const isOver = (path) => {
    const last = job.steps.findLast((one) => one.path === decider + path);
    return last?.end !== undefined && last.due === undefined;
  };
  if (!isOver('.activity.a') || !isOver('.child.b')) return [];
  return [job.continued_from === undefined ? { continue_as_new: true } : { complete: 1 }];
}
`;

/** The plugins of the project, by file name. */
export const plugins: Readonly<Record<string, string>> = {
  '_work.mjs': tellingModule,
  'witness.mjs': witnessModule,
  'boss.mjs': bossModule,
};

/** All lines, in the order in which they were written. */
export function readWitness(folder: string): readonly Line[] {
  const file = `${folder}/${witnessFile}`;
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line);
}
