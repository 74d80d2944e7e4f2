import { isRecord, record } from '../editor/schema-at.js';
import type { JsonSchema } from '../../model/scalars.js';
import { expanded, type Expanded } from './expand.js';

/** What all fields have. */
type Common = {
  readonly label: string;
  readonly description?: string;
  /** It must be filled in. */
  readonly required: boolean;
  /** What it begins with. */
  readonly initial?: unknown;
  /** An empty one is `null`, where it must be there. */
  readonly nullable: boolean;
};

/** Formats that have an input of their own. */
export const formats = ['date', 'time', 'date-time', 'email', 'uri', 'password', 'uuid'] as const;
export type Format = (typeof formats)[number];

export type TextField = Common & {
  readonly kind: 'text';
  readonly format?: Format;
  /** A text of several lines. */
  readonly long: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly examples: readonly string[];
};
export type NumberField = Common & {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
};
export type ChoiceOption = { readonly label: string; readonly value: unknown };
export type ChoiceField = Common & {
  readonly kind: 'choice';
  readonly choices: readonly ChoiceOption[];
};
/** Any of some values, each at most once. */
export type SeveralField = Common & {
  readonly kind: 'several';
  readonly choices: readonly ChoiceOption[];
  readonly minItems: number;
  readonly maxItems: number;
};
export type FlagField = Common & { readonly kind: 'flag' };
export type FixedField = Common & { readonly kind: 'fixed'; readonly value: unknown };
export type GroupField = Common & {
  readonly kind: 'group';
  readonly fields: Readonly<Record<string, Field>>;
};
export type ListField = Common & {
  readonly kind: 'list';
  readonly item: Field;
  readonly minItems: number;
  readonly maxItems: number;
  readonly unique: boolean;
};
export type VariantsField = Common & {
  readonly kind: 'variants';
  readonly variants: readonly Field[];
};
/** What no input suits: it is written as JSON; `why` names what the form does not know. */
export type JsonField = Common & { readonly kind: 'json'; readonly why: string };

/** One input of a form, or a group of them. */
export type Field =
  | TextField
  | NumberField
  | ChoiceField
  | SeveralField
  | FlagField
  | FixedField
  | GroupField
  | ListField
  | VariantsField
  | JsonField;

/** Deeper forms nobody would fill in; what is below is written as JSON. */
const deepest = 8;

type About = {
  readonly root: JsonSchema;
  readonly name: string;
  readonly required: boolean;
  readonly depth: number;
};

/**
 * The form for a JSON Schema (draft 7 or 2020-12). Parts that it has no inputs for are fields of JSON;
 * a schema that says nothing about the keys of an object is one as a whole.
 */
export function fieldForSchema(schema: unknown, name = ''): Field {
  const root = isRecord(schema) ? schema : {};
  return field(root, { root, name, required: true, depth: 0 });
}

function field(schema: unknown, about: About): Field {
  const found = expanded(about.root, schema);
  const common = commonOf(found, about);
  if (found.beyond !== undefined) return { ...common, kind: 'json', why: found.beyond };
  if (about.depth > deepest) return { ...common, kind: 'json', why: 'how deep it goes' };
  return choiceOf(found, common) ?? variantsOf(found, common, about) ?? plain(found, common, about);
}

function commonOf({ schema, nullable }: Expanded, { name, required }: About): Common {
  const { title, description, default: initial } = schema;
  const about = typeof description === 'string' && description !== '' ? { description } : {};
  return {
    label: typeof title === 'string' && title !== '' ? title : labelOf(name),
    ...about,
    required,
    nullable,
    ...(initial === undefined ? {} : { initial }),
  };
}

