import { notificationsOf } from '../model/notify.js';
import { isObject } from '../model/object.js';
import type { FormEvent } from '../model/occasions.js';
import { readStepForm, type StepForm } from '../model/step.js';
import { peopleWords } from './people.js';
import { numbers, texts } from './step-reading.js';

/* What a step asks or asked of people: whom, when they are told, and who answered. */

type Doc = Readonly<Record<string, unknown>>;

/** Something that is told of a form at a time (epoch ms). */
export type FormTimerFacts = {
  readonly event: FormEvent;
  readonly at: number;
  /** When an engine took it up; absent: it is to come. */
  readonly told?: number;
  /** Number of messages that were made then. */
  readonly messages: number;
  /** Who may answer as well from then on, in words. */
  readonly to?: string;
};

/** Who answered a form, when (epoch ms) and how. */
export type FormAnswerFacts = {
  readonly by?: string;
  readonly at: number;
  /** As what, where it is no one who was asked: `admin` or `link`. */
  readonly as?: string;
  /** By which way, as far as the sender says; absent: by a signal that says nothing. */
  readonly via?: string;
  /** Without what is not shown. */
  readonly answer?: unknown;
};

/** What a step asks of people. Times are epoch ms. */
export type FormFacts = {
  readonly path: string;
  readonly step: string;
  readonly attempt: number;
  readonly state: string;
  /** Who may answer, in words. */
  readonly people: string;
  readonly title?: string;
  readonly since?: number;
  readonly until?: number;
  readonly due?: number;
  readonly timers: readonly FormTimerFacts[];
  /** Links by which users may answer, and until when they are good. */
  readonly links: readonly { readonly for: string; readonly until: number }[];
  readonly answered?: FormAnswerFacts;
};

/** How people answer. */
export type AnswerWay = 'page' | 'inbox' | 'api' | 'command';

/** Returns what the steps of a job, as it is stored, ask or asked of people, in the order of the steps. */
export function formFactsOf(job: Doc): readonly FormFacts[] {
  const messages = messagesOf(job);
  return listIn(job, 'steps')
    .filter(isObject)
    .flatMap((step) => formFactsIn(step, messages) ?? []);
}

/** Returns what one step asks or asked. `messages`: those that its job has made of forms. */
export function formFactsIn(step: Doc, messages: FormMessages): FormFacts | undefined {
  const form = readStepForm(step);
  if (form === undefined) return undefined;
  const { title, due, timers = [], links = [], escalate, answered } = form;
  const { path = '', name = '', state = '' } = texts(step, ['path', 'name', 'state']);
  const { attempt = 1, accepted, until } = numbers(step, ['attempt', 'accepted', 'until']);
  const told = Object.entries({ title, since: accepted, until, due });
  return {
    ...{ path, step: name, attempt, state, people: peopleWords(form) },
    ...Object.fromEntries(told.filter(([, value]) => value !== undefined)),
    timers: timers.map(({ event, at, told: takenUp }) => ({
      ...{ event, at, ...(takenUp === undefined ? {} : { told: takenUp }) },
      messages: messages.get(`${event}-${path}-${accepted ?? ''}-${at}`) ?? 0,
      ...(event === 'escalated' && escalate !== undefined ? { to: alsoWords(escalate) } : {}),
    })),
    links: links.map(({ for: user, until: end }) => ({ for: user, until: end })),
    ...(answered === undefined ? {} : { answered: answerFacts(step, form, answered) }),
  };
}

/** How many messages were made of a timer, by what names it in their ids. */
export type FormMessages = ReadonlyMap<string, number>;

/** Reads the messages that a job has made of forms from their ids. */
export function messagesOf(job: Doc): FormMessages {
  const found = new Map<string, number>();
  for (const { id: own, of: id = own } of notificationsOf(job)) {
    const key = /:notify(?:-[^:]*)?:\d+:((?:reminder|due|escalated)-.+?-\d+-\d+):/.exec(id)?.[1];
    if (key !== undefined) found.set(key, (found.get(key) ?? 0) + 1);
  }
  return found;
}

function alsoWords({ assignee = [], group = [] }: NonNullable<StepForm['escalate']>): string {
  return peopleWords({ assignee, group });
}

function answerFacts(
  step: Doc,
  form: StepForm,
  { by, at, as, via }: NonNullable<StepForm['answered']>,
): FormAnswerFacts {
  const answer = answerIn(step, form);
  const told = Object.entries({ by, as, via, answer });
  return { at, ...Object.fromEntries(told.filter(([, value]) => value !== undefined)) };
}

/** What was answered: the result of the step, or what its failure has of a refusal, without who and when. */
function answerIn({ result, failure }: Doc, form: StepForm): unknown {
  const given = isObject(failure) ? failure['answer'] : result;
  if (!isObject(given)) return given;
  const { by: _by, at: _at, as: _as, ...answer } = given;
  return withoutConcealed(answer, form);
}

/** What stands for a field that is not shown. */
export const concealedText = '[not shown]';

/** Returns a job document, as it is stored, without the answers that are not shown; the same where it has none. */
export function withoutConcealedAnswers<J extends Doc>(job: J): J {
  const steps = listIn(job, 'steps').map((step) => ({ step, form: formIn(step) }));
  const hiding = steps.flatMap(({ step, form }) =>
    form?.concealed === undefined ? [] : [[signalOf(step), form] as const],
  );
  if (hiding.length === 0) return job;
  const names = new Map(hiding);
  const ofSignal = ({ name }: Doc): StepForm => names.get(name) ?? {};
  return {
    ...job,
    steps: steps.map(({ step, form = {} }) => shownStep(step, form)),
    ...(job['signals'] === undefined
      ? {}
      : {
          signals: listIn(job, 'signals').map((one) =>
            isObject(one) ? hiddenIn(one, 'data', ofSignal(one)) : one,
          ),
        }),
  };
}

function signalOf(step: unknown): unknown {
  return (step as Doc)['signal'];
}

function listIn(job: Doc, key: string): readonly unknown[] {
  const list = job[key];
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

function formIn(step: unknown): StepForm | undefined {
  return isObject(step) ? readStepForm(step) : undefined;
}

function shownStep(step: unknown, form: StepForm): unknown {
  if (!isObject(step)) return step;
  const { failure } = step;
  const shown = hiddenIn(step, 'result', form);
  return isObject(failure) ? { ...shown, failure: hiddenIn(failure, 'answer', form) } : shown;
}

function hiddenIn(holder: Doc, key: string, form: StepForm): Doc {
  const answer = holder[key];
  return isObject(answer) ? { ...holder, [key]: withoutConcealed(answer, form) } : holder;
}

function withoutConcealed(answer: Doc, { concealed = [] }: StepForm): Doc {
  const hidden = concealed.filter((name) => Object.hasOwn(answer, name));
  return { ...answer, ...Object.fromEntries(hidden.map((name) => [name, concealedText])) };
}
