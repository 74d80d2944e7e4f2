import { decide } from '../decide/decide.js';
import type {
  Announced,
  Answer,
  Child,
  EventName,
  Intent,
  LookUp,
  World,
} from '../decide/intent.js';
import { eventId } from '../model/event.js';
import { isFinal, type Job } from '../model/job.js';
import { parseDocument } from '../model/parse.js';
import type { Store } from '../store/store.js';
import { evaluate } from './expressions.js';
import type { Library } from './library.js';
import type { Retry } from './patience.js';

/** An intent that needs nothing more to be known. */
export type Decision = Exclude<Intent, LookUp>;

/** What a decision stands on beside the job: the world, but for what is looked up on demand. */
export type Surroundings = Omit<World, 'answers' | 'child' | 'event' | 'flow' | 'task'>;

/** From where a decision is made. */
export type Standpoint = {
  /** When the revision was first seen; `-Infinity` for a job just settled. */
  readonly seenAt: number;
  /** Claims that no longer count as in hand. */
  readonly ended?: readonly string[];
};

export type Decider = (
  job: Job,
  surroundings: () => Surroundings,
  now: () => number,
) => Promise<Decision>;

/**
 * Makes the function that decides, finding out on the way what the decision asks for: definitions
 * the library has not, child jobs, conditions.
 */
export function createDecider(
  store: Store,
  library: Library,
  retry: Retry,
  life: AbortSignal,
): Decider {
  return async (job, surroundings, now) => {
    const answers = new Map<string, Answer>();
    const children = new Map<string, Child>();
    const events = new Map<string, Announced>();
    for (;;) {
      const world: World = {
        ...surroundings(),
        answers,
        flow: library.flow,
        task: library.task,
        child: (id) => children.get(id) ?? { kind: 'unknown' },
        event: (type, key) => events.get(eventId({ type, key })) ?? { kind: 'unknown' },
      };
      const intent = decide(job, now(), world);
      if (intent.kind !== 'look_up') return intent;
      if (life.aborted) return { kind: 'ignore', because: 'The engine ends.' };
      const { flows, tasks, questions } = intent;
      if (flows.length > 0) await retry(() => library.find('flow', flows));
      if (tasks.length > 0) await retry(() => library.find('task', tasks));
      for (const id of intent.children) children.set(id, await findChild(store, id, retry));
      for (const name of intent.events) {
        events.set(eventId(name), await findEvent(store, name, retry));
      }
      for (const question of questions) answers.set(question.id, await evaluate(question));
    }
  };
}

async function findChild(store: Store, id: string, retry: Retry): Promise<Child> {
  const answer = await retry(async () => ({ doc: await store.get(id) }));
  // The engine ends: nothing will be written any more.
  if (answer === undefined) return { kind: 'live' };
  const { doc } = answer;
  if (doc === undefined) return { kind: 'absent' };
  const parsed = parseDocument(doc);
  const isEnded = parsed.kind === 'job' && parsed.ok && isFinal(parsed.value);
  return isEnded ? { kind: 'final', job: parsed.value } : { kind: 'live' };
}

/** An event announced under its own id, or by a document of any id. */
async function findEvent(store: Store, name: EventName, retry: Retry): Promise<Announced> {
  const rows = await retry(() =>
    store.view('events', { key: [name.type, name.key], includeDocs: true, limit: 1 }),
  );
  // The engine ends: nothing will be written any more.
  const doc = rows?.[0]?.doc;
  if (doc === undefined) return { kind: 'absent' };
  return 'data' in doc ? { kind: 'found', data: doc['data'] } : { kind: 'found' };
}
