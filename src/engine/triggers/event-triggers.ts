import { createHash } from 'node:crypto';
import { rankAmong, turnMs } from '../../decide/compete/ranks.js';
import type { Made } from '../../decide/schedules/schedule-world.js';
import {
  decideEvent,
  type EventIntent,
  type EventWorld,
  type StoredEvent,
  type TriggeredJob,
  type TriggerQuestion,
} from '../../decide/triggers/decide-event.js';
import type { Answer, TemplateContext } from '../../decide/world.js';
import { evaluate } from '../../evaluate/expressions.js';
import type { StoredDocument } from '../../model/document.js';
import { isObject } from '../../model/object.js';
import { readTriggered } from '../../model/trigger.js';
import { parseDocument } from '../../reading/parse.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { createFollowed, type Followed } from '../loop/followed.js';
import { makeOnce } from '../loop/make-once.js';
import { writeFollowed } from '../loop/write-followed.js';

/** How long to wait before an event is read anew whose next revision is not known, ms. */
const hearsayMs = 2_000;

/**
 * The part of an engine that starts jobs for announced events. The engines are ranked for each event as
 * they are for each job: the first acts at once, the others a little later, if nobody has.
 */
export function createEventTriggers(parts: FollowParts): Followed {
  return createFollowed(parts, 'event', (...given) => follow(parts, ...given));
}

async function follow(
  parts: FollowParts,
  given: StoredDocument,
  seenAt: number,
  onWritten: (doc: StoredDocument) => void,
): Promise<number | undefined> {
  const { now, life, ending, peers, self } = parts;
  const known = createKnowledge(parts, given);
  const turn = turnMs(rankAmong(given._id, peers.alive, self.id));
  let doc = given;
  // An engine that ends makes what it has decided, and decides nothing more.
  while (!life.signal.aborted && !(ending.signal.aborted && !isDecided(doc))) {
    const intent = intentOf(doc, now(), known.world);
    // What was written here goes on at once.
    const from = doc === given ? seenAt + turn : 0;
    if (intent.kind !== 'rest' && now() < from) return from;
    switch (intent.kind) {
      case 'rest':
        return undefined;
      case 'look_up':
        if (!(await known.look(intent.event))) return now() + hearsayMs;
        break;
      case 'evaluate':
        await known.evaluate(intent.questions);
        break;
      case 'make':
        await known.make(intent.jobs);
        break;
      case 'write': {
        const written = await writeFollowed(parts, 'Event', intent.event);
        if (written === 'refused') return undefined;
        if (written === undefined) return now() + hearsayMs;
        tell(parts, doc, written);
        onWritten(written);
        doc = written;
      }
    }
  }
  return undefined;
}

/** Whether jobs are decided that may not be made yet. */
function isDecided({ triggered }: StoredDocument): boolean {
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
function createKnowledge(parts: FollowParts, { _id: event }: StoredDocument) {
  const { store, retry } = parts;
  const answers = new Map<string, Answer>();
  const made = new Map<string, Made>();
  let flows: readonly StoredDocument[] | undefined;
  const world: EventWorld = {
    get flows() {
      return flows;
    },
    answer: (id) => answers.get(id),
    made: (id) => made.get(id),
    hash: (text) => createHash('sha256').update(text).digest('hex').slice(0, 32),
  };
  const isOurs = ({ type, started_by: by }: StoredDocument): boolean =>
    type === 'job' && isObject(by) && by['event'] === event;
  return {
    world,
    /** Resolves with whether they are known; with the views of an earlier version nobody can tell. */
    look: async (type: string): Promise<boolean> => {
      const rows = await retry(() =>
        store
          .view('triggers', { key: ['event', type], includeDocs: true })
          .catch((error: unknown) => {
            if ((error as { readonly code?: unknown }).code === 'view_missing') return undefined;
            throw error;
          }),
      );
      flows = rows?.flatMap(({ doc }) => doc ?? []);
      return rows !== undefined;
    },
    evaluate: async (questions: readonly TriggerQuestion[]): Promise<void> => {
      await Promise.all(
        questions.map(async ({ id, expression, context }) => {
          const question = { id, expression, context: context as TemplateContext };
          const answer = await retry(() => evaluate(question));
          if (answer !== undefined) answers.set(id, answer);
        }),
      );
    },
    make: async (jobs: readonly TriggeredJob[]): Promise<void> => {
      await Promise.all(
        jobs.map(async (job) => {
          const result = await makeOnce(parts, job, { of: 'event', isSame: isOurs });
          if (result !== undefined) made.set(job._id, result);
        }),
      );
    },
  };
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
