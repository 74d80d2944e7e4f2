import type { Client } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { readProgress, scheduleProgressKeys, type ScheduleProgress } from '../../model/schedule.js';
import { statusOf } from '../../reading/status.js';
import type { Status } from '../../model/status.js';
import { isObject } from '../../model/object.js';
import { counted, momentFrom, textOf } from '../../words.js';
import type { Io } from '../io.js';
import { colourOf } from '../jobs.js';
import { plain } from '../safe.js';
import { tableLines, type TableCell } from '../table.js';
import {
  isoSecond,
  recordFacts,
  scheduleColour,
  scheduleFacts,
  slotFacts,
  type RecordFacts,
  type SlotFacts,
} from './facts.js';

/** Number of slots to come that are shown. */
const shownSlots = 3;

/** Prints what a schedule is and what came of it. Returns the same for JSON. */
export async function showSchedule(client: Client, doc: StoredDocument, io: Io): Promise<unknown> {
  const now = Date.now();
  const { next: _next, last: _last, ...facts } = await scheduleFacts(client, doc, now);
  const slots = facts.status === 'paused' ? [] : await client.nextSlots(doc, shownSlots, now);
  const next = slots.map(slotFacts);
  const progress = readProgress(doc['progress']);
  const { started = 0, skipped = 0, missed = 0, running = [] } = progress ?? {};
  const recent = await withStatuses(client, progress?.recent.map(recordFacts) ?? [], now);
  const { name, owner, flow, status, when, id } = facts;
  const dim = io.style('dim', `(${id})`);
  io.out(`${name}::${owner} => ${flow} ${io.style(scheduleColour(status), status)} ${dim}`);
  const say = (label: string, text: string): void => io.out(`  ${label.padEnd(11)}  ${text}`);
  say('when', when);
  for (const [key, value] of ownFields(doc)) say(key, plain(shownValue(value)));
  for (const text of problemsOf(doc)) say('problem', io.style('red', plain(text)));
  say('so far', `started ${started}, skipped ${skipped}, missed ${missed}`);
  if (progress !== undefined) for (const [label, text] of underWay(progress)) say(label, text);
  for (const slot of next) say('next', slotLine(slot, now));
  if (recent.length > 0) io.out('Recent slots:');
  for (const line of tableLines(head, recent.map(cellsOf), io)) io.out(`  ${line}`);
  return { ...facts, started, skipped, missed, running, next, recent, document: doc };
}

/** Prints the next slots of a schedule. Returns them for JSON. */
export function printSlots(slots: readonly SlotFacts[], io: Io): readonly SlotFacts[] {
  const now = Date.now();
  for (const slot of slots) io.out(slotLine(slot, now));
  return slots;
}

/** `2026-11-27T03:00:00+01:00  in 5 h`; with a jitter also when the job starts. */
function slotLine({ slot, due, time }: SlotFacts, now: number): string {
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

function problemsOf({ problems }: StoredDocument): readonly string[] {
  const all: readonly unknown[] = Array.isArray(problems) ? problems : [];
  return all.filter(isObject).map(({ message }) => textOf(message));
}

/** What has begun and has not ended. */
function underWay(progress: ScheduleProgress): readonly (readonly [string, string])[] {
  const { running = [], waiting, backfill } = progress;
  return [
    ...running.map((id) => ['running', id] as const),
    ...(waiting === undefined
      ? []
      : [['waiting', `the slot ${isoSecond(waiting)}, for the job above to end`] as const]),
    ...(backfill === undefined
      ? []
      : [
          [
            'backfill',
            `${counted(backfill.started, 'job')} so far, ${backfill.running?.length ?? 0} running`,
          ] as const,
        ]),
  ];
}

/** What happened to a slot, with the status of its job as far as that is stored. */
type ShownRecord = RecordFacts & { readonly status?: Status };

async function withStatuses(
  client: Client,
  records: readonly RecordFacts[],
  now: number,
): Promise<readonly ShownRecord[]> {
  const ids = records.flatMap(({ job }) => job ?? []);
  const jobs = ids.length === 0 ? new Map<string, StoredDocument>() : await client.getMany(ids);
  return records.map((record) => {
    const job = record.job === undefined ? undefined : jobs.get(record.job);
    return job === undefined ? record : { ...record, status: statusOf(job, now) };
  });
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
