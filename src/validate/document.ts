import { timingProblems } from '../evaluate/calendar.js';
import { checkExpression, checkTemplate } from '../evaluate/expressions.js';
import { checkLockPattern } from '../evaluate/patterns.js';
import { checkSchema } from '../evaluate/schemas.js';
import { hookEngineKeys } from '../model/hook.js';
import { patternOf } from '../model/target.js';
import { isObject } from '../model/object.js';
import { shownId, unfitId, unfitVersion } from '../model/ids.js';
import type { Problem } from '../model/problems.js';
import { scheduleProgressKeys } from '../model/schedule.js';
import { readNotify } from '../model/notify.js';
import { secretsInList } from '../model/notify-list.js';
import { readRetain } from '../model/retain.js';
import { readOn } from '../model/trigger.js';
import { parseDocument } from '../reading/parse.js';
import { leadsToText } from '../structures/kinds.js';
import type { FileProblem, Written } from './written.js';

/** What a file may hold. */
export const kinds = [
  'task',
  'flow',
  'schedule',
  'hook',
  'queue-control',
  'notify',
  'job',
] as const;

/** Everything that is wrong with one document, looked at by itself. */
export function checkDocument(file: string, doc: Written): readonly FileProblem[] {
  const at = (path: string, message: string): FileProblem => ({ file, path, message });
  const { type } = doc;
  if (!kinds.some((kind) => kind === type)) {
    return [
      at(
        'type',
        `type must be "task", "flow", "schedule", "hook", "queue-control", "notify" or "job"; it is ${JSON.stringify(type) ?? 'missing'}.`,
      ),
    ];
  }
  if (type === 'job' && doc['state'] !== undefined) {
    return [at('state', 'state is written by the engines; a job in a file must have none.')];
  }
  const written = engineKeysOf(type).filter((key) => doc[key] !== undefined);
  if (written.length > 0) {
    return written.map((key) => at(key, `${key} is written by the engines; leave it out.`));
  }
  const stored = { ...doc, _id: idOf(doc), _rev: '0-0' };
  const parsed = parseDocument(stored);
  const shape =
    parsed.kind === 'other' || parsed.ok
      ? []
      : parsed.problems.map(({ path, message }) => at(path, message));
  return [
    ...shape,
    ...(type === 'schedule' ? timingProblems(doc) : []).map(({ path, message }) =>
      at(path, message),
    ),
    ...notifyProblems(doc).map(([path, message]) => at(path, message)),
    ...retainProblems(doc).map(({ path, message }) => at(path, message)),
    ...onProblems(doc).map(({ path, message }) => at(path, message)),
    ...templateProblems(doc).map(([path, message]) => at(path, message)),
    ...expressionProblems(doc).map(([path, message]) => at(path, message)),
    ...patternProblems(doc).map(([path, message]) => at(path, message)),
    ...schemaProblems(doc).map(([path, message]) => at(path, message)),
    ...idProblems(doc).map(([path, message]) => at(path, message)),
    ...versionProblems(doc).map(([path, message]) => at(path, message)),
  ];
}

/** What engines write into documents of a type that people store. */
export function engineKeysOf(type: unknown): readonly string[] {
  if (type === 'schedule') return scheduleProgressKeys;
  return type === 'hook' ? hookEngineKeys : [];
}

type PathAndMessage = readonly [path: string, message: string];

function idOf({ _id }: Written): string {
  return typeof _id === 'string' ? _id : 'new';
}

function idProblems({ _id }: Written): readonly PathAndMessage[] {
  if (_id === undefined) return [];
  if (typeof _id !== 'string' || _id === '') return [['_id', '_id must be a text, not empty.']];
  const unfit = unfitId(_id);
  return unfit === undefined ? [] : [['_id', `_id ${unfit}; it is ${shownId(_id)}.`]];
}

/** Stored flows may have any version, so that their jobs go on; new ones have one that people can name. */
function versionProblems({ type, version }: Written): readonly PathAndMessage[] {
  if (type !== 'flow' || typeof version !== 'string') return [];
  const unfit = unfitVersion(version);
  return unfit === undefined ? [] : [['version', `version ${unfit}; it is ${shownId(version)}.`]];
}

/** An engine only leaves out what it cannot read of it; whoever stores it is to know. */
function notifyProblems({ type, notify }: Written): readonly PathAndMessage[] {
  const problems = type === 'notify' ? secretsInList(notify) : readNotify(notify).problems;
  if (type !== 'flow' && type !== 'job' && type !== 'notify') return [];
  return problems.map(({ path, message }) => [path, message]);
}

/** An engine only removes nothing for what it cannot read of it; whoever stores it is to know. */
function retainProblems({ type, retain }: Written): readonly Problem[] {
  return type === 'flow' ? readRetain(retain).problems : [];
}

/** An event only starts no job by what cannot be read of it; whoever stores it is to know. */
function onProblems({ type, on }: Written): readonly Problem[] {
  return type === 'flow' ? readOn(on).problems : [];
}

