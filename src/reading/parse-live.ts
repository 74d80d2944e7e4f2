import { z } from 'zod';
import { toFlow } from './dialects.js';
import { invalid, type Either, type Invalid } from '../model/either.js';
import { lateRunText, longParts, type Job, type LiveJob } from '../model/job.js';
import { liveJobSchema } from './documents.js';
import { countMembers, entrySizeProblem, isFields, liveSizeProblem } from '../model/live-size.js';
import { toJsonPath, type Problem } from '../model/problems.js';
import { countValues } from '../model/size.js';

type Issue = z.core.$ZodIssue;
type Doc = Readonly<Record<string, unknown>>;

/** Entries with so many members are read at once: that takes a few milliseconds. */
const pieceMembers = 5_000;
/** What an entry counts for beside them. */
const entryMembers = 10;

function entryWeight(entry: unknown, isDocument: boolean): number {
  const count = isDocument ? countValues : countMembers;
  return entryMembers + count(entry, pieceMembers);
}

/**
 * Reads a job that is under way. What may be long in it is read in pieces, between which the reader may
 * pause; the first piece that is wrong ends it, because a list of a million wrong entries would have as
 * many problems.
 */
export function* parseLiveJob(doc: Doc): Generator<undefined, Either<'job', Job>, undefined> {
  const large = liveSizeProblem(doc);
  if (large !== undefined) return wrong(large);
  const long = parts.filter((part) => isLong(part, valueAt(doc, part.at)));
  const short = long.reduce((rest, { at }) => withValue(rest, at, emptied(valueAt(rest, at))), doc);
  const read = liveJobSchema.safeParse(short);
  if (!read.success) return invalid('job', read.error.issues, doc);
  let job: Doc = read.data;
  for (const part of long) {
    const parsed = yield* parseEntries(doc, part);
    if (!parsed.ok) return parsed;
    job = withValue(job, part.at, parsed.value);
  }
  const { run, steps } = job as unknown as LiveJob;
  if (steps.some((step) => step.run > run)) {
    const issue: Issue = { code: 'custom', path: ['run'], message: lateRunText, input: run };
    return invalid('job', [issue], doc);
  }
  return { kind: 'job', ok: true, value: toLiveJob(job) };
}

/** The parts with what a piece of their entries must be. */
const parts = longParts.map((part) => ({ ...part, list: z.array(part.entry) }));
type Part = (typeof parts)[number];

/** The list, or the object, with its entries as the schema gives them. */
function* parseEntries(
  doc: Doc,
  { at, list, isDocument = false }: Part,
): Generator<undefined, Either<'job', unknown>, undefined> {
  const whole = valueAt(doc, at) as readonly unknown[] | Doc;
  const keys = Array.isArray(whole) ? undefined : Object.keys(whole).filter(isOrdinary);
  const values = keys === undefined ? (whole as []) : keys.map((key) => (whole as Doc)[key]);
  const pathOf = (i: number): PropertyKey[] => [...path, keys?.[i] ?? i];
  const path = at.filter((key) => key !== undefined);
  const read: unknown[] = [];
  while (read.length < values.length) {
    const from = read.length;
    if (from > 0) yield undefined;
    let to = from;
    for (let members = 0; to < values.length && members < pieceMembers; to += 1) {
      const large = entrySizeProblem(values[to], isDocument, () => toJsonPath(pathOf(to)));
      if (large !== undefined) return wrong(large);
      members += entryWeight(values[to], isDocument);
    }
    const parsed = list.safeParse(values.slice(from, to));
    if (!parsed.success) {
      const issues = parsed.error.issues.map((issue) => {
        const [i, ...below] = issue.path;
        return { ...issue, path: [...pathOf(from + Number(i)), ...below] };
      });
      return invalid('job', issues, doc);
    }
    read.push(...parsed.data);
  }
  const value =
    keys === undefined ? read : Object.fromEntries(keys.map((key, i) => [key, read[i]]));
  return { kind: 'job', ok: true, value };
}

function isOrdinary(key: string): boolean {
  return key !== '__proto__';
}

function wrong(problem: Problem): Invalid<'job'> {
  return { kind: 'job', ok: false, problems: [problem] };
}

/** Whether a part is read in pieces. What is of a wrong kind is told by the schema of the whole. */
function isLong({ isDocument = false }: Part, value: unknown): boolean {
  if (!isFields(value)) return false;
  let members = 0;
  for (const key in value) {
    members += entryWeight(value[key], isDocument);
    if (members > pieceMembers) return true;
  }
  return false;
}

function emptied(value: unknown): unknown {
  return Array.isArray(value) ? [] : {};
}

function valueAt(doc: Doc, [key, below]: Part['at']): unknown {
  const value = doc[key];
  return below === undefined || !isFields(value) ? value : value[below];
}

function withValue(doc: Doc, [key, below]: Part['at'], value: unknown): Doc {
  return { ...doc, [key]: below === undefined ? value : { ...(doc[key] as Doc), [below]: value } };
}

/** Snapshots may have been edited by hand, in any form that a flow may have. */
function toLiveJob(job: Doc): Job {
  const read = job as z.infer<typeof liveJobSchema>;
  const { tasks, ...settings } = toFlow({ ...read.flow_definition, tasks: read.tasks });
  return { ...read, tasks, flow_definition: settings } as unknown as LiveJob;
}
