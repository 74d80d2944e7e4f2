import { z } from 'zod';
import {
  openDatabase,
  type Client,
  type RetainOptions,
  type RetainProgress,
  type RetainResult,
} from '../../client.js';
import { problem } from '../../errors.js';
import type { Retain } from '../../model/retain.js';
import { keyOf } from '../../model/task.js';
import { counted } from '../../words.js';
import { defineCommand, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { confirming } from '../prompt.js';
import { createRedraw } from '../redraw.js';
import { subjectRetention, subjectsLeft, type SubjectRetention } from '../overdue-subjects.js';
import { assertClock } from '../server-clock.js';
import { retentionEveryMs } from '../retention-run.js';
import { tableLines } from '../table.js';

const flags = z.object({ dryRun: switchFlag, confirm: z.boolean().default(true) });

/**
 * `tws retain`: removes the jobs that `retain` does not keep, and destroys the keys of subjects whose sensitive values are
 * past their time, after a question, while no other process does. Exit
 * 1 when a job changed meanwhile, when a `retain` cannot be followed, or when nobody agreed.
 */
export const retain = defineCommand(flags, async ({ flags: said, config: read }, io) => {
  const whole = read();
  const { retain: usual, root, ...config } = whole;
  const subjects = subjectRetention(whole);
  const { client, close } = openDatabase(config);
  try {
    const state = await client.readRetention(usual);
    for (const { flow, message } of state.problems) {
      io.warn(`No job of flow ${flow} is removed: ${message}`);
    }
    const { expired } = state;
    const due = await subjects.due();
    const found = { expired, subjects: due };
    if (!state.configured && expired === 0 && due === 0) {
      io.out('No retention is configured: all jobs stay.');
      io.say(howToSay);
      const { configured, problems } = state;
      io.json({ ...nothing, configured, problems, dryRun: said.dryRun });
      return problems.length > 0 ? 1 : 0;
    }
    await assertClock(whole);
    if (said.dryRun)
      return tell({ ...(await lookAt(client, usual, io)), ...found }, 'would be removed', io);
    if (said.confirm) {
      const looked = await lookAt(client, usual, io);
      const isNone = sumOf(looked, 'removed') === 0 && due === 0;
      if (isNone && expired === 0) return tell({ ...looked, ...found }, 'removed', io);
      if (!isNone && !(await isAgreed(looked, due, io))) return 1;
    }
    return await removeAll(client, { usual, root, subjects, due }, io);
  } finally {
    await close();
  }
});

type Removing = Pick<RetainOptions, 'usual' | 'root'> & {
  readonly subjects: SubjectRetention;
  /** Number of subjects whose time is over. */
  readonly due: number;
};

/** Removes jobs, then the keys of subjects; the answer is the exit status. */
async function removeAll(
  client: Client,
  { subjects, due, ...given }: Removing,
  io: Io,
): Promise<number> {
  const removed = await removeOld(client, given, io);
  if (due === 0 || removed.broken) return tell({ ...removed, subjects: 0 }, 'removed', io);
  const purged = await subjects.purge(byThis);
  const exit = tell({ ...removed, subjects: purged.destroyed }, 'removed', io);
  const left = subjectsLeft(purged);
  if (left === undefined) return exit;
  io.warn(left);
  return Math.max(exit, 1);
}

const nothing = {
  ...{
    rows: [],
    documents: 0,
    expired: 0,
    subjects: 0,
    archived: 0,
    kept: [],
    failures: [],
    broken: false,
  },
};

const howToSay =
  'Configure it in a flow, "retain": {"succeeded": {"age": "P30D"}, "failed": {"count": 100}}, or for all flows in tws.json.';

/** What would be removed. @throws TwsError `interrupted` */
async function lookAt(client: Client, usual: Retain | undefined, io: Io): Promise<RetainResult> {
  const options = { usual, dryRun: true, signal: io.stop };
  const looked = await withProgress('looked at', io, (onProgress) =>
    client.retain({ ...options, onProgress }),
  );
  if (looked.broken) throw problem('interrupted', {});
  return looked;
}

/** `expired`: events whose life had ended; `subjects`: those whose keys were destroyed. */
type Removed = RetainResult & { readonly expired: number; readonly subjects: number };

const byThis = `tws retain (process ${process.pid})`;

/** @throws TwsError `retention_running` */
async function removeOld(
  client: Client,
  given: Pick<RetainOptions, 'usual' | 'root'>,
  io: Io,
): Promise<Omit<Removed, 'subjects'>> {
  const options = { ...given, signal: io.stop, atOnce: true, everyMs: retentionEveryMs };
  const pass = await withProgress('removing', io, (onProgress) =>
    client.retention({ ...options, by: byThis, onProgress }),
  );
  if (pass.kind === 'done') return { ...pass.result, expired: pass.expired };
  const { by: other, since, next: until } = { by: 'another process', since: 0, ...pass };
  throw problem('retention_running', { by: other, since, until });
}

async function withProgress<T>(
  what: string,
  io: Io,
  run: (onProgress: NonNullable<RetainOptions['onProgress']>) => Promise<T>,
): Promise<T> {
  const terminal = io.terminal('stderr');
  const redraw = terminal === undefined ? undefined : createRedraw(terminal);
  const draw = ({ looked, removed, kept }: RetainProgress): void => {
    const found = `${counted(removed, 'job')} to go, ${kept} kept back`;
    redraw?.draw([`${what}: ${counted(looked, 'job')}, ${found}`]);
  };
  try {
    return await run(draw);
  } finally {
    redraw?.clear();
  }
}

async function isAgreed(looked: RetainResult, due: number, io: Io): Promise<boolean> {
  const { documents } = looked;
  if (!io.interactive) throw problem('confirmation_needed', { count: documents + due });
  for (const line of linesOf(looked, io)) io.say(line);
  const removed = sumOf(looked, 'removed');
  const jobs = `remove ${counted(removed, 'job')} (${counted(documents, 'document')})`;
  const keys = `destroy the keys of ${counted(due, 'subject')} of sensitive values`;
  const ask = await confirming(io, 'Removing old jobs');
  const what = [...(removed === 0 ? [] : [jobs]), ...(due === 0 ? [] : [keys])].join(' and ');
  return ask.confirm(`Really ${what}?`, false);
}

/** Prints what was removed, or would be; the answer is the exit status. */
function tell(result: Removed, done: 'removed' | 'would be removed', io: Io): number {
  const { documents, kept, problems, broken, archived, failures, expired, subjects } = result;
  io.json({ ...result, dryRun: done !== 'removed' });
  for (const line of linesOf(result, io)) io.out(line);
  const removed = sumOf(result, 'removed');
  const jobs = removed === 0 ? 'no job' : counted(removed, 'job');
  const all = documents > removed ? ` (${counted(documents, 'document')})` : '';
  io.out(`${done}: ${jobs}${all}`);
  if (expired > 0) io.out(`${done}: ${counted(expired, 'expired document')}`);
  if (subjects > 0) io.out(`${done}: sensitive values of ${counted(subjects, 'subject')}`);
  for (const { id, because, job } of kept.slice(0, mostShown)) {
    const what = job === id ? 'it' : `job ${job}, which goes with it,`;
    io.say(`kept: ${id}: ${reasons[because](what)}.`);
  }
  const more = sumOf(result, 'kept') - mostShown;
  if (more > 0) io.say(`… and ${more} more kept.`);
  if (archived > 0) io.out(`archived: ${counted(archived, 'job')}`);
  for (const { message } of failures) io.warn(message);
  if (broken) {
    io.warn('Broken off. Repeat the command to go on.');
    return 130;
  }
  const hasConflict = kept.some(({ because }) => because === 'conflict');
  return problems.length > 0 || failures.length > 0 || hasConflict ? 1 : 0;
}

const mostShown = 20;

const reasons = {
  unfinished: (what: string) => `${what} has not ended`,
  retry: (what: string) => `${what} is about to be retried`,
  large: () => 'more than 10000 jobs go with it, or more than its archive takes at once',
  conflict: () => 'it, or a job that goes with it, changed meanwhile',
  starting: (what: string) =>
    `${what} may be made again by its schedule or event, which still names it as starting`,
  unique: (what: string) => `${what} has a "unique" key that still keeps other jobs from running`,
  archive: () => 'its archive does not take it',
} as const;

function linesOf({ rows }: RetainResult, io: Io): readonly string[] {
  return tableLines(
    ['FLOW', 'STATUS', 'REMOVED', 'KEPT'],
    rows.map(({ flow, owner, status, removed, kept }) => [
      { text: flow === '' ? `(no flow)::${owner}` : keyOf(flow, owner) },
      { text: status },
      { text: String(removed) },
      { text: String(kept) },
    ]),
    io,
  );
}

function sumOf({ rows }: RetainResult, what: 'removed' | 'kept'): number {
  return rows.reduce((sum, row) => sum + row[what], 0);
}
