import { isObject } from '../model/object.js';
import type { LoadedPlugin } from '../plugin/loader.js';

/** A parameter of a plugin as its schema declares it; `name` is its dotted path. */
export type ParamDoc = {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default?: unknown;
  readonly description: string;
};

/** What a plugin tells of itself by its exports. */
export type PluginDoc = {
  readonly name: string;
  readonly file: string;
  readonly description: string;
  readonly isolate?: string;
  readonly params: readonly ParamDoc[];
  /** The JSON Schema of its parameters; absent: anything goes. */
  readonly schema?: Readonly<Record<string, unknown>>;
};

/** Reads the exports of a plugin. */
export function pluginDoc({ name, file, module }: LoadedPlugin): PluginDoc {
  const { description = '', isolate, params } = module;
  return {
    ...{ name, file, description },
    ...(isolate === undefined ? {} : { isolate }),
    params: params === undefined ? [] : paramsOf(params, '', deepest),
    ...(params === undefined ? {} : { schema: params }),
  };
}

/** Objects in objects are looked into so many levels deep. */
const deepest = 4;

function paramsOf(schema: object, prefix: string, depth: number): readonly ParamDoc[] {
  const { properties, required } = schema as Readonly<Record<string, unknown>>;
  if (!isObject(properties) || depth === 0) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([key, of]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    const facts = isObject(of) ? of : {};
    const { description, default: usual } = facts;
    const own = {
      ...{ name, type: typeOf(facts), required: needed.includes(key) },
      ...(usual === undefined ? {} : { default: usual }),
      description: typeof description === 'string' ? description : '',
    };
    return [own, ...paramsOf(facts, name, depth - 1)];
  });
}

function typeOf(schema: Readonly<Record<string, unknown>>): string {
  const { type, enum: values, const: only, items, anyOf, oneOf } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' or ');
  if (only !== undefined) return JSON.stringify(only);
  if (type === 'array' && isObject(items)) return `list of ${typeOf(items)}`;
  const choices: readonly unknown[] = [anyOf, oneOf].find(Array.isArray) ?? [type].flat();
  const words = choices.map((one) => (isObject(one) ? typeOf(one) : one));
  return words.filter((word) => typeof word === 'string').join(' or ') || 'any';
}

/** The plugins as Markdown: a section and a table of parameters for each. */
export function pluginMarkdown(
  docs: readonly PluginDoc[],
  shown: (file: string) => string,
): string {
  return docs.map((doc) => sectionOf(doc, shown(doc.file))).join('\n\n');
}

function sectionOf(
  { name, description, isolate, params, schema }: PluginDoc,
  file: string,
): string {
  const where = isolate === undefined ? '' : ` Each call runs in a ${isolate} of its own.`;
  const rows = params.map((param) => {
    const usual =
      param.default === undefined ? '' : ` Default: \`${JSON.stringify(param.default)}\`.`;
    const said = param.description.replace(/[^.!?]$/, '$&.');
    const about = `${said}${usual}`.trim();
    return `| \`${param.name}\` | ${cell(param.type)} | ${param.required ? 'yes' : ''} | ${cell(about)} |`;
  });
  const table =
    rows.length > 0
      ? ['| parameter | type | required | |', '| --- | --- | --- | --- |', ...rows].join('\n')
      : schema === undefined
        ? 'Its parameters are not declared.'
        : 'It declares no parameters by name.';
  return [
    `## ${name}`,
    ...(description === '' ? [] : [description]),
    `File: \`${file}\`.${where}`,
    table,
  ].join('\n\n');
}

/** A cell of a table ends at a bar and at the end of the line. */
const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');
