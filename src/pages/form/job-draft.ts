import { localText } from './moments.js';
import type { Mistakes } from './mistakes.js';

/** What is said about a job beside its parameters, as it stands in the inputs. */
export type JobDraft = {
  readonly owner: string;
  readonly priority: string;
  /** With commas between them. */
  readonly tags: string;
  /** `NAME=VALUE`, one in each line. */
  readonly keys: string;
  /** The same key again means the same job. */
  readonly idempotencyKey: string;
  readonly start: 'now' | 'later' | 'at';
  readonly delay: string;
  readonly unit: DelayUnit;
  /** As `datetime-local` has it. */
  readonly at: string;
  readonly target: string;
  readonly queue: string;
};

export const delayUnits = {
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
} as const;
export type DelayUnit = keyof typeof delayUnits;

/** Nothing is said. */
export function emptyJob(owner: string, now: number): JobDraft {
  return {
    owner,
    priority: '',
    tags: '',
    keys: '',
    idempotencyKey: '',
    start: 'now',
    delay: '',
    unit: 'minutes',
    at: localText(new Date(Math.ceil(now / 60_000) * 60_000 + 3_600_000)),
    target: '',
    queue: '',
  };
}

/** The job as it is sent. `now`: epoch ms, from which a delay counts. */
export function jobToSubmit(flow: string, params: unknown, draft: JobDraft, now: number) {
  const { owner, priority, target, queue } = draft;
  const tags = draft.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  const keys = Object.fromEntries(pairsIn(draft.keys));
  const start = startOf(draft, now);
  return {
    type: 'job' as const,
    flow,
    ...(owner.trim() === '' ? {} : { owner: owner.trim() }),
    ...(params === undefined || isEmpty(params) ? {} : { params }),
    ...(priority.trim() === '' ? {} : { priority: Number(priority) }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(keys).length === 0 ? {} : { keys }),
    ...(start === undefined ? {} : { exec_after: start }),
    ...(target.trim() === '' ? {} : { target: target.trim() }),
    ...(queue.trim() === '' ? {} : { queue: queue.trim() }),
  };
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function startOf({ start, delay, unit, at }: JobDraft, now: number): number | undefined {
  switch (start) {
    case 'now':
      return undefined;
    case 'later':
      return now + Math.round(Number(delay) * delayUnits[unit]);
    case 'at':
      return new Date(at).getTime();
  }
}

function pairsIn(text: string): readonly (readonly [string, string])[] {
  return linesOf(text).map((line) => {
    const at = line.indexOf('=');
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** What is wrong with it, by the key of the job that it is about. */
export function mistakesInJob(draft: JobDraft): Mistakes {
  const { priority, start, delay, at, keys } = draft;
  const found: Record<string, string> = {};
  const rank = Number(priority);
  if (priority.trim() !== '' && !(Number.isInteger(rank) && rank >= 0 && rank <= 999)) {
    found['priority'] = 'It must be a whole number from 0 (first) to 999 (last).';
  }
  if (start === 'later' && !(Number(delay) > 0)) {
    found['exec_after'] = 'It must be a number, more than 0.';
  }
  if (start === 'at' && Number.isNaN(new Date(at).getTime())) {
    found['exec_after'] = 'It must be a date and a time.';
  }
  if (!linesOf(keys).every((line) => /^\s*[^=\s][^=]*=/.test(line))) {
    found['keys'] = 'Each line must be NAME=VALUE.';
  }
  return found;
}
