import { isEndedJob, type Client } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import {
  readScheduleProgress,
  scheduleProgressKeys,
  slotJobPrefix,
  type ScheduleProgress,
} from '../../model/schedule.js';
import { ownerOf } from '../../model/task.js';
import { originOf } from '../../reading/origin.js';
import { statusOf } from '../../reading/status.js';
import type { Status } from '../../model/status.js';
import { counted, momentFrom, textOf } from '../../words.js';
import type { Io } from '../io.js';
import { colourOf } from '../jobs.js';
import { plain } from '../safe.js';
import { noteSentences, problemSentences } from '../schedules-and-hooks.js';
import { tableLines, type TableCell } from '../table.js';
import {
  isoSecond,
  recordFacts,
  scheduleColour,
  scheduleFacts,
  slotFacts,
  type RecordFacts,
  type NextSlotFacts,
} from './facts.js';

/** Number of slots to come that are shown. */
const shownSlots = 3;

/** Prints what a schedule is and what came of it. Returns the same for JSON. */
export async function showSchedule(client: Client, doc: StoredDocument, io: Io): Promise<unknown> {
  const now = Date.now();
  const { next: _next, last: _last, ...facts } = await scheduleFacts(client, doc, now);
  const slots = facts.status === 'paused' ? [] : await client.nextSlots(doc, shownSlots, now);
  const next = slots.map(slotFacts);
  const progress = readScheduleProgress(doc['progress']);
  const told = await withJobs(client, progress, now);
  const { name, owner, flow, status, when, id } = facts;
  const dim = io.style('dim', `(${id})`);
  io.out(`${name}::${owner} => ${flow} ${io.style(scheduleColour(status), status)} ${dim}`);
  const say = (label: string, text: string): void => io.out(`  ${label.padEnd(11)}  ${text}`);
  say('when', when);
  for (const [key, value] of ownFields(doc)) say(key, plain(shownValue(value)));
  for (const text of problemSentences(doc)) say('problem', io.style('red', plain(text)));
  const notes = await noteSentences(client, doc);
  for (const text of notes) say('note', io.style('yellow', plain(text)));
  if (progress !== undefined)
    for (const [label, text] of progressLines(progress, told.running)) say(label, text);
  for (const slot of next) say('next', slotLine(slot, now));
  if (told.recent.length > 0) io.out('Recent slots:');
  for (const line of tableLines(head, told.recent.map(cellsOf), io)) io.out(`  ${line}`);
  const asked = await askedJobs(client, doc, now);
  if (asked.length > 0) io.out('Newest jobs of `run` and of backfills:');
  const rows = asked.map(({ id: job, status: of, cause, by = '-' }) => [
    ...[job, by === '-' ? cause : `${cause} by ${by}`].map((text) => ({ text: plain(text) })),
    { text: of, style: colourOf(of) },
  ]);
  for (const line of tableLines(['JOB', 'HOW', 'STATUS'], rows, io)) io.out(`  ${line}`);
  return { ...facts, ...countsOf(progress), notes, next, ...told, asked, document: doc };
}

/** Number of jobs of the flow that are looked at, and of those that are shown. */
const lookedAsked = 100;
const shownAsked = 10;

/** A job that somebody asked for, and how. */
type AskedJob = {
  readonly id: string;
  readonly status: Status;
  readonly cause: 'run' | 'backfill';
  readonly by?: string;
};

/** The newest jobs that somebody asked for: no slot that came started them. */
async function askedJobs(
  client: Client,
  doc: StoredDocument,
  now: number,
): Promise<readonly AskedJob[]> {
  const { _id: id, flow } = doc;
  const search = { owners: [ownerOf(doc)], idPrefix: slotJobPrefix(id), flow: textOf(flow) };
  const { jobs } = await client.search(search, { limit: lookedAsked, now });
  const asked = jobs.flatMap((job): readonly AskedJob[] => {
    const { cause, by, id: of } = originOf(job) ?? {};
    if (cause === undefined || of !== id) return [];
    return [{ id: job._id, status: statusOf(job, now), cause, ...(by && { by }) }];
  });
  return asked.slice(0, shownAsked);
}

