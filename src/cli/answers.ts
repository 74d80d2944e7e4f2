import { problem } from '../errors.js';
import type { Written } from '../validate/written.js';
import type { Io } from './io.js';
import {
  fillPlaceholders,
  openPlaceholders,
  setAt,
  toValue,
  type Placeholder,
} from './placeholders.js';
import { questions } from './prompt.js';

/** A job as its file has it, and what `--set` says about it. */
export type Questionnaire = {
  readonly doc: Written;
  readonly file: string;
  readonly set: readonly string[];
};

/**
 * Fills in every `[[label]]`: from `--set label=value` and `--set dotted.path=value`, then from
 * answers at the terminal. An empty text is no answer. `ask` makes the questions.
 * @throws TwsError `placeholders_open` (names all that are missing), `usage`
 */
export async function answersFor(
  { doc, file, set }: Questionnaire,
  io: Io,
  ask: typeof questions = questions,
): Promise<Written> {
  const labels = new Map<string, string>();
  let job: Written = doc;
  const known = new Set(openPlaceholders(doc).map(({ label }) => label));
  for (const [name, value] of set.map(splitSetting)) {
    if (known.has(name)) answer(labels, name, value);
    else job = setPath(job, name, value);
  }
  job = fillPlaceholders(job, labels);
  const open = openPlaceholders(job);
  if (open.length === 0) return job;
  if (!io.interactive) throw problem('placeholders_open', { file, missing: open.map(describe) });
  return fillPlaceholders(job, await askFor(open, io, ask));
}

function answer(labels: Map<string, string>, label: string, value: string): void {
  if (!isEmpty(value)) labels.set(label, value);
}

const isEmpty = (text: string): boolean => text.trim() === '';

function splitSetting(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1)];
  throw problem('usage', {
    reason: `--set needs NAME=VALUE; it was given ${JSON.stringify(text)}.`,
  });
}

/** A text that is a placeholder takes the value as text; anything else as JSON where it is JSON. */
function setPath(job: Written, name: string, value: string): Written {
  const path = name.split('.');
  const isText = openPlaceholders(job).some(({ paths }) => paths.includes(name));
  if (path.length === 1 && !Object.hasOwn(job, name) && !jobKeys.has(name)) {
    const reason = `--set ${name}: the job has no [[${name}]]; to set a value give its path, such as params.${name}.`;
    throw problem('usage', { reason });
  }
  if (isText && isEmpty(value)) return job;
  return setAt(job, path, isText ? value : toValue(value)) as Written;
}

/** Whether `--set` of this name means a key of the job itself. */
export const isJobKey = (name: string): boolean => jobKeys.has(name);

const jobKeys: ReadonlySet<string> = new Set([
  'flow',
  'owner',
  'priority',
  'exec_after',
  'target',
  'locks',
  'expires',
  'external_id',
  'tags',
  'keys',
  'paused',
]);

function describe({ label, paths }: Placeholder): string {
  return `[[${label}]] at ${paths.join(', ')}`;
}

async function askFor(
  open: readonly Placeholder[],
  io: Io,
  make: typeof questions,
): Promise<ReadonlyMap<string, string>> {
  const ask = await make(io, 'What is open in the job');
  const answers = new Map<string, string>();
  for (const { label, paths } of open) {
    let given = await ask.text(`${label} (${paths.join(', ')}):`);
    while (isEmpty(given)) {
      io.warn(`The job needs a value for [[${label}]]; Ctrl-C ends without submitting it.`);
      given = await ask.text(`${label} (${paths.join(', ')}):`);
    }
    answers.set(label, given);
  }
  return answers;
}