/** Templates stand in strings of `params`, wherever those are, in delays and in keys of events. */
function templateProblems(doc: Written): readonly PathAndMessage[] {
  return textsIn(doc)
    .filter(({ keys, text }) => doc['type'] !== 'hook' && isTemplate(keys) && text.includes('{{'))
    .flatMap(({ path, text }) => {
      const reason = checkTemplate(text);
      return reason === undefined
        ? []
        : [[path, `${path} is no valid template: ${reason}.`] as const];
    });
}

function isTemplate(keys: readonly string[]): boolean {
  // What an order carries is handed to workers as it is.
  if (keys[0] === 'on' || keys[0] === 'ojs') return false;
  if (keys.includes('params')) return true;
  if (keys[0] === 'notify') return true;
  return isOfEntry(keys);
}

/** Whether the text at these keys is one of an entry of its own that may hold templates. */
export function isOfEntry(keys: readonly string[]): boolean {
  return ['tasks', 'error', 'cancel'].includes(keys[0] ?? '') && leadsToText(keys);
}

/** Conditions of steps and the flow's `output` are JSONata. */
function expressionProblems(doc: Written): readonly PathAndMessage[] {
  return textsIn(doc)
    .filter(({ keys }) => isOfHook(doc, keys) || isExpression(keys) || isOfTrigger(keys))
    .flatMap(({ path, text }) => {
      const reason = checkExpression(text);
      return reason === undefined
        ? []
        : [[path, `${path} is no valid JSONata: ${reason}.`] as const];
    });
}

/** Whether the text at these keys of a hook is JSONata over a delivery. */
function isOfHook({ type }: Written, [key = '', ...more]: readonly string[]): boolean {
  return type === 'hook' && more.length === 0 && ['match', 'params'].includes(key);
}

/** Whether the text at these keys of a flow is JSONata over an event. */
export function isOfTrigger(keys: readonly string[]): boolean {
  if (keys[0] !== 'on') return false;
  const last = keys.at(-1) ?? '';
  return last === 'key' ? isOfGathering(keys.at(-2)) : ['match', 'params'].includes(last);
}

/** Whether the key is one that gathers events. */
function isOfGathering(key: string | undefined): boolean {
  return key === 'debounce' || key === 'batch';
}

/**
 * Whether the text at these keys is JSONata over a job and its steps: `when`, `guards`, `output`; or the `key`
 * of `unique` or `concurrency`.
 */
export function isExpression(keys: readonly string[]): boolean {
  if (keys.length === 2 && keys[0] === 'unique' && keys[1] === 'key') return true;
  if (keys.includes('params') || keys.includes('stdio')) return false;
  if (keys[0] === 'output') return true;
  if (['concurrency', 'rate', 'cache'].includes(keys[0] ?? '')) return keys.at(-1) === 'key';
  const own = keys.filter((key) => !/^\d+$/.test(key));
  return (
    ['tasks', 'error', 'cancel'].includes(keys[0] ?? '') &&
    (['when', 'guards', 'over', 'while'].includes(own.at(-1) ?? '') ||
      isAnswer(own) ||
      isMatchOfWait(own))
  );
}

/** Whether the text at these keys is what a wait answers the sender of its signal. */
export function isAnswer(keys: readonly string[]): boolean {
  return keys.at(-2) === 'wait' && keys.at(-1) === 'answer';
}

/** Whether the text at these keys says which events a wait takes. */
export function isMatchOfWait(keys: readonly string[]): boolean {
  return keys.at(-2) === 'wait' && keys.at(-1) === 'match';
}

/** `locks` of a job is a regular expression. */
function patternProblems({ type, locks }: Written): readonly PathAndMessage[] {
  const pattern = patternOf(locks);
  if (type !== 'job' || pattern === undefined) return [];
  const reason = checkLockPattern(pattern.text);
  return reason === undefined
    ? []
    : [['locks', `locks must be a regular expression of RE2: ${reason}.`]];
}

function schemaProblems(doc: Written): readonly PathAndMessage[] {
  return ['schema', 'output_schema'].flatMap((key): readonly PathAndMessage[] => {
    const schema = doc[key];
    const reason = isObject(schema) ? checkSchema(schema) : undefined;
    return reason === undefined ? [] : [[key, `${key} is no valid JSON Schema: ${reason}.`]];
  });
}

type TextAt = { readonly keys: readonly string[]; readonly path: string; readonly text: string };

/** Every string of a JSON value, with its path (`tasks.sequence[0].when`). */
export function textsIn(
  value: unknown,
  keys: readonly string[] = [],
  path = '',
): readonly TextAt[] {
  if (typeof value === 'string') return [{ keys, path, text: value }];
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => textsIn(item, [...keys, String(i)], `${path}[${i}]`));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    textsIn(item, [...keys, key], path === '' ? key : `${path}.${key}`),
  );
}
