import type { Notifies } from '../../model/notify.js';
import { isObject } from '../../model/object.js';
import { lengthOf } from '../../words.js';

/** What a notification says, before it is put into a format. Nothing is escaped; `title` is one line. */
export type Notice = {
  readonly title: string;
  /** What went wrong, or what is waited for; may have several lines. */
  readonly detail?: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** The page of the job. */
  readonly link?: string;
  readonly tone: Tone;
};

export type Tone = 'good' | 'bad' | 'warning' | 'neutral';

type Facts = Readonly<Record<string, unknown>> &
  Pick<Notifies, 'job' | 'status'> & { readonly event?: string | undefined };

/** The longest texts of a notice, characters; formats may cut more. */
const most = { title: 150, detail: 2_000, fact: 200 };

/** Returns what a notification says of its subject. */
export function noticeOf(notifies: Facts): Notice {
  const { job, status, flow, event = status, failure, because, link } = notifies;
  const of = typeof flow === 'string' ? ` of flow ${flow}` : '';
  const detail = detailOf(failure, because);
  return {
    title: cut(oneLine(`Job ${job}${of} ${words[event] ?? event}`), most.title),
    ...(detail === undefined ? {} : { detail: cut(printable(detail), most.detail) }),
    facts: factsOf(notifies),
    ...(typeof link === 'string' ? { link } : {}),
    tone: tones[event] ?? 'neutral',
  };
}

const tones: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  failed: 'bad',
  late: 'warning',
  stuck: 'bad',
  waiting: 'warning',
};

const words: Readonly<Record<string, string>> = {
  cancelled: 'was cancelled',
  late: 'is late',
  stuck: 'is stuck',
  waiting: 'waits for a person',
};

function detailOf(failure: unknown, because: unknown): string | undefined {
  if (typeof because === 'string') return because;
  if (!isObject(failure)) return undefined;
  const { name, message } = failure;
  const texts = [name, message].filter((one) => typeof one === 'string' && isVisible(one));
  return texts.length === 0 ? undefined : texts.join(': ');
}

function factsOf(notifies: Facts): Notice['facts'] {
  const { owner, exit, failure, start, end, external_id } = notifies;
  const step = isObject(failure) ? failure['step'] : undefined;
  const facts: readonly (readonly [string, unknown])[] = [
    ['Owner', owner],
    ['Step', step],
    ['Exit', exit],
    ['Started', timeOf(start)],
    ['Ended', timeOf(end)],
    ['Took', tookOf(start, end)],
    ['External id', external_id],
  ];
  return facts.flatMap(([label, value]) =>
    (typeof value === 'string' && isVisible(value)) || typeof value === 'number'
      ? [[label, cut(oneLine(String(value)), most.fact)] as const]
      : [],
  );
}

/** Slack and Discord refuse a whole message for one empty text. */
function isVisible(text: string): boolean {
  return /[^\s\p{C}]/u.test(text);
}

/** Times that no date can hold. */
const lastDate = 8_640_000_000_000_000;

function tookOf(start: unknown, end: unknown): string | undefined {
  if (timeOf(start) === undefined || timeOf(end) === undefined) return undefined;
  const ms = Number(end) - Number(start);
  return ms < 0 ? undefined : lengthOf(ms);
}

function timeOf(at: unknown): string | undefined {
  if (typeof at !== 'number' || !(Math.abs(at) <= lastDate)) return undefined;
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Without control characters but line breaks. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, ' ');
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

/**
 * Cuts a text to a number of characters as they come out after escaping, never within a character or
 * what it is escaped to.
 */
export function cut(text: string, length: number, escape = (one: string): string => one): string {
  let fit = '';
  let short = '';
  for (const one of text) {
    const next = fit + escape(one);
    if (next.length > length) return `${short}…`;
    if (next.length < length) short = next;
    fit = next;
  }
  return fit;
}
