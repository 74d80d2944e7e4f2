import { mayHoldTemplate } from '../model/template.js';
import type { ErrorObject, FuncKeywordDefinition, ValidateFunction } from 'ajv';
import { canonical } from '../model/canonical.js';
import type { CheckedSubject, Schema } from '../decide/world.js';
import { createMemo } from '../memo.js';
import type { Problem } from '../model/problems.js';
import { loadAjv, loadAjv2020 } from '../plugin/late-packages.js';
import { pointerKeys, sentence, toPath } from '../plugin/params.js';
import { isEncrypted } from '../model/encrypted.js';
import { isNamedSecret } from '../model/named-secret.js';
import { isSensitive } from '../model/sensitive.js';
import { isReference } from '../model/secret-reference.js';
import { patternWeight } from './pattern-weight.js';
import { readPattern } from './patterns.js';

/** So many compiled schemas are kept. */
const kept = 500;

/** A schema may be so long as JSON, in characters: the time to compile it grows faster than that. */
export const longestSchema = 65_536;

const schemas = createMemo<Schema>(kept);

/**
 * Reads a JSON Schema (draft 7, or 2020-12 when `$schema` says so) of a flow or task. Definitions come
 * from users, and one of them must not stop an engine: patterns are those of RE2, lists are looked
 * through for duplicates in one pass, and what refers to itself without end is a problem, too.
 */
export function readSchema(schema: Readonly<Record<string, unknown>>): Schema {
  const text = JSON.stringify(schema);
  if (text.length > longestSchema) {
    const reason = `it has ${text.length} characters, and ${longestSchema} is the most`;
    return { ok: false, reason };
  }
  return schemas(text, () => compile(schema));
}

/** Why a JSON Schema cannot be read, or undefined. */
export function checkSchema(schema: Readonly<Record<string, unknown>>): string | undefined {
  const read = readSchema(schema);
  return read.ok ? undefined : read.reason;
}

/** Weight (see `patternWeight`) of all patterns of a schema together: they are compiled in about 0.1 s. */
const heaviestPatterns = 50_000;

function optionsOf() {
  let weight = 0;
  const bounded = (text: string) => {
    weight += patternWeight(text);
    if (weight > heaviestPatterns) {
      throw new Error(
        `its patterns repeat their parts too often (written out, more than ${heaviestPatterns} of them)`,
      );
    }
    return linearPattern(text);
  };
  return {
    allErrors: true,
    strict: false,
    // Formats are hints here: no list of them is installed with the checker.
    validateFormats: false,
    logger: false,
    code: { regExp: Object.assign(bounded, { code: 'linearPattern' }) },
  } as const;
}

const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (wanted: boolean, list: readonly unknown[]) =>
    !wanted || new Set(list.map(canonical)).size === list.length,
  error: { message: 'must not have the same item twice' },
};

function linearPattern(text: string) {
  const pattern = readPattern(text);
  if (!pattern.ok) throw new Error(`the pattern ${JSON.stringify(text)}: ${pattern.reason}`);
  return { test: pattern.matches };
}

function compile({ $schema, ...rest }: Readonly<Record<string, unknown>>): Schema {
  const recent = typeof $schema === 'string' && $schema.includes('2020-12');
  const Compiler = recent ? loadAjv2020().Ajv2020 : loadAjv().Ajv;
  const ajv = new Compiler(optionsOf());
  try {
    ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems);
    const check = ajv.compile(rest);
    if ('$async' in check) return { ok: false, reason: '"$async" cannot be used here' };
    return { ok: true, problemsOf: (value, of = 'params') => problemsOf(check, value, of) };
  } catch (error) {
    return { ok: false, reason: firstLine(error) };
  }
}

function problemsOf(
  check: ValidateFunction,
  value: unknown,
  of: CheckedSubject,
): readonly Problem[] {
  try {
    if (check(value)) return [];
  } catch (error) {
    return [problem(of, `${of} cannot be checked: ${firstLine(error)}`)];
  }
  const found = new Map<string, Problem>();
  for (const error of check.errors ?? []) {
    if (found.size === mostTold) break;
    // Only of parameters something is known later.
    const isOpen = of === 'params' && isOpenAt(error, value);
    const problem = isOpen ? undefined : problemOf(error, of);
    if (problem !== undefined && !found.has(problem.message)) found.set(problem.message, problem);
  }
  return [...found.values()];
}

/** Maximum number of problems that are reported of one value. */
const mostTold = 100;

function problemOf(error: ErrorObject, of: CheckedSubject): Problem {
  const { missingProperty: missing } = error.params as { missingProperty?: string };
  const pointer =
    missing === undefined ? '' : `/${missing.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return problem(toPath(`${error.instancePath}${pointer}`, of), sentence(error, of));
}

function problem(path: string, message: string): Problem {
  return { path, message: `${message}.` };
}

/** Keywords that depend on everything inside a value. */
const deep = new Set(['anyOf', 'oneOf', 'not', 'if', 'contains', 'const', 'enum', 'uniqueItems']);

/** Whether it may suit as soon as all is known. */
function isOpenAt({ instancePath, keyword, schemaPath }: ErrorObject, params: unknown): boolean {
  let value = params;
  if (/\/(?:then|else|anyOf|oneOf)\//.test(schemaPath) && holdsOpen(params)) return true;
  for (const part of pointerKeys(instancePath)) {
    if (isKnownLater(value)) return true;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return deep.has(keyword) ? holdsOpen(value) : isKnownLater(value);
}

function holdsOpen(value: unknown): boolean {
  if (isKnownLater(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsOpen);
}

/** What is known only when the step begins: templates, labels that are asked for, encrypted texts, names of secrets. */
export function isKnownLater(value: unknown): boolean {
  return (
    isEncrypted(value) ||
    isReference(value) ||
    isNamedSecret(value) ||
    isSensitive(value) ||
    (typeof value === 'string' && mayHoldTemplate(value))
  );
}

function firstLine(error: unknown): string {
  const { message } = error as { message?: unknown };
  return String(message ?? error).split('\n')[0] ?? '';
}
