import { byLink } from '../model/answer-link.js';
import { lengthOf, momentFrom, shortened } from '../words.js';
import type { AnswerWay, FormAnswerFacts, FormFacts, FormTimerFacts } from './form-facts.js';

/* What a step asks or asked of people, in sentences. */

/** By which way an answer came, after the words `answered by ann`. */
export function wayWords({ as, via }: Pick<FormAnswerFacts, 'as' | 'via'>): string {
  if (as === byLink || via === byLink) return 'by a one-time link';
  if (via === undefined) return 'by a signal';
  return waysInWords.get(via) ?? `by "${shortened(via, longestWay)}"`;
}

const longestWay = 40;
const waysInWords: ReadonlyMap<string, string> = new Map<AnswerWay, string>([
  ['page', 'on the page of the job'],
  ['inbox', 'in the inbox'],
  ['api', 'over the API'],
  ['command', 'by `tws answer`'],
]);

/** Says what a timer did or is to do; `when` writes a time. */
export function timerWords(
  { event, at, told, messages, to = 'others' }: FormTimerFacts,
  when: (at: number) => string,
): string {
  const sent = messages === 1 ? '1 message' : `${messages === 0 ? 'no' : messages} messages`;
  const tail = told === undefined ? '' : `, ${sent} sent`;
  switch (event) {
    case 'reminder':
      return told === undefined ? `Reminder ${when(at)}` : `Reminded ${when(told)}${tail}`;
    case 'due':
      return told === undefined ? `Due ${when(at)}` : `Due since ${when(at)}${tail}`;
    case 'escalated':
      return told === undefined
        ? `Escalates ${when(at)}: ${to} may answer as well`
        : `Escalated ${when(told)}: ${to} may answer as well${tail}`;
  }
}

/** So many timers of a form are told. */
const mostTimers = 5;
const longestAnswer = 500;

/** Says what is told while a form waits: what has gone off, what is to come, and which links are good. */
export function askedWords(
  { timers, links }: FormFacts,
  now: number,
  when: (at: number) => string,
): readonly string[] {
  // When it is due is said of the form itself.
  const all = timers.filter(({ event, told }) => event !== 'due' || told !== undefined);
  const open = all.findIndex(({ told }) => told === undefined);
  const from = Math.max(0, (open < 0 ? all.length : open) - 2);
  const shown = all.slice(from, from + mostTimers);
  const left = all.length - shown.length;
  const good = links.filter(({ until }) => until > now);
  return [
    ...shown.map((timer) => `${timerWords(timer, when)}.`),
    ...(left > 0 ? [`And ${left} more.`] : []),
    ...good
      .slice(0, mostTimers)
      .map(({ for: user, until }) => `The link of ${user} works for ${lengthOf(until - now)}.`),
  ];
}

/** Says who answered a form, what, when and how; undefined: nobody did. */
export function answeredWords({ step, answered }: FormFacts, now: number): string | undefined {
  if (answered === undefined) return undefined;
  const { by, at, as, answer } = answered;
  const who = by === undefined ? '' : ` by ${by}`;
  const right = as === 'admin' ? ' as an administrator' : '';
  const what = answer === undefined ? '' : `: ${shortened(JSON.stringify(answer), longestAnswer)}`;
  const time = `${new Date(at).toISOString()} (${momentFrom(now, at)})`;
  return `Step "${step}" was answered${who}${right} at ${time} ${wayWords(answered)}${what}.`;
}
