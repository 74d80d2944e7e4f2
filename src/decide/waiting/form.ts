import { byLink } from '../../model/answer-link.js';
import { failure } from '../../model/failures.js';
import type { LiveJob, Signal } from '../../model/job.js';
import { isObject } from '../../model/object.js';
import { exits, type StepForm, type WaitingStep } from '../../model/step.js';
import type { Leaf } from '../../model/tree.js';
import { mayAnswer, nextTimer, peopleWords } from '../../reading/people.js';
import { isAwaitedLater } from '../../reading/later-waits.js';
import { leafAt } from '../../reading/entries.js';
import { formAskedBy, type FormAsked } from '../../structures/people.js';
import { concealedIn } from '../../structures/concealed.js';
import { repetitionsAround } from '../../structures/paths.js';
import { failStep } from '../finish/fail.js';
import { withRecord } from '../requests/records.js';
import type { Unbegun } from '../start/prepare.js';
import { withStep } from '../steps.js';
import { linksFor, linkStepOf, unprovenLink, type LinkStep, type LinkWorld } from './links.js';
import { releasedWait } from './released-wait.js';

/*
 * Waits for people.
 *
 * PF1 Who is asked, what, and when they are reminded is worked out once, when the wait begins, and stands in the
 *     step.
 * PF2 A reminder, what is due and an escalation are timers in the step. Each is put on record once, in a write
 *     of its own revision: an engine that dies before that write has done nothing.
 * PF3 Only those who are asked may answer, and an administrator or the holder of a link, which `as` then tells.
 * PF4 The first answer that suits the form ends the wait. Others that have come for it are refused in the same
 *     write, and those that come later when they come.
 * PF5 Who answered, when, by which way and as what is added by the engine: an answer cannot say it.
 */

/** What a wait for people begins with, or why it cannot begin. */
export type FormBegun =
  | { readonly ok: true; readonly signal: string; readonly form: StepForm }
  | { readonly ok: false; readonly unbegun: Unbegun };

type Filled = Readonly<Record<string, unknown>>;

/** What a wait for people begins with. `filled`: the texts of the entry, without templates. */
export type FormBeginning = {
  readonly asked: FormAsked;
  readonly leaf: Leaf;
  readonly filled: Filled;
  /** The job, and the attempt of its step. */
  readonly of: Omit<LinkStep, 'since'>;
};

/** Works out what a wait asks of people (PF1). */
export function beginForm(beginning: FormBeginning, now: number, world: LinkWorld): FormBegun {
  const { asked, leaf, filled, of } = beginning;
  const { word, escalate, due } = asked;
  const at = (key: string): unknown => filled[`${word}.${key}`];
  const named: Record<string, readonly string[] | undefined> = {};
  for (const key of ['assignee', 'group', 'escalate.assignee', 'escalate.group']) {
    const value = at(key);
    if (value === undefined) continue;
    const names = namesIn(value);
    if (names === undefined) return unaddressed(`${word}.${key}`, value);
    named[key] = names;
  }
  const own = { assignee: named['assignee'], group: named['group'] };
  const others = { assignee: named['escalate.assignee'], group: named['escalate.group'] };
  const timers = timersOf(asked, now);
  const dueAt = due === undefined ? {} : { due: now + due };
  const by = { asked: { ...known({ link: asked.link }), ...dueAt }, now };
  const links = linksFor(own.assignee, { ...of, since: now }, by, world);
  const form = {
    ...known({ title: textOr(at('title')), text: textOr(at('text')), ...own }),
    ...dueAt,
    ...known({ links, concealed: concealedIn(asked.form) }),
    ...(isKept(asked.form, leaf) ? { schema: asked.form } : {}),
    ...(timers.length === 0 ? {} : { timers }),
    ...(escalate === undefined ? {} : { escalate: known(others) }),
  } as StepForm;
  return { ok: true, signal: textOr(at('signal')) ?? usualSignal(leaf), form };
}

