import { isLiveJob, type FinalJob } from '../../model/job.js';
import { parseDocument } from '../../reading/parse.js';
import type { Step } from '../../model/step.js';
import { command } from '../../decide/requests/command.js';
import type { DefinitionsKnown } from '../../decide/versions/take-over.js';
import { unknownWorld } from '../../decide/world.js';
import { isAsked, withEdits, withLateEditsRefused } from '../../decide/requests/edits.js';
import { without } from '../../model/record.js';
import { isRefusal, mayBeDropped } from '../../decide/requests/records.js';
import { finalAlready } from '../../decide/requests/refusal.js';
import { isOver, withAttachmentsOf, type LeafRevision } from './leaf-revisions.js';

/**
 * The document with what users sent to the other leaf: its cancel, requests not applied here, signals
 * that have not come here, notes. A final job halts no more, and only tells the signals that came
 * before its end: whoever sent them was told so. A retry, or a skip behind which it goes on, opens it
 * again.
 */
export function withMergedRequests(leaf: LeafRevision, other: LeafRevision): LeafRevision {
  return withMessages(withRequests(leaf, other), other);
}

function withMessages(leaf: LeafRevision, other: LeafRevision): LeafRevision {
  const signals = missing(leaf, other, 'signals', ({ id }) => id);
  const notes = missing(leaf, other, 'notes', ({ text, at, by }) => JSON.stringify([text, at, by]));
  if (signals.length === 0 && notes.length === 0) return leaf;
  return {
    ...awake(withAttachmentsOf(leaf, other, signals.flatMap(attachedTo))),
    ...(signals.length === 0 ? {} : { signals: [...listIn(leaf, 'signals'), ...signals] }),
    ...(notes.length === 0 ? {} : { notes: [...listIn(leaf, 'notes'), ...notes] }),
  };
}

/** The attachment that a worker's long answer is in. */
function attachedTo({ data }: Entry): readonly string[] {
  const { $attachment: name } = (data ?? {}) as { readonly $attachment?: unknown };
  return typeof name === 'string' ? [name] : [];
}

function withRequests(leaf: LeafRevision, other: LeafRevision): LeafRevision {
  const kept = listIn(leaf, 'requests');
  const missed = unknownIn(leaf, recorded(other, leaf)).filter((one) => !mayBeDropped(one, kept));
  const next = missed.reduce<LeafRevision>(
    (before, record) => withRequest(before, record, other),
    leaf,
  );
  const cancel = isAsked(other['cancel']) && !isAsked(next['cancel']) && !isOver(next);
  return cancel ? { ...awake(next), cancel: other['cancel'] } : next;
}

/** The requests that only the other leaf has on record. */
function unknownIn(leaf: LeafRevision, other: LeafRevision): readonly Entry[] {
  return missing(leaf, other, 'requests', ({ id, revision }) => JSON.stringify([id, revision]));
}

/**
 * The losing leaf with what somebody has written into it on record, if no engine has put it there yet.
 * A final winner refuses it.
 */
function recorded(other: LeafRevision, winner: LeafRevision): LeafRevision {
  const at = lastMomentOf(other);
  if (isOver(other)) return withLateEditsRefused(other as unknown as FinalJob, at);
  const edited = withEdits(other, at);
  if (edited === other || !isOver(winner)) return edited;
  const before = new Set(listIn(other, 'requests'));
  const refused = finalAlready(winner._id);
  const requests = listIn(edited, 'requests').map((one) =>
    before.has(one) || isRefusal(one) ? one : { ...one, refused },
  );
  return { ...edited, requests };
}

/** The last time that a document tells of, so that all engines write the same. */
function lastMomentOf(leaf: LeafRevision): number {
  const moments = ['steps', 'requests', 'signals'].flatMap((key) =>
    listIn(leaf, key).flatMap(({ at, accepted, start, end }) => [at, accepted, start, end]),
  );
  const known = [leaf['start'], leaf['end'], ...moments].filter((one) => typeof one === 'number');
  return known.reduce((last, one) => Math.max(last, one), 0);
}

/** The document with a request that was applied in the other leaf, and with what it asks for. */
function withRequest(leaf: LeafRevision, record: Entry, other: LeafRevision): LeafRevision {
  if (isRefusal(record)) return { ...leaf, requests: [...listIn(leaf, 'requests'), record] };
  const again = appliedAgain(leaf, record, other);
  if (again !== undefined) return again;
  if (isUnmoved(leaf, record, other)) return withUnmoved(leaf, record);
  const effect = isOver(leaf) ? {} : effectOf(record, leaf, other);
  return { ...awake(leaf), ...effect, requests: [...listIn(leaf, 'requests'), record] };
}

/** Whether a move cannot be made here; a later move of the same leaf may have been applied before. */
function isUnmoved(leaf: LeafRevision, { action }: Entry, other: LeafRevision): boolean {
  return action === 'migrate' && !isOver(leaf) && leaf['flow_rev'] !== other['flow_rev'];
}

/** What this leaf has done keeps it from the definition that the other one went by. */
function withUnmoved(leaf: LeafRevision, record: Entry): LeafRevision {
  const refused = `Copies of job ${leaf._id} were merged, and the one that counts cannot move any more. Ask for it again.`;
  return { ...leaf, requests: [...listIn(leaf, 'requests'), { ...record, refused }] };
}

