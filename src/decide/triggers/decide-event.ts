import type { StoredDocument } from '../../model/document.js';
import { canonical } from '../../model/canonical.js';
import type { Joining } from '../../model/gathering.js';
import { ambiguityText, chooseVersion, type VersionChoice } from '../../model/flow-versions.js';
import { isObject } from '../../model/object.js';
import { writtenSpanMs } from '../../model/span.js';
import { ownerOf } from '../../model/task.js';
import { isDeprecated } from '../../model/welcome.js';
import {
  mostGathered,
  readOn,
  readTriggered,
  type StartingJob,
  type Trigger,
  type Triggered,
} from '../../model/trigger.js';
import type { Parsed } from '../../reading/parse.js';
import type { Made } from '../schedules/schedule-world.js';
import type { Answer } from '../world.js';
import {
  calledBy,
  seenOf,
  type Called,
  type StoredEvent,
  type TriggeredJob,
  type TriggerQuestion,
} from './events.js';

/** What one engine does about an announced event. */
export type EventIntent =
  /** Nothing more. */
  | { readonly kind: 'rest'; readonly because: string }
  /** Finds the flows that events of this type start. */
  | { readonly kind: 'look_up'; readonly event: string }
  | { readonly kind: 'evaluate'; readonly questions: readonly TriggerQuestion[] }
  /** Stores these jobs, which may be there already, and decides again. */
  | { readonly kind: 'make'; readonly jobs: readonly TriggeredJob[] }
  /** Has these gatherings take the event, and decides again. */
  | { readonly kind: 'join'; readonly gatherings: readonly Joining[]; readonly at: number }
  /** Nothing before `until` (epoch ms). */
  | { readonly kind: 'wait'; readonly until: number }
  /** Stores the event, and decides again. */
  | { readonly kind: 'write'; readonly event: StoredEvent; readonly because: string };

/** A flow whose `on` names the type of an event, read once. */
export type ListeningFlow = {
  /** Of its document. */
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  /** Why it takes no jobs: it is disabled or deprecated. */
  readonly closed: string | undefined;
  readonly triggers: readonly Trigger[];
  /** Why it starts no job, whatever the event says. */
  readonly problem: string | undefined;
};

/** What a decision about an event may know beside the event and the time. */
export type EventWorld = {
  /** The flows whose `on` names the type of the event; undefined: nobody has looked yet. */
  readonly flows: readonly ListeningFlow[] | undefined;
  readonly answer: (question: string) => Answer | undefined;
  /** What became of a job that was to be made; undefined: nobody has tried yet. */
  readonly made: (id: string) => Made | undefined;
  /** What became of the event in a gathering (`made`: it was taken); undefined: nobody has tried yet. */
  readonly joined: (into: string) => Made | { readonly kind: 'full' } | undefined;
  /** How long an event lives that has no `ttl`, ms; undefined or 0: until it is deleted. */
  readonly usualTtlMs: number | undefined;
  /** Why the store does not take the event with the jobs that it starts; undefined: nobody has tried yet. */
  readonly refusal: string | undefined;
  /** A text of few characters that stands for a longer one. */
  readonly hash: (text: string) => string;
};

/**
 * Says what an engine does about an event that was announced: a pure function of the document, the time
 * (epoch ms) and what was looked up.
 *
 * T21 Which jobs an event starts is decided once, by one write of the event, a compare-and-set: `starting`
 *    holds them, with their parameters. They are made after it, and a second write clears `starting`.
 * T39 When the life of an event ends is decided by the same write, from the time of this engine: `until`.
 * T22 The id of a job follows from the event, the flow and the entry of its `on`, and its content from
 *    `starting`: every engine makes the same one, and it exists once.
 * T23 An event starts jobs of the flows that have a fitting `on` when it is decided. It starts nothing
 *    later, whatever happens to flows or to the jobs.
 * T24 What a trigger cannot do is told: an entry that cannot be followed has a job that ends with exit 3
 *    and the reason; a flow that starts none although its `on` names the event is listed in `refused`, and so
 *    is every flow where the store does not take the event with its jobs: that is not tried again.
 */
