import { createHash } from 'node:crypto';
import type { Made } from '../../decide/schedules/schedule-world.js';
import {
  decideEvent,
  listeningFlow,
  type EventIntent,
  type EventWorld,
  type ListeningFlow,
  type StoredEvent,
  type TriggeredJob,
  type TriggerQuestion,
} from '../../decide/triggers/decide-event.js';
import type { Answer, TemplateContext } from '../../decide/world.js';
import { evaluate } from '../../evaluate/expressions.js';
import type { StoredDocument } from '../../model/document.js';
import { isObject } from '../../model/object.js';
import { readTriggered } from '../../model/trigger.js';
import { parseDocument, parseInPieces } from '../../reading/parse.js';
import { takeTurns } from '../../turns.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { createFollowed, type Followed, type Knowledge, type NextStep } from '../loop/followed.js';
import { makeOnce } from '../loop/make-once.js';

/** The part of an engine that starts jobs for announced events. */
export function createEventTriggers(parts: FollowParts): Followed {
  return createFollowed(parts, {
    type: 'event',
    isDeciding,
    knowledgeOf: ({ _id }) => createKnowledge(parts, _id),
    tell: (before, after) => tell(parts, before, after),
  });
}

/** Whether jobs are decided that may not be made yet. */
function isDeciding({ triggered }: StoredDocument): boolean {
  const read = readTriggered(triggered);
  return typeof read === 'object' && read.starting !== undefined;
}

function intentOf(doc: StoredDocument, now: number, world: EventWorld): EventIntent {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'event') return { kind: 'rest', because: 'It is no event any more.' };
  if (!parsed.ok) return { kind: 'rest', because: parsed.problems[0].message };
  return decideEvent(parsed.value as StoredEvent, now, world);
}

/** What was looked up, evaluated and made for one event. */
function createKnowledge(parts: FollowParts, event: string): Knowledge {
  const { retry } = parts;
  const answers = new Map<string, Answer>();
  const made = new Map<string, Made>();
  let flows: readonly ListeningFlow[] | undefined;
  let refusal: string | undefined;
  let isViewMissing = false;
  const world: EventWorld = {
    get flows() {
      return flows;
    },
    get refusal() {
      return refusal;
    },
    answer: (id) => answers.get(id),
    made: (id) => made.get(id),
    hash: (text) => createHash('sha256').update(text).digest('hex').slice(0, 32),
  };
  const isOurs = ({ type, started_by: by }: StoredDocument): boolean =>
    type === 'job' && isObject(by) && by['event'] === event;
  const look = async (type: string): Promise<void> => {
    flows = await flowsStartedBy(parts, type);
    isViewMissing = flows === undefined;
  };
  const make = async (jobs: readonly TriggeredJob[]): Promise<void> => {
    await Promise.all(
      jobs.map(async (job) => {
        const result = await makeOnce(parts, job, { of: 'event', isSame: isOurs });
        if (result !== undefined) made.set(job._id, result);
      }),
    );
  };
  return {
    next: (doc, now): NextStep => {
      const intent = intentOf(doc, now, world);
      switch (intent.kind) {
        case 'rest':
          return intent;
        case 'look_up':
          // The view that lists undecided events comes with the one that is missing.
          if (isViewMissing) return { kind: 'rest' };
          return { kind: 'do', act: () => look(intent.event), isShared: false };
        case 'evaluate':
          return {
            kind: 'do',
            act: () => evaluateAll(retry, intent.questions, answers),
            isShared: false,
          };
        case 'make':
          return { kind: 'do', act: () => make(intent.jobs), isShared: false };
        case 'write':
          return { kind: 'write', doc: intent.event, because: intent.because };
      }
    },
    refused: (reason) => {
      const isFirst = refusal === undefined;
      refusal ??= reason;
      return isFirst;
    },
  };
}

/** Evaluates expressions, and puts down their answers. */
async function evaluateAll(
  retry: FollowParts['retry'],
  questions: readonly TriggerQuestion[],
  answers: Map<string, Answer>,
): Promise<void> {
  await Promise.all(
    questions.map(async ({ id, expression, context }) => {
      const question = { id, expression, context: context as TemplateContext };
      const answer = await retry(() => evaluate(question));
      if (answer !== undefined) answers.set(id, answer);
    }),
  );
}

/** The flows that events of a type start; undefined: the views are of an earlier version, nobody can tell. */
async function flowsStartedBy(
  { store, retry }: FollowParts,
  type: string,
): Promise<readonly ListeningFlow[] | undefined> {
  const query = { key: ['event', type], includeDocs: true };
  const rows = await retry(() =>
    store.view('triggers', query).catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code === 'view_missing') return undefined;
      throw error;
    }),
  );
  return rows === undefined ? undefined : takeTurns(readInTurns(rows));
}

/** Flows may be long, and many may listen. */
function* readInTurns(
  rows: readonly { readonly doc?: StoredDocument }[],
): Generator<undefined, readonly ListeningFlow[], undefined> {
  const flows: ListeningFlow[] = [];
  for (const { doc } of rows) {
    const parsed = doc && listeningFlow(doc, yield* parseInPieces(doc));
    if (parsed !== undefined) flows.push(parsed);
    yield;
  }
  return flows;
}

/** Logs and measures what a stored revision of an event tells of its jobs. */
function tell({ log, meters }: FollowParts, before: StoredDocument, after: StoredDocument): void {
  const { _id: event } = after;
  const [was, is] = [readTriggered(before['triggered']), readTriggered(after['triggered'])];
  if (typeof is !== 'object') return;
  const known = typeof was === 'object' ? (was.refused ?? []).length : 0;
  const refused = (is.refused ?? []).slice(known);
  for (const { flow, because } of refused) {
    log.warn({ event, flow }, `Event ${event} starts no job of flow ${flow}: ${because}`);
  }
  const { starting = [] } = is;
  for (const { job, problem } of starting) {
    if (problem === undefined) log.info({ event, job }, `Event ${event} starts job ${job}.`);
    else log.warn({ event, job }, `Event ${event} starts job ${job}, which ends: ${problem}`);
  }
  const wrong = starting.filter(({ problem }) => problem !== undefined).length;
  if (starting.length > wrong) meters?.triggers?.('event', 'started', starting.length - wrong);
  if (wrong + refused.length > 0) meters?.triggers?.('event', 'refused', wrong + refused.length);
}