/**
 * A skip, a retry or a move to another version changes what it finds, so it is applied again; as of the same time,
 * so that all engines write the same. Undefined: here it can do nothing, the job has gone on without it.
 */
function appliedAgain(
  leaf: LeafRevision,
  { id, at, revision, ...asked }: Entry,
  other: LeafRevision,
): LeafRevision | undefined {
  if (!isAppliedAgain(asked)) return undefined;
  const { _id: job } = leaf;
  const _rev = `${Number(revision ?? 1)}-again`;
  const request = parseDocument({ ...asked, _id: String(id), _rev, type: 'request', job });
  const found = parseDocument(leaf);
  if (request.kind !== 'request' || !request.ok) return undefined;
  if (found.kind !== 'job' || !found.ok) return undefined;
  const commanded = command(found.value, request.value, Number(at), definitionsIn(other));
  return commanded.kind === 'applied' ? awake(commanded.job) : undefined;
}

/** The definitions that a leaf goes by: those to which the other one is to move. */
function definitionsIn(leaf: LeafRevision): DefinitionsKnown {
  const parsed = parseDocument(leaf);
  const job = parsed.kind === 'job' && parsed.ok ? parsed.value : undefined;
  if (job === undefined || !isLiveJob(job)) return unknownWorld;
  const { tasks, flow_definition: settings, definitions, flow_rev: rev } = job;
  const flow = { ...settings, tasks, ...(rev === undefined ? {} : { _rev: rev }) };
  return {
    flow: () => ({ kind: 'found', value: flow }),
    task: (name) => {
      const value = definitions[name];
      return value === undefined ? { kind: 'absent' } : { kind: 'found', value };
    },
    // It was checked where the job moved.
    schema: unknownWorld.schema,
  };
}

/** Whether something that is applied again was applied in a leaf and the other one does not tell of it. */
export function isChangedByRequest(leaf: LeafRevision, other: LeafRevision): boolean {
  return unknownIn(other, leaf).some((one) => isAppliedAgain(one) && !isRefusal(one));
}

/** What opening a final job again changes in it. */
const reopening = ['params', 'redo', 'refresh', 'relock', 'timed_from'] as const;

function isAppliedAgain({ action }: Entry): boolean {
  return action === 'skip' || action === 'retry' || action === 'migrate';
}

/** What a request leaves behind in a job that has not ended. */
function effectOf({ action }: Entry, leaf: LeafRevision, other: LeafRevision): Entry {
  switch (action) {
    case 'pause':
    case 'resume':
      return { paused: action === 'pause' };
    case 'retry': {
      if (leaf['state'] === undefined) return {};
      // The other leaf had ended and begins a run anew; here the one before is still going on.
      const kept = reopening.filter((key) => other[key] !== undefined);
      // One that ended before it began has no run.
      const runs = [leaf['run'], other['run']].filter((run) => typeof run === 'number');
      const more = runs.length === 0 ? {} : { run: Math.max(...runs) };
      return { ...Object.fromEntries(kept.map((key) => [key, other[key]])), ...more };
    }
    default:
      return {};
  }
}

/** A sleeping job with something new is to be looked at, also by engines that start later. */
function awake(leaf: LeafRevision): LeafRevision {
  return without(leaf, 'next_due');
}

/** The document with a problem for each attempt that ran beside what it tells. */
export function withNotes(leaf: LeafRevision, steps: readonly Step[]): LeafRevision {
  if (steps.length === 0) return leaf;
  const { problems } = leaf;
  const before: readonly unknown[] = Array.isArray(problems) ? problems : [];
  const known = new Set(before.map((one) => (one as Partial<Entry> | null)?.['message']));
  const notes = steps.map(noteOf).filter(({ message }) => !known.has(message));
  return notes.length === 0 ? leaf : { ...leaf, problems: [...before, ...notes] };
}

function noteOf({ attempt, name, child, engine, claim }: Step) {
  const what = `Attempt ${attempt} of step ${name}`;
  const message =
    typeof child === 'string'
      ? `${what} made job ${child} as well. The step does not need that job, which is cancelled unless it has ended.`
      : `${what} ran on ${String(engine)} as well (claim ${String(claim)}), when the step was done already.`;
  return { path: 'steps', message };
}

/** Somebody wants the job to begin nothing more. */
export function isHeld(leaf: LeafRevision): boolean {
  return isAsked(leaf['cancel']) || leaf['paused'] === true;
}

type Entry = Readonly<Record<string, unknown>>;

/** What a list of the other leaf holds and the same list here does not, by what makes it the same. */
function missing(
  leaf: LeafRevision,
  other: LeafRevision,
  key: string,
  sameBy: (entry: Entry) => unknown,
): readonly Entry[] {
  const known = new Set(listIn(leaf, key).map(sameBy));
  return listIn(other, key).filter((entry) => !known.has(sameBy(entry)));
}

function listIn(leaf: LeafRevision, key: string): readonly Entry[] {
  const value = leaf[key];
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((entry): entry is Entry => typeof entry === 'object' && entry !== null);
}