export function decideEvent(event: StoredEvent, now: number, world: EventWorld): EventIntent {
  const triggered = readTriggered(event.triggered);
  if (triggered === 'unreadable')
    return { kind: 'rest', because: 'Its "triggered" cannot be read.' };
  if (triggered === undefined) return beginning(event, now, world);
  const { starting = [], gathering = [] } = triggered;
  if (starting.length + gathering.length === 0)
    return { kind: 'rest', because: 'All its jobs are made.' };
  const jobs = starting.map((one) => jobOf(event, one));
  const unmade = jobs.filter(({ _id }) => world.made(_id) === undefined);
  if (unmade.length > 0) return { kind: 'make', jobs: unmade };
  const open = gathering.filter(({ into }) => world.joined(into) === undefined);
  if (open.length > 0) return { kind: 'join', gatherings: open, at: triggered.at };
  const isFull = gathering.some(({ into }) => world.joined(into)?.kind === 'full');
  if (isFull) return { kind: 'wait', until: now + fullMs };
  return written(event, settled(triggered, world), 'Its jobs are made.');
}

/** When to try again to join a gathering that takes no event now, ms. */
const fullMs = 1_000;

/** Decides which jobs an event starts. */
function beginning(event: StoredEvent, now: number, world: EventWorld): EventIntent {
  const { flows } = world;
  if (flows === undefined) return { kind: 'look_up', event: event.event };
  const verdicts = flows.map((flow) => verdictOf(event, flow, world));
  const questions = verdicts.flatMap((one) => one.questions ?? []);
  if (questions.length > 0) return { kind: 'evaluate', questions };
  const found = verdicts.flatMap((one) => one.starting ?? []);
  // Several documents of one flow are one flow: its job says that they are.
  const wanted = [...new Map(found.map((one) => [one.job, one])).values()];
  const joining = verdicts.flatMap((one) => one.gathering ?? []);
  const together = [...new Map(joining.map((one) => [one.into, one])).values()];
  const { refusal } = world;
  const [starting, gathering] = refusal === undefined ? [wanted, together] : [[], []];
  const refused = [
    ...verdicts.flatMap((one) => one.refused ?? []),
    ...(refusal === undefined ? [] : keptOut([...wanted, ...together], refusal)),
  ];
  const ttl = event.ttl === undefined ? world.usualTtlMs : writtenSpanMs(event.ttl);
  const triggered = {
    at: now,
    ...(ttl !== undefined && ttl > 0 && { until: now + ttl }),
    ...(starting.length > 0 && { starting }),
    ...(gathering.length > 0 && { gathering }),
    ...(refused.length > 0 && { refused }),
  };
  return written(event, triggered, 'It is decided which jobs it starts.');
}

/** The flows of jobs that the event cannot hold. */
function keptOut(wanted: readonly Called[], refusal: string): readonly Refused[] {
  const because = `The event cannot be stored with the jobs that it starts: ${refusal}`;
  return [...new Set(wanted.map(calledBy))].map((flow) => ({ flow, because }));
}

function written(event: StoredEvent, triggered: Triggered, because: string): EventIntent {
  return { kind: 'write', event: { ...event, triggered }, because };
}

type Refused = { readonly flow: string; readonly because: string };

/** What comes of one flow, or of an entry of it. */
type Verdict = {
  readonly questions?: readonly TriggerQuestion[];
  readonly starting?: readonly StartingJob[];
  readonly gathering?: readonly Joining[];
  readonly refused?: readonly Refused[];
};

/**
 * Reads a flow whose `on` names the type of an event; undefined: the document is no flow, or of a version that is
 * not current. `versions`: the documents of its name and owner.
 */