/** `first_name`, `firstName` -> `First name`. */
function labelOf(name: string): string {
  const words = name
    .replace(/[_-]+/g, ' ')
    .replace(
      /([a-z\d])([A-Z])/g,
      (_all, before: string, after: string) => `${before} ${after.toLowerCase()}`,
    )
    .trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/** `enum`, `const`, and alternatives that are each one value. */
function choiceOf({ schema, alternatives }: Expanded, common: Common): Field | undefined {
  const { enum: values, const: fixed } = schema;
  if (fixed !== undefined) return { ...common, kind: 'fixed', value: fixed };
  if (Array.isArray(values)) {
    const choices = (values as readonly unknown[]).map(choice);
    return { ...common, kind: 'choice', choices };
  }
  if (alternatives.length === 0 || !alternatives.every((one) => 'const' in one)) return undefined;
  const choices = alternatives.map(({ const: value, title }) =>
    typeof title === 'string' ? { label: title, value } : choice(value),
  );
  return { ...common, kind: 'choice', choices };
}

function choice(value: unknown): ChoiceOption {
  return { label: typeof value === 'string' ? value : JSON.stringify(value), value };
}

/** Alternatives of which one is chosen, and types of which one is meant. */
function variantsOf(found: Expanded, common: Common, about: About): Field | undefined {
  const { schema, types, alternatives } = found;
  const {
    oneOf: _one,
    anyOf: _any,
    title: _title,
    description: _about,
    default: _usual,
    ...own
  } = schema;
  const inner = { ...about, required: true, depth: about.depth + 1 };
  const forms =
    alternatives.length > 0
      ? alternatives.map((one): JsonSchema => ({ ...own, ...one, ...bothKeys(own, one) }))
      : types.length > 1
        ? types.map((type): JsonSchema => ({ ...own, type, title: typeWords[type] ?? type }))
        : [];
  if (forms.length === 0) return undefined;
  const variants = forms.map((form, i) => field(form, { ...inner, name: variantName(form, i) }));
  return { ...common, kind: 'variants', variants };
}

/** Keys that stand beside the alternatives belong to each of them. */
function bothKeys(own: JsonSchema, one: JsonSchema): JsonSchema {
  const properties = { ...record(own['properties']), ...record(one['properties']) };
  const required = [own['required'], one['required']].flatMap((list) =>
    Array.isArray(list) ? (list as readonly unknown[]) : [],
  );
  return Object.keys(properties).length === 0 ? {} : { properties, required };
}

function variantName(form: JsonSchema, index: number): string {
  const { type, properties } = form;
  const kind = Object.entries(record(properties)).find(
    ([, inner]) => record(inner)['const'] !== undefined,
  );
  if (kind !== undefined) return String(record(kind[1])['const']);
  if (typeof type === 'string' && type !== 'object') return typeWords[type] ?? type;
  const required = Array.isArray(form['required']) ? (form['required'] as readonly unknown[]) : [];
  return required.length > 0 ? required.join(', ') : `Form ${index + 1}`;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  object: 'Object',
  array: 'List',
};

function plain({ schema, types }: Expanded, common: Common, about: About): Field {
  const [type] = types;
  if (type === undefined) return { ...common, kind: 'json', why: 'what type it is' };
  switch (type) {
    case 'string':
      return textOf(schema, common);
    case 'number':
    case 'integer':
      return {
        ...common,
        kind: 'number',
        integer: type === 'integer',
        ...numbers(schema, numberKeys),
      };
    case 'boolean':
      return { ...common, kind: 'flag' };
    case 'object':
      return groupOf(schema, common, about);
    case 'array':
      return listOf(schema, common, about);
  }
}

const numberKeys = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
] as const;
const lengthKeys = ['minLength', 'maxLength'] as const;

function numbers<K extends string>(
  schema: JsonSchema,
  keys: readonly K[],
): { readonly [key in K]?: number } {
  const given = keys.filter((key) => typeof schema[key] === 'number');
  return Object.fromEntries(given.map((key) => [key, schema[key]])) as { [key in K]?: number };
}

function textOf(schema: JsonSchema, common: Common): TextField {
  const { format, pattern, examples, maxLength, contentMediaType, writeOnly } = schema;
  const known = writeOnly === true ? 'password' : formats.find((one) => one === format);
  const long = typeof maxLength === 'number' ? maxLength > 200 : contentMediaType !== undefined;
  const shown = Array.isArray(examples) ? (examples as readonly unknown[]) : [];
  return {
    ...common,
    kind: 'text',
    long,
    examples: shown.filter((one): one is string => typeof one === 'string'),
    ...(known === undefined ? {} : { format: known }),
    ...(typeof pattern === 'string' ? { pattern } : {}),
    ...numbers(schema, lengthKeys),
  };
}

function groupOf(schema: JsonSchema, common: Common, about: About): Field {
  const { properties, required } = schema;
  const keys = Object.entries(record(properties));
  if (keys.length === 0) return { ...common, kind: 'json', why: 'its keys' };
  const needed = Array.isArray(required) ? (required as readonly unknown[]) : [];
  const fields = keys
    .filter(([, inner]) => inner !== false)
    .map(([name, inner]): [string, Field] => {
      const below = { ...about, name, required: needed.includes(name), depth: about.depth + 1 };
      return [name, field(inner, below)];
    });
  return { ...common, kind: 'group', fields: Object.fromEntries(fields) };
}

function listOf(schema: JsonSchema, common: Common, about: About): Field {
  const { items, prefixItems, uniqueItems, minItems = 0, maxItems = Infinity } = schema;
  if (prefixItems !== undefined || !isRecord(items))
    return { ...common, kind: 'json', why: 'its items' };
  const item = field(items, { ...about, name: 'item', required: true, depth: about.depth + 1 });
  const limits = { minItems: Number(minItems), maxItems: Number(maxItems) };
  if (item.kind === 'choice' && uniqueItems === true) {
    return { ...common, kind: 'several', choices: item.choices, ...limits };
  }
  return { ...common, kind: 'list', item, unique: uniqueItems === true, ...limits };
}
