import { queueOfOffer } from '../model/work.js';
import { lengthOf, momentFrom } from '../words.js';
import type { Reason, Seen } from './reason.js';
import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { readStepForm } from '../model/step.js';
import { formFactsIn, formFactsOf, messagesOf } from '../reading/form-facts.js';
import { answeredWords, askedWords } from '../reading/form-words.js';
import { describeForm } from '../reading/people.js';
import type { JobReading } from '../reading/read-job.js';
import type { StepReading } from '../reading/step-reading.js';
import { noEngine } from './service.js';

/** Steps that an engine has, and steps that wait for something. */
export function stepReasons(seen: Seen, { running, waiting }: JobReading): readonly Reason[] {
  return [
    ...running.map((step) => runningReason(step, seen)),
    ...waiting.map((step) => formReason(step, seen) ?? waitingReason(step, seen)),
  ].flat();
}

function runningReason(step: StepReading, seen: Seen): readonly Reason[] {
  const { name, engine = 'an engine', attempt } = step;
  const since = step.start ?? step.accepted;
  const lasting = since === undefined ? '' : ` for ${lengthOf(seen.now - since)}`;
  const again = attempt > 1 ? ` (attempt ${attempt})` : '';
  const alive = seen.engines.some((one) => one.engine._id === engine && one.alive);
  if (alive) {
    return [{ kind: 'running', because: `Step "${name}"${again} has run${lasting} on ${engine}.` }];
  }
  const because = `Step "${name}"${again} was taken by ${engine}, which gives no sign of life; another engine takes it over when the lease is over.`;
  const without = noEngine(seen);
  return [{ kind: 'engine_lost', because }, ...(without === undefined ? [] : [without])];
}

function waitingReason(step: StepReading, { job, now }: Seen): readonly Reason[] {
  const { name, child, signal, worker, event, key = '', until, news } = step;
  if (child !== undefined) return [childReason({ ...step, child }, now)];
  const limit = until === undefined || until <= now ? {} : { until };
  const atMost = until === undefined ? '' : `, at most until ${when(until, now)}`;
  if (worker !== undefined) {
    const because = `Step "${name}" is done by worker "${worker}", which has it${atMost}.`;
    return [{ kind: 'waiting', because, ...limit }];
  }
  const offered = signal === undefined ? undefined : queueOfOffer(signal);
  if (offered !== undefined) {
    const because = `Step "${name}" waits for a worker to fetch it from the queue "${offered}"${atMost}.`;
    const todo = 'See that a worker runs which asks for that queue (POST /ojs/v1/workers/fetch).';
    return [{ kind: 'waiting', because, todo, ...limit }];
  }
  if (signal !== undefined) {
    const because = `Step "${name}" waits for the signal "${signal}"${atMost}.`;
    const todo = `Send it by \`tws signal ${job._id} ${signal}\`.`;
    return [{ kind: 'waiting', because, todo, ...limit }];
  }
  if (event !== undefined) {
    const about = key === '' ? '' : ` of "${key}"`;
    const because = `Step "${name}" waits for the event "${event}"${about}${atMost}.`;
    const todo = `Announce it by \`tws event ${event}${key === '' ? '' : ` ${key}`}\`.`;
    return [{ kind: 'waiting', because, todo, ...limit }];
  }
  if (news !== undefined) {
    const because = `The decider of step "${name}" asked for nothing and waits for any signal${atMost}.`;
    const todo = `Send one by \`tws signal ${job._id} NAME\`, or cancel the job.`;
    return [{ kind: 'waiting', because, todo, ...limit }];
  }
  const because =
    until === undefined
      ? `Step "${name}" waits for something from outside.`
      : `Step "${name}" waits until ${when(until, now)}.`;
  return [{ kind: 'waiting', because, ...limit }];
}

/** Of a step that waits for a person: for whom, since when, what is told meanwhile, and how it is answered. */
function formReason(step: StepReading, { job, now }: Seen): readonly Reason[] | undefined {
  const stored = storedStep(job, step);
  const form = readStepForm(stored);
  const asked = formFactsIn(stored, messagesOf(job));
  if (form === undefined || asked === undefined) return undefined;
  const { name, path, accepted, until } = step;
  const since = accepted === undefined ? '' : `, since ${when(accepted, now)}`;
  const atMost = until === undefined ? '' : `, at most until ${when(until, now)}`;
  const told = askedWords(asked, now, (at) => when(at, now));
  const waits = `Step "${name}" waits ${describeForm(form)}${since}${atMost}.`;
  const because = [waits, ...told].join(' ');
  const todo = `Answer it by \`tws answer ${job._id} ${path}\`, or in the inbox on the admin pages.`;
  const limit = until === undefined || until <= now ? {} : { until };
  return [{ kind: 'waiting', because, todo, ...limit, form: asked }];
}

function storedStep({ steps }: StoredDocument, { place }: StepReading): Doc {
  const step: unknown = Array.isArray(steps) ? steps[place] : undefined;
  return isObject(step) ? step : {};
}

type Doc = Readonly<Record<string, unknown>>;

/** So many answers are told, the last ones. */
const shownAnswers = 3;

/** Which forms of a job were answered: by whom, when, how and with what. */
export function answerReasons({ job, now }: Seen): readonly Reason[] {
  const all = formFactsOf(job).filter(({ answered }) => answered !== undefined);
  const left = all.length - shownAnswers;
  return all.slice(-shownAnswers).flatMap((form, i) => {
    const before =
      i === 0 && left > 0
        ? ` Before that, ${left} ${left === 1 ? 'form was' : 'forms were'} answered.`
        : '';
    const because = answeredWords(form, now);
    return because === undefined
      ? []
      : [{ kind: 'answered' as const, because: `${because}${before}`, form }];
  });
}

function childReason(
  { name, child, remade }: StepReading & { readonly child: string },
  now: number,
): Reason {
  const again =
    remade === undefined
      ? ''
      : `, which was made again (${momentFrom(now, remade)}) because its document was deleted`;
  const because = `Step "${name}" waits for its child job ${child}${again}.`;
  return { kind: 'child', because, todo: `See \`tws explain ${child}\`.`, child };
}

/** `2026-11-21T10:00:00.000Z (in 5 min)`; a time that is no date is shown as it is. */
export function when(at: number, now: number): string {
  const date = new Date(at);
  const shown = Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
  return `${shown} (${momentFrom(now, at)})`;
}