function countsOf({ started, skipped, missed } = unbegun) {
  return { started, skipped, missed };
}

/** What is counted of a schedule that no engine has read yet. */
const unbegun: Pick<ScheduleProgress, 'started' | 'skipped' | 'missed'> = {
  ...{ started: 0, skipped: 0, missed: 0 },
};

/** Prints the next slots of a schedule. Returns them for JSON. */
export function printSlots(slots: readonly NextSlotFacts[], io: Io): readonly NextSlotFacts[] {
  const now = Date.now();
  for (const slot of slots) io.out(slotLine(slot, now));
  return slots;
}

/** `2026-11-27T03:00:00+01:00  in 5 h`; with a jitter also when the job starts. */
function slotLine({ slot, due, time }: NextSlotFacts, now: number): string {
  const starts = due === slot ? '' : `, starts ${due}`;
  return `${time}  ${momentFrom(now, Date.parse(due))}${starts}`;
}

/** Fields that the first lines show, and those that are not its author's. */
const elsewhere: ReadonlySet<string> = new Set([
  ...scheduleProgressKeys,
  ...['_id', '_rev', 'type', 'name', 'owner', 'flow', 'pushed_from'],
  ...['cron', 'every', 'offset', 'time_zone'],
]);

function ownFields(doc: StoredDocument): readonly (readonly [string, unknown])[] {
  const written = Object.entries(doc).filter(([key]) => !elsewhere.has(key));
  const isSaid = doc['overlap'] !== undefined;
  return isSaid ? written : [...written, ['overlap', 'skip (the default)']];
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What was counted, and what has begun and has not ended. */
function progressLines(
  progress: ScheduleProgress,
  running: readonly string[],
): readonly (readonly [string, string])[] {
  const { started, skipped, missed, waiting, backfill } = progress;
  const waits =
    waiting === undefined ? '' : `the slot ${isoSecond(waiting)} waits for these to end`;
  const made = `${counted(backfill?.started ?? 0, 'job')} so far`;
  return [
    ['so far', `started ${started}, skipped ${skipped}, missed ${missed}`],
    ...running.map((id) => ['running', id] as const),
    ...(waits === '' ? [] : [['waiting', waits] as const]),
    ...(backfill === undefined
      ? []
      : [['backfilling', `${made}, ${backfill.running?.length ?? 0} running`] as const]),
  ];
}

/** What happened to a slot, with the status of its job as far as that is stored. */
type ShownRecord = RecordFacts & { readonly status?: Status };

/** Jobs that have not ended, and recent slots: engines may not have looked at their jobs again. */
async function withJobs(
  client: Client,
  { recent = [], running = [] }: Partial<ScheduleProgress> = {},
  now: number,
): Promise<{ readonly running: readonly string[]; readonly recent: readonly ShownRecord[] }> {
  const ids = [...new Set([...running, ...recent.flatMap(({ job }) => job ?? [])])];
  const jobs = ids.length === 0 ? new Map<string, StoredDocument>() : await client.getMany(ids);
  const isLive = (id: string): boolean => {
    const job = jobs.get(id);
    return job !== undefined && !isEndedJob(job);
  };
  return {
    running: running.filter(isLive),
    recent: recent.map(recordFacts).map((record) => {
      const job = record.job === undefined ? undefined : jobs.get(record.job);
      return job === undefined ? record : { ...record, status: statusOf(job, now) };
    }),
  };
}

const head = ['SLOT', 'WHAT', 'JOB', 'WHY OR ID'];

function cellsOf({ slot, until, kind, count, job, because, status }: ShownRecord) {
  const many = count === undefined ? '' : ` (${count} until ${until ?? slot})`;
  return [
    { text: slot },
    { text: `${kind}${many}` },
    status === undefined ? { text: '-' } : { text: status, style: colourOf(status) },
    { text: plain(because ?? job ?? '-') },
  ] satisfies readonly TableCell[];
}
