import { createHash } from 'node:crypto';
import type { Made } from '../../decide/schedules/schedule-world.js';
import type { StoredEvent, TriggeredJob, TriggerQuestion } from '../../decide/triggers/events.js';
import type { Answer, TemplateContext } from '../../decide/world.js';
import { evaluate } from '../../evaluate/expressions.js';
import type { StoredDocument } from '../../model/document.js';
import { isObject } from '../../model/object.js';
import { parseDocument } from '../../reading/parse.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { makeOnce } from '../loop/make-once.js';

/** A text of few characters that stands for a longer one. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Returns the event that a document is; undefined: it is none that can be read. */
export function eventIn(doc: StoredDocument | undefined): StoredEvent | undefined {
  const parsed = doc === undefined ? undefined : parseDocument(doc);
  return parsed?.kind === 'event' && parsed.ok ? (parsed.value as StoredEvent) : undefined;
}

/** Stores jobs that a document starts, and knows what became of each. `by`: where a job names it. */
export function createMaker(parts: FollowParts, by: 'event' | 'gathering', id: string) {
  const made = new Map<string, Made>();
  const make = async (jobs: readonly TriggeredJob[]): Promise<void> => {
    await Promise.all(
      jobs.map(async (job) => {
        const result = await makeOnce(parts, job, {
          of: 'event',
          isSame: ({ type, started_by: cause }) =>
            type === 'job' && isObject(cause) && cause[by] === id,
        });
        if (result !== undefined) made.set(job._id, result);
      }),
    );
  };
  return { made: (job: string): Made | undefined => made.get(job), make };
}

/** Keeps why the store refuses what a document is to hold. */
export function createRefusal() {
  let first: string | undefined;
  return {
    reason: (): string | undefined => first,
    /** Returns whether it is the first refusal: something else is decided then. */
    take: (reason: string): boolean => {
      const isFirst = first === undefined;
      first ??= reason;
      return isFirst;
    },
  };
}

/** Evaluates expressions of triggers, and puts down their answers. */
export async function evaluateAll(
  { retry }: Pick<FollowParts, 'retry'>,
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