export function listeningFlow(
  doc: StoredDocument,
  parsed: Parsed,
  versions: readonly StoredDocument[] = [doc],
): ListeningFlow | undefined {
  const choice = chooseVersion(versions);
  const isOther = choice.kind === 'chosen' && choice.doc._id !== doc._id;
  if (parsed.kind !== 'flow' || isOther) return undefined;
  const { triggers, problems } = readOn(doc['on']);
  const invalid = parsed.ok ? undefined : `The flow is not valid: ${parsed.problems[0].message}`;
  const { _id: id, name } = doc;
  return {
    ...{ id, name: typeof name === 'string' ? name : '' },
    owner: ownerOf(doc),
    closed: closedOf(doc),
    triggers,
    problem: invalid ?? ambiguityIn(choice) ?? problems[0]?.message,
  };
}

function ambiguityIn(choice: VersionChoice<StoredDocument>): string | undefined {
  if (choice.kind !== 'ambiguous') return undefined;
  const ids = choice.docs.map(({ _id }) => _id);
  return `The flow ${ambiguityText(choice.cause, ids)}`;
}

/** Why a flow takes no jobs; undefined: it takes them. */
function closedOf(doc: StoredDocument): string | undefined {
  if (doc['enabled'] === false) return 'The flow is disabled ("enabled": false).';
  return isDeprecated(doc) ? 'The flow is deprecated and takes no new jobs.' : undefined;
}

function verdictOf(event: StoredEvent, flow: ListeningFlow, world: EventWorld): Verdict {
  const { id, name, owner, closed, triggers, problem } = flow;
  const called = name === '' ? id : calledBy({ flow: name, owner });
  const refused = (because: string): Verdict => ({ refused: [{ flow: called, because }] });
  if (problem !== undefined) return refused(problem);
  const entries = triggers.map((trigger, entry) => ({ trigger, entry }));
  const meant = entries.filter(({ trigger }) => isMeant(trigger, event));
  if (meant.length === 0) return {};
  if (closed !== undefined) return refused(closed);
  const found = meant.map((one) => entryVerdict(event, { id, flow: name, owner, ...one }, world));
  return {
    questions: found.flatMap(({ questions = [] }) => questions),
    starting: found.flatMap(({ starting = [] }) => starting),
    gathering: found.flatMap(({ gathering = [] }) => gathering),
  };
}

function isMeant(trigger: Trigger, { event, key = '' }: StoredEvent): boolean {
  return trigger.event === event && (trigger.key ?? key) === key;
}

type Entry = {
  readonly id: string;
  readonly flow: string;
  readonly owner: string;
  readonly trigger: Trigger;
  readonly entry: number;
};

/** What comes of an entry: a question first, then a job, or nothing where `match` does not hold. */
function entryVerdict(event: StoredEvent, of: Entry, world: EventWorld): Verdict {
  const { flow, owner, trigger, entry } = of;
  const { match, params, debounce, batch } = trigger;
  const job = triggeredJobId({ flow, owner, event: event._id, entry }, world);
  const start: Start = (more) => ({
    starting: [{ job, flow, owner, entry, ...more }],
  });
  const ask: Ask = (what, expression) => {
    const id = `${of.id} ${entry} ${what}`;
    const question = { id, expression, context: { event: seenOf(event) } };
    return world.answer(id) ?? { questions: [question] };
  };
  if (match !== undefined) {
    const answer = ask('match', match);
    if (!('ok' in answer)) return answer;
    if (!answer.ok) return start({ problem: unfit(entry, 'match', answer.reason) });
    if (answer.value !== true) return notMatching(answer.value, entry, start);
  }
  const gathers = debounce ?? batch;
  if (gathers !== undefined) return gatheringVerdict(of, gathers.key, { ask, start, world });
  if (params === undefined) return start({});
  const answer = ask('params', params);
  if (!('ok' in answer)) return answer;
  if (!answer.ok) return start({ problem: unfit(entry, 'params', answer.reason) });
  if (isObject(answer.value)) return start({ params: answer.value });
  return start({ problem: `on[${entry}].params gives no object of parameters.` });
}

type Ask = (what: 'match' | 'key' | 'params', expression: string) => Answer | Verdict;
type Start = (more: Pick<StartingJob, 'params' | 'problem'>) => Verdict;

