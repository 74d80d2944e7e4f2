import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { countValues } from '../model/size.js';
import type { JsonSchema } from '../model/scalars.js';
import { calculate, NoThreadError } from './calculations.js';
import type { PluginError } from './errors.js';
import { pluginProblem } from './failures.js';
import { loadAjv, loadAjv2020 } from './late-packages.js';
import { cheapValues, mayTakeLong } from './schema-cost.js';

/** A compiled schema: what is wrong with some parameters, as sentences without their values. */
export type ParamsCheck = (params: unknown) => readonly string[];

/** The same within bounds; rejects when a check takes longer than they allow. */
export type BoundedCheck = (params: unknown) => Promise<readonly string[]>;

/** Formats are hints here: no list of them is installed with the checker. */
const options = { allErrors: true, strict: false, validateFormats: false, logger: false } as const;
const compilerOptions = { ...options, validateSchema: false } as const;
/** More than these would not be read. */
const mostProblems = 5;

/** Compiles a plugin's `params` schema. Throws when it is no valid schema. */
export function compileParams(schema: JsonSchema): ParamsCheck {
  const { $schema, $id: _unused, ...rest } = schema;
  const recent = typeof $schema === 'string' && $schema.includes('2020-12');
  const Compiler = recent ? loadAjv2020().Ajv2020 : loadAjv().Ajv;
  // It throws at once: only a dialect of one's own may check asynchronously.
  void readerOf(Compiler).validateSchema(rest, true);
  const validate: ValidateFunction = new Compiler(compilerOptions).compile(rest);
  return (params) =>
    validate(params) ? [] : (validate.errors ?? []).map((error) => sentence(error));
}

type Dialect = typeof Ajv | typeof Ajv2020;
const readers = new Map<Dialect, Ajv | Ajv2020>();

/**
 * What says whether a schema is valid, one for each dialect: to make it takes longer than to compile a
 * schema. Schemas themselves are compiled apart, because their parts may have the same names.
 */
function readerOf(Reader: Dialect): Ajv | Ajv2020 {
  const reader = readers.get(Reader) ?? new Reader(options);
  readers.set(Reader, reader);
  return reader;
}

/**
 * Compiles a plugin's `params` schema. Parameters come from documents: what may take long to check is
 * checked in a thread with a deadline. Throws when it is no valid schema.
 */
export function boundParams(schema: JsonSchema): BoundedCheck {
  const made = bounded.get(schema) ?? makeBounded(schema);
  bounded.set(schema, made);
  return made;
}

/** A module is loaded once however many engines of a process load its plugin. */
const bounded = new WeakMap<JsonSchema, BoundedCheck>();

function makeBounded(schema: JsonSchema): BoundedCheck {
  const here = compileParams(schema);
  const isQuick = !mayTakeLong(JSON.stringify(schema));
  return async (params) =>
    isQuick && countValues(params, cheapValues) <= cheapValues
      ? here(params)
      : ((await calculate({ kind: 'params', schema, params })) as readonly string[]);
}

type Checked = { readonly name: string; readonly check?: BoundedCheck | undefined };

/**
 * `ParamsInvalid` (exit 3) when the parameters do not suit the plugin; undefined when they do. Throws
 * `ParamsUnchecked` when no thread could be started that finds it out.
 */
export async function checkParams(
  plugin: Checked,
  params: unknown,
): Promise<PluginError | undefined> {
  const found = [...new Set(await problemsOf(plugin, params))];
  if (found.length === 0) return undefined;
  const more = found.length - mostProblems;
  const problems = found.slice(0, mostProblems).join('; ') + (more > 0 ? `; ${more} more` : '');
  return pluginProblem('ParamsInvalid', { plugin: plugin.name, problems });
}

async function problemsOf({ name, check }: Checked, params: unknown): Promise<readonly string[]> {
  try {
    return (await check?.(params)) ?? [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof NoThreadError)
      throw pluginProblem('ParamsUnchecked', { plugin: name, reason });
    return [`params cannot be checked: ${reason}`];
  }
}

/** What is wrong, without the values; `root` is the path of what was checked, '' for none. */
export function sentence(error: ErrorObject, root = ''): string {
  const at = toPath(error.instancePath, root);
  const parameters = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
      return `${at}${at === '' ? '' : '.'}${String(parameters.missingProperty)} is missing`;
    case 'additionalProperties':
      return `${at}${at === '' ? '' : '.'}${String(parameters.additionalProperty)} is not known`;
    case 'enum':
      return `${at} must be one of ${JSON.stringify(parameters.allowedValues)}`;
    default:
      return `${at === '' ? 'params' : at} ${error.message ?? 'is not valid'}`;
  }
}

/** `/attachments/0/path` -> `attachments[0].path`. */
export function toPath(pointer: string, root = ''): string {
  return pointerKeys(pointer).reduce((path, part) => {
    if (/^\d+$/.test(part)) return `${path}[${part}]`;
    return path === '' ? part : `${path}.${part}`;
  }, root);
}

/** The keys of a JSON pointer. */
export function pointerKeys(pointer: string): readonly string[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
