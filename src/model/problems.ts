import type { z } from 'zod';

/** A problem found in a definition or in parameters: JSON path and sentence. */
export type Problem = { readonly path: string; readonly message: string };

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/**
 * Turns what zod found into sentences with JSON paths: what is wrong, where, and with which value.
 * Of a union only the branch is told that the author meant. Secrets are never shown.
 */
export function toProblems(issues: readonly Issue[], input: unknown): readonly Problem[] {
  const problems = issues
    .flatMap((issue) => flatten({ path: issue.path, issue }, input))
    .map((found) => describe(found, input));
  const listed = new Set<string>();
  return problems.filter(({ path }) => listed.size < listed.add(path).size);
}

type Found = { readonly path: Path; readonly issue: Issue };

function flatten(found: Found, input: unknown): readonly Found[] {
  const { issue } = found;
  if (issue.code !== 'invalid_union') return [found];
  const branches = issue.errors.map((branch) =>
    branch.map((inner): Found => ({ path: [...found.path, ...inner.path], issue: inner })),
  );
  const meant = meantBranch(branches, found.path, input);
  return meant === undefined ? [found] : meant.flatMap((inner) => flatten(inner, input));
}

type Branch = readonly Found[];

/**
 * The branch the author meant: the value is of its kind and has its keys, and the fewest are strange.
 * A wrong word that tells the branches apart (`structure`) says all there is to say. Where each
 * branch lacks a key, only such a word can tell what was meant.
 */
function meantBranch(branches: readonly Branch[], at: Path, input: unknown): Branch | undefined {
  const ofKind = branches.filter(
    (branch) => branch.length > 0 && !branch.some((found) => isOtherKind(found, at, input)),
  );
  const [best] = ofKind
    .filter((branch) => !branch.some((found) => isLacking(found, at, input)))
    .map((branch) => ({ branch, strange: branch.filter(({ issue }) => isStrange(issue)).length }))
    .sort((a, b) => a.strange - b.strange);
  if (best === undefined) {
    const lacking = ofKind.flat().filter((found) => isNamed(found, at, input));
    return lacking.length > 0 ? lacking : wordOf(ofKind.flat().filter((one) => isWord(one, at)));
  }
  const word = best.branch.find((found) => isWord(found, at));
  return word === undefined ? best.branch : [word];
}

/** The words that several branches ask for at one place, as one. */
function wordOf(found: readonly Found[]): Branch | undefined {
  const [first] = found;
  if (first === undefined) return undefined;
  const values = found.flatMap(({ issue }) => (issue.code === 'invalid_value' ? issue.values : []));
  const issue = { ...first.issue, message: '', values: [...new Set(values)] } as Issue;
  return [{ path: first.path, issue }];
}

/** One word is asked for right below the place. */
function isWord({ path, issue }: Found, at: Path): boolean {
  return (
    path.length === at.length + 1 && issue.code === 'invalid_value' && issue.values.length === 1
  );
}

/** The key that is not there is the one that the word under `structure` asks for. */
function isNamed(found: Found, at: Path, input: unknown): boolean {
  const word = valueAt(input, [...at, 'structure']);
  return isLacking(found, at, input) && found.path.at(-1) === word;
}

/** The value itself, not something in it, is not what this branch is about: a list, not a name. */
function isOtherKind(found: Found, at: Path, input: unknown): boolean {
  const { path, issue } = found;
  if (path.length > at.length) return false;
  return issue.code === 'invalid_union'
    ? flatten(found, input)[0] === found
    : issue.code === 'invalid_type';
}

/** A key of the branch is not there. */
function isLacking({ path }: Found, at: Path, input: unknown): boolean {
  return path.length === at.length + 1 && valueAt(input, path) === undefined;
}

/** A key of another branch. */
function isStrange(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.expected === 'never';
}

function describe({ path, issue }: Found, input: unknown): Problem {
  const at = toJsonPath(path);
  const hidden = path.some(isSecret);
  const what = sentence(issue, valueAt(input, path), hidden);
  return { path: at, message: `${at === '' ? 'The document' : at} ${what}` };
}

function sentence(issue: Issue, value: unknown, hidden: boolean): string {
  const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : issue.message;
  const text = message?.startsWith('must') === true ? message : expected(issue);
  if (value === undefined) {
    return text.startsWith('must be a name') ? 'is missing.' : `is missing; it ${text}.`;
  }
  if (isStrange(issue) || isComplete(issue)) return `${text}.`;
  return `${text}; it is ${hidden ? kindOf(value) : show(value)}.`;
}

/** The sentence says it all: the value that was found would add nothing. */
function isComplete(issue: Issue): boolean {
  return (
    issue.code === 'invalid_key' ||
    (issue.code === 'custom' && issue.params?.['isComplete'] === true)
  );
}

/** Where a schema has no words of its own. */
function expected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${listed(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'too_small':
      return `must be ${issue.minimum} or more`;
    case 'too_big':
      return `must be ${issue.maximum} or less`;
    case 'invalid_union':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'custom':
      return `is not valid (${issue.message})`;
  }
}

function listed(words: readonly string[]): string {
  const last = words.slice(-2).join(' or ');
  return [...words.slice(0, -2), last].join(', ');
}

const kinds: Readonly<Partial<Record<string, string>>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Longest text that is shown as it is, and most keys that are named of an object. */
const shown = { text: 40, keys: 4 } as const;

/** A short picture of a wrong value: long ones by kind, objects by their keys. */
export function show(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= shown.text) {
    return `the string ${JSON.stringify(value)}`;
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const kind = kindOf(value);
  return kind === 'an object' ? `${kind}${keysOf(value as object)}` : kind;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (value === '') return 'an empty string';
  if (typeof value === 'string') return value.length > shown.text ? 'a long string' : 'a string';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`;
}

function keysOf(value: object): string {
  const keys = Object.keys(value);
  if (keys.length === 0) return ' without keys';
  const named = keys
    .slice(0, shown.keys)
    .map((key) => JSON.stringify(key.length > shown.text ? `${key.slice(0, shown.text)}…` : key));
  const more = keys.length > shown.keys ? ', …' : '';
  return ` with the ${keys.length === 1 ? 'key' : 'keys'} ${named.join(', ')}${more}`;
}

/** Keys below which a value may be one that nobody else should read; all parameters are. */
function isSecret(key: PropertyKey): boolean {
  return /^params$|^auth|pass|secret|token|credential|(?:^|[^a-z])key$/i.test(String(key));
}

/** `['tasks', 'sequence', 1, 'task']` -> `tasks.sequence[1].task`; other keys as `["a b"]`. */
export function toJsonPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = String(key);
    if (text !== '' && !/^[\w$-]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

/** The value at a path of own keys. */
function valueAt(input: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    input,
  );
}