/** What comes of an entry whose events are gathered. `key`: the expression that tells groups of them apart. */
function gatheringVerdict(
  of: Entry,
  key: string | undefined,
  { ask, start, world }: { readonly ask: Ask; readonly start: Start; readonly world: EventWorld },
): Verdict {
  if (key === undefined) return { gathering: [joiningOf(of, undefined, world)] };
  const answer = ask('key', key);
  if (!('ok' in answer)) return answer;
  if (answer.ok) return { gathering: [joiningOf(of, answer.value ?? null, world)] };
  const what = of.trigger.debounce === undefined ? 'batch.key' : 'debounce.key';
  return start({ problem: unfit(of.entry, what, answer.reason) });
}

/** A `match` says true or false; nothing (of a key that is not there) is no match. */
function notMatching(
  value: unknown,
  entry: number,
  start: (more: Pick<StartingJob, 'problem'>) => Verdict,
): Verdict {
  if (value === false || value === undefined || value === null) return {};
  return start({ problem: `on[${entry}].match gives neither true nor false.` });
}

function unfit(entry: number, what: string, reason: string): string {
  return `on[${entry}].${what} cannot be evaluated: ${reason}`;
}

/** Longest value of a key that is told as it is; of a longer one the hash is told. */
const longestKey = 200;

/** What an event says of the gathering that is to take it. `key`: undefined: the trigger has none. */
function joiningOf(
  { flow, owner, trigger: { debounce, batch, params }, entry }: Entry,
  key: unknown,
  { hash }: EventWorld,
): Joining {
  const by = debounce === undefined ? 'batch' : 'debounce';
  const { period } = (debounce ?? batch) as NonNullable<typeof debounce>;
  const text = key === undefined ? undefined : canonical(key);
  const name = hash(JSON.stringify([flow, owner, entry, by, text ?? '']));
  return {
    ...{ into: `gathering:${flow}:${owner}:${name}`, flow, owner, entry, by },
    ...{ period: writtenSpanMs(period), size: batch?.size ?? mostGathered },
    ...(debounce?.max !== undefined && { max: writtenSpanMs(debounce.max) }),
    ...(text !== undefined && { key: text.length > longestKey ? hash(text) : text }),
    ...(params !== undefined && { params }),
  };
}

type Named = {
  readonly flow: string;
  readonly owner: string;
  readonly event: string;
  readonly entry: number;
};

/**
 * Returns the id of the job that an event starts by an entry of `on` of a flow: it exists once. Names and
 * ids may have any characters, so that only the hash tells two of them apart.
 */
export function triggeredJobId(
  { flow, owner, event, entry }: Named,
  { hash }: Pick<EventWorld, 'hash'>,
): string {
  return `event-run:${flow}:${owner}:${hash(JSON.stringify([flow, owner, event, entry]))}`;
}

function jobOf({ _id }: StoredEvent, starting: StartingJob): TriggeredJob {
  const { job, flow, owner, entry, params, problem } = starting;
  return {
    ...{ _id: job, type: 'job', flow, owner },
    ...(params === undefined ? {} : { params }),
    started_by: { event: _id, entry, ...(problem === undefined ? {} : { problem }) },
  };
}

/** The record when all jobs are made, and gatherings have the event; or all that was refused. */
function settled(
  { starting = [], gathering = [], gathered = [], refused = [], ...rest }: Triggered,
  { made, joined }: EventWorld,
): Triggered {
  const denied = [
    ...starting.map((one) => ({ one, what: made(one.job), more: { job: one.job } })),
    ...gathering.map((one) => ({ one, what: joined(one.into), more: {} })),
  ].flatMap(({ one, what, more }) =>
    what?.kind === 'refused' ? [{ flow: calledBy(one), ...more, because: what.reason }] : [],
  );
  const started = starting.map(({ job }) => job).filter((id) => made(id)?.kind === 'made');
  const taken = gathering.filter(({ into }) => joined(into)?.kind === 'made');
  const lists = {
    gathered: [...gathered, ...taken],
    started: [...(rest.started ?? []), ...started],
    refused: [...refused, ...denied],
  };
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
  return { ...rest, ...Object.fromEntries(filled) };
}