/** Of the many steps of a map, longer schemas (characters of JSON) would fill the document; it is read for all at once. */
const longestRepeated = 500;

/** Whether the step keeps the schema, so that nobody has to read the whole job for it. */
function isKept(form: FormAsked['form'], { path }: Leaf): boolean {
  return repetitionsAround(path).length === 0 || JSON.stringify(form).length <= longestRepeated;
}

function unaddressed(at: string, value: unknown): FormBegun {
  const why = failure('AssigneeInvalid', { at, value: JSON.stringify(value) });
  return { ok: false, unbegun: { failure: why, exit: exits.definition } };
}

/** Names, one or several; undefined: there is none. A template of a list keeps it. */
function namesIn(value: unknown): readonly string[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value.flat() : [value];
  const names = list.map((one) => (typeof one === 'string' ? one.trim() : ''));
  return names.length === 0 || names.includes('') ? undefined : [...new Set(names)];
}

function textOr(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  return JSON.stringify(value);
}

function known(all: Filled): Filled {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Each wait has a signal of its own, so that no answer goes astray: `sign`, `approve-1`, `sign-2` in a map. */
function usualSignal({ entry, label, path }: Leaf): string {
  return [entry.name ?? label, ...repetitionsAround(path).map(({ number }) => number)].join('-');
}

type Timers = NonNullable<StepForm['timers']>;

function timersOf({ due, remind, escalate }: FormAsked, now: number): Timers {
  const reminders = remind === undefined ? [] : [remind].flat();
  const times = reminders.map((one) =>
    typeof one === 'number' ? now + one : Math.max(now, now + Number(due) - one.before_due),
  );
  const timers: Timers = [
    ...[...new Set(times)].map((at) => ({ event: 'reminder' as const, at })),
    ...(due === undefined ? [] : [{ event: 'due' as const, at: now + due }]),
    ...(escalate === undefined ? [] : [{ event: 'escalated' as const, at: now + escalate.after }]),
  ];
  return timers.toSorted((a, b) => a.at - b.at);
}

/** Puts the next timer of a wait on record, if it is time (PF2); an escalation asks others as well. */
export function formTimer(
  job: LiveJob,
  step: WaitingStep,
  now: number,
  world: LinkWorld,
): LiveJob | undefined {
  const timer = nextTimer(step);
  if (timer === undefined || timer.at > now) return undefined;
  const form = step.form as StepForm;
  const timers = form.timers?.map((one) => (one === timer ? { ...one, told: now } : one));
  const others = timer.event === 'escalated' ? escalated(form) : {};
  const asking = { ...form, ...others, timers } as StepForm;
  const links = linksOnTimer(job, { ...step, form: asking }, now, world);
  return withStep(job, step, { ...step, form: { ...asking, ...links } });
}

/** The links of a step, with new ones of the users who have none that is good when a timer is told (PF6). */
function linksOnTimer(
  job: LiveJob,
  step: WaitingStep & { readonly form: StepForm },
  now: number,
  world: LinkWorld,
): Pick<StepForm, 'links'> {
  const { assignee = [], due, links = [] } = step.form;
  const has = new Set(links.filter(({ until }) => until > now).map(({ for: user }) => user));
  const without = assignee.filter((user) => !has.has(user));
  const asked = known({ link: askedAt(leafAt(job, step.path))?.link, due });
  const more = linksFor(without, linkStepOf(job, step), { asked, now }, world) ?? [];
  return more.length === 0 ? {} : { links: [...links, ...more] };
}

function escalated({ assignee = [], group = [], escalate: more = {} }: StepForm) {
  const users = [...new Set([...assignee, ...(more.assignee ?? [])])];
  const roles = [...new Set([...group, ...(more.group ?? [])])];
  return {
    ...(users.length === 0 ? {} : { assignee: users }),
    ...(roles.length === 0 ? {} : { group: roles }),
  };
}

/** Returns why somebody may not answer (PF3, PF7); undefined: they may. */
export function notAsked(
  job: LiveJob,
  step: WaitingStep,
  signal: Signal,
  world: LinkWorld,
): string | undefined {
  const { form, name } = step;
  if (form === undefined) return undefined;
  const unproven = unprovenLink(job, { ...step, form }, signal, world);
  if (unproven !== undefined || mayAnswer(form, signal)) return unproven;
  const { by } = signal;
  const who = by === undefined ? 'says nobody' : `is from ${by}`;
  return `Step "${name}" waits for ${peopleWords(form)}, and the answer ${who}.`;
}

/** The answer of a person, with who gave it, when and as what (PF5). */
export function formResult({ data, by, as, at }: Signal): Readonly<Record<string, unknown>> {
  const { by: _by, as: _as, at: _at, ...given } = isObject(data) ? data : {};
  return { ...given, ...known({ by, as: asOf(as), at }) };
}

/** That somebody has one of the roles that were asked for is no news. */
function asOf(as: string | undefined): string | undefined {
  return as === 'admin' || as === byLink ? as : undefined;
}

/** By which way an answer came; only what was proven came by a link (PF7). */
function wayOf({ as, via }: Signal): string | undefined {
  if (as === byLink) return byLink;
  return via === byLink ? undefined : via;
}

/** A step that a person has answered, and the signal that brought the answer. */
export type FormAnswered = {
  readonly step: WaitingStep & { readonly form: StepForm };
  readonly signal: Signal;
  readonly asked: FormAsked | undefined;
};

/** Ends a wait with the answer of a person: a refusal fails the step unless it is told not to (PF4, PF5). */
export function endForm(job: LiveJob, { step, signal, asked }: FormAnswered, now: number): LiveJob {
  const { by, as, at } = signal;
  const { schema: _schema, ...form } = step.form;
  const told = known({ by, as: asOf(as), via: wayOf(signal) });
  const answered = { ...told, at } as NonNullable<StepForm['answered']>;
  const ended = { ...step, form: { ...form, answered } };
  const result = formResult(signal);
  const held = withStep(withoutRivals(job, step, answered, now), step, ended);
  if (asked?.mayFail !== true || result['approved'] !== false) {
    return releasedWait(held, ended, result, now);
  }
  const { comment } = result;
  const why = failure('NotApproved', {
    by: by === undefined ? '' : ` by ${by}`,
    comment: typeof comment === 'string' ? comment : '',
  });
  const given = { ...why, retryable: false, answer: result };
  return failStep(held, ended, { state: '$$error', failure: given, exit: exits.failed }, now);
}

/** Refuses the other answers that have come for a wait; those that another wait may take, now or later, stay. */
function withoutRivals(
  job: LiveJob,
  step: WaitingStep,
  { by, at }: NonNullable<StepForm['answered']>,
  now: number,
): LiveJob {
  const isOpen = job.steps.some(
    (one) => one.state === '$$waiting' && one.signal === step.signal && one.path !== step.path,
  );
  const isAwaited = isOpen || isAwaitedLater(job, String(step.signal));
  const taken = new Set(job.steps.map((one) => one['signal_id']));
  const { signals: all = [] } = job;
  const rivals = all.filter(
    ({ id, name, step: to }) =>
      name === step.signal && !taken.has(id) && (to === undefined ? !isAwaited : to === step.path),
  );
  if (rivals.length === 0) return job;
  const who = by === undefined ? '' : ` by ${by}`;
  const because = `Step "${step.name}" was answered already${who} at ${new Date(at).toISOString()}.`;
  const signals = all.filter((one) => !rivals.includes(one));
  return rivals.reduce<LiveJob>(
    (left, { id, name, by: sender, revision }) =>
      withRecord(left, {
        id,
        ...known({ revision, by: sender }),
        ...{ action: 'signal', name, at: now, refused: because },
      }),
    { ...job, signals },
  );
}

/** Returns what the entry of a step asks of people; undefined: nothing. */
export function askedAt(leaf: Leaf | undefined): FormAsked | undefined {
  return leaf === undefined ? undefined : formAskedBy(leaf.entry);
}
