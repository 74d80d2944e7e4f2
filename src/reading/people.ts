import { isObject } from '../model/object.js';
import type { Step, StepForm, WaitingStep } from '../model/step.js';

/* What stands in a job about people: who is asked, who may answer, and who did. */

type Doc = Readonly<Record<string, unknown>>;
type Timer = NonNullable<StepForm['timers']>[number];

/** Returns the next of the timers of a wait for people that nobody has taken up; undefined: there is none. */
export function nextTimer({ form }: Pick<WaitingStep, 'form'>): Timer | undefined {
  return form?.timers?.find(({ told }) => told === undefined);
}

/** A step with what it asks of people. */
type OfPeople = { readonly form: StepForm };

/** Whether a step asks people for something. */
export function isOfPeople<S extends Step>(step: S): step is S & OfPeople {
  return step['form'] !== undefined;
}

/** Who answers: the user, and what lets that one answer where it is not the name. */
export type Answering = { readonly by?: string | undefined; readonly as?: string | undefined };

/** How `as` of an answer names a role of the one who answers. */
export const groupMark = 'group:';

/** Whether an answer comes from one of those who may give it: everybody where none is named. */
export function mayAnswer({ assignee = [], group = [] }: StepForm, { by, as }: Answering): boolean {
  if (assignee.length + group.length === 0) return true;
  if (by !== undefined && assignee.includes(by)) return true;
  if (as === 'admin') return true;
  return group.some((name) => as === `${groupMark}${name}`);
}

/** So many of those who are asked are named. */
const mostNamed = 10;

/** Those who are asked, in words: `ann, bob or the group "finance"`; of many the first, and how many others. */
export function peopleWords({ assignee = [], group = [] }: StepForm): string {
  const named = [...assignee, ...group.map((name) => `the group "${name}"`)];
  const others = named.length - mostNamed;
  const all = others > 1 ? [...named.slice(0, mostNamed), `${others} others`] : named;
  const last = all.pop();
  if (last === undefined) return 'a person';
  return all.length === 0 ? last : `${all.join(', ')} or ${last}`;
}

/** What a wait for people waits for, after the word "waits". */
export function describeForm(form: StepForm): string {
  const { title, due } = form;
  const about = title === undefined || title === '' ? '' : ` (${title})`;
  const until = due === undefined ? '' : `, due ${new Date(due).toISOString()}`;
  return `for ${peopleWords(form)}${about}${until}`;
}

/** An answer as it is addressed: by the name of its signal, and perhaps to one wait. */
export type AddressedAnswer = {
  readonly name: string;
  readonly step?: string | undefined;
  readonly attempt?: number | undefined;
};

/**
 * Returns why an answer comes too late for the waits of people in a job, as it is stored; undefined: one may
 * take it. An answer without an address is late when the last wait of its name was answered and none is open.
 */
export function lateAnswer(job: Doc, { name, step, attempt }: AddressedAnswer): string | undefined {
  const steps = listIn(job, 'steps').filter((one) => one['signal'] === name);
  if (step !== undefined) {
    const meant = steps.findLast(
      (one) => one['path'] === step && (attempt === undefined || one['attempt'] === attempt),
    );
    return meant === undefined || isOpenWait(meant) ? undefined : endedWords(meant);
  }
  const last = steps.at(-1);
  const isAnswered = last !== undefined && answeredIn(last) !== undefined;
  return isAnswered && !steps.some(isOpenWait) ? endedWords(last) : undefined;
}

function isOpenWait({ state }: Doc): boolean {
  return state === '$$waiting';
}

function answeredIn({ form }: Doc): Doc | undefined {
  const answered = isObject(form) ? form['answered'] : undefined;
  return isObject(answered) ? answered : undefined;
}

/** Says how a wait for people ended. */
function endedWords(step: Doc): string {
  const answered = answeredIn(step);
  const name = String(step['name']);
  if (answered === undefined) return `Step "${name}" does not wait for an answer any more.`;
  const { by, at } = answered;
  const who = typeof by === 'string' ? ` by ${by}` : '';
  return `Step "${name}" was answered already${who} at ${new Date(Number(at)).toISOString()}.`;
}

function listIn(job: Doc, key: string): readonly Doc[] {
  const list = job[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}
