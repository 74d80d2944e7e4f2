import { findNodeAtLocation, getLocation, parseTree, getNodeValue, type Node } from 'jsonc-parser';
import { formsIn, isNever, isRecord, record, schemasAt, typesOf } from './schema-at.js';
import type { JsonSchema } from '../../model/scalars.js';

/** Names that are known, by what the schema calls them (`x-names`): `task`, `flow`, `plugin`. */
export type NamesByKind = Readonly<Record<string, readonly string[]>>;

/** One thing that may stand at a place. */
export type Option = {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'name' | 'structure';
  /** A few words: the type, or what it is a name of. */
  readonly detail?: string;
  readonly info?: string;
  /** What is written, with `caret` characters of it before the caret. */
  readonly insert: string;
  readonly caret: number;
};

export type Completion = {
  /** What is replaced. */
  readonly from: number;
  readonly to: number;
  readonly options: readonly Option[];
};

type Place = {
  readonly root: JsonSchema;
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly schemas: readonly JsonSchema[];
};

/** What may stand at a place in a text that is a JSON document of a schema; undefined: nothing is known. */
export function completionAt(
  text: string,
  offset: number,
  { schema, names }: { readonly schema: JsonSchema; readonly names: NamesByKind },
): Completion | undefined {
  const { path, previousNode, isAtPropertyKey } = getLocation(text, offset);
  const tree = parseTree(text);
  const { from, to } = replaced(text, offset, previousNode);
  if (!isPlace(text, from, isAtPropertyKey)) return undefined;
  const above = path.slice(0, -1);
  const value = tree === undefined ? undefined : (getNodeValue(tree) as unknown);
  if (isAtPropertyKey) {
    const schemas = schemasAt(schema, above, value);
    const node = tree === undefined ? undefined : findNodeAtLocation(tree, above);
    const present = keysOf(node)
      .filter((key) => key.offset !== from)
      .map((key) => String(key.value));
    const place = { root: schema, text, from, to, schemas };
    return answer(place, keyOptions(place, new Set(present)));
  }
  const schemas = schemasAt(schema, path, without(value, path));
  const place = { root: schema, text, from, to, schemas };
  return answer(place, valueOptions(place, names));
}

function answer({ from, to }: Place, options: readonly Option[]): Completion | undefined {
  if (options.length === 0) return undefined;
  const first = new Map<string, Option>();
  for (const option of options) {
    const known = first.get(option.label);
    if (known?.info === undefined) first.set(option.label, { ...known, ...option });
  }
  return { from, to, options: [...first.values()] };
}

/** The text, number or word that is being written, or nothing at the place itself. */
function replaced(text: string, offset: number, node: Node | undefined) {
  if (node !== undefined && node.children === undefined) {
    const end = node.offset + node.length;
    if (offset > node.offset && offset <= end) return { from: node.offset, to: end };
  }
  const word = /"?[\w$.-]*$/.exec(text.slice(0, offset))?.[0] ?? '';
  const closing = word.startsWith('"') && text[offset] === '"' ? 1 : 0;
  return { from: offset - word.length, to: offset + closing };
}

/**
 * A key stands behind a brace or comma; a value at the beginning, behind a colon, and in a list behind a
 * bracket or comma.
 */
function isPlace(text: string, from: number, isKey: boolean): boolean {
  const before = text.slice(0, from).trimEnd();
  return isKey ? /[{,]$/.test(before) : before === '' || /[:[,]$/.test(before);
}

/** What is being written says nothing yet about what is meant. */
function without(value: unknown, path: readonly (string | number)[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== 'object' || value === null) return undefined;
  const inner: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  if (Array.isArray(value))
    return value.map((item, i) => (i === key ? without(inner, rest) : item) as unknown);
  return { ...value, [key]: without(inner, rest) };
}

function keysOf(node: Node | undefined): readonly Node[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).flatMap((property) => property.children?.[0] ?? []);
}

function keyOptions(place: Place, present: ReadonlySet<string>): readonly Option[] {
  const { root, text, to } = place;
  // What is whole already says what it is; the others are what it might have been.
  const whole = place.schemas.filter((schema) =>
    requiredOf(schema).every((key) => present.has(key)),
  );
  const schemas = whole.length > 0 ? whole : place.schemas;
  const after = text.slice(to).trimStart();
  const hasValue = after.startsWith(':');
  const comma = /^["\w]/.test(after) ? ',' : '';
  const needed = new Set(schemas.flatMap(requiredOf));
  const always = (key: string): boolean => schemas.every((one) => requiredOf(one).includes(key));
  const keys = new Set(schemas.flatMap(({ properties }) => Object.keys(record(properties))));
  const options = [...keys].flatMap((key): readonly Option[] => {
    const inner = schemas.map(({ properties }) => record(properties)[key]).filter(isRecord);
    const forms = inner.flatMap((one) => formsIn(root, one));
    if (present.has(key) || inner.every(isNever)) return [];
    const value = hasValue ? nothing : emptyValue(forms);
    const head = `${JSON.stringify(key)}${hasValue ? '' : ': '}`;
    const info = descriptionOf([...inner, ...forms]);
    return [
      {
        label: key,
        kind: 'key',
        detail: `${typeText(forms)}${always(key) ? ', required' : ''}`,
        ...(info === undefined ? {} : { info }),
        insert: `${head}${value.insert}${hasValue ? '' : comma}`,
        caret: head.length + value.caret,
      },
    ];
  });
  const isNeeded = ({ label }: Option): boolean => needed.has(label);
  return [...options.filter(isNeeded), ...options.filter((option) => !isNeeded(option))];
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return isList(required) ? required.map(String) : [];
}

const nothing = { insert: '', caret: 0 };

/** What a value begins with, by the one type that it may have. */
function emptyValue(schemas: readonly JsonSchema[]): {
  readonly insert: string;
  readonly caret: number;
} {
  const fixed = schemas[0]?.['const'];
  if (fixed !== undefined && schemas.every((schema) => schema['const'] === fixed)) {
    const insert = JSON.stringify(fixed);
    return { insert, caret: insert.length };
  }
  const types = new Set(schemas.flatMap(typesOf));
  const [only, ...others] = [...types];
  if (others.length > 0) return nothing;
  if (only === 'string') return { insert: '""', caret: 1 };
  if (only === 'object') return { insert: '{}', caret: 1 };
  if (only === 'array') return { insert: '[]', caret: 1 };
  return nothing;
}

function typeText(schemas: readonly JsonSchema[]): string {
  const types = [...new Set(schemas.flatMap(typesOf))];
  return types.length > 3 ? 'any' : types.map((type) => words[type] ?? type).join(' or ');
}

const words: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'list',
  boolean: 'true or false',
};

function descriptionOf(schemas: readonly JsonSchema[]): string | undefined {
  const found = schemas
    .map(({ description }) => description)
    .find((one) => typeof one === 'string');
  return typeof found === 'string' ? found : undefined;
}

function valueOptions({ root, schemas }: Place, names: NamesByKind): readonly Option[] {
  return schemas.flatMap((schema) => {
    const info = descriptionOf([schema]);
    const about = info === undefined ? {} : { info };
    const { enum: among, const: fixed, default: usual, 'x-names': of } = schema;
    const values = [
      ...(fixed === undefined ? [] : [fixed]),
      ...(isList(among) ? among : []),
      ...(usual === undefined ? [] : [usual]),
      ...(among === undefined && fixed === undefined && isOnly(schema, 'boolean')
        ? [true, false]
        : []),
    ];
    const known = typeof of === 'string' ? (names[of] ?? []) : [];
    return [
      ...values.map((value): Option => ({ ...written(value, 'value'), ...about })),
      ...known.map((name): Option => ({ ...written(name, 'name'), detail: String(of), ...about })),
      ...structureOptions(root, schema),
    ];
  });
}

function isOnly(schema: JsonSchema, type: string): boolean {
  const types = typesOf(schema);
  return types.length === 1 && types[0] === type;
}

function written(value: unknown, kind: Option['kind']): Option {
  const insert = JSON.stringify(value);
  const label = typeof value === 'string' ? value : insert;
  return { label, kind, insert, caret: insert.length };
}

/** An object that begins with the one key that makes it what it is: `{"parallel": []}`. */
function structureOptions(root: JsonSchema, schema: JsonSchema): readonly Option[] {
  const { required, properties } = schema;
  if (!isOnly(schema, 'object') || !isList(required) || required.length !== 1) return [];
  const key = String(required[0]);
  const own = formsIn(root, record(properties)[key]);
  const { insert, caret } = emptyValue(own);
  const head = `{ ${JSON.stringify(key)}: `;
  const info = descriptionOf(own);
  return [
    {
      label: `{ ${key} }`,
      kind: 'structure',
      ...(info === undefined ? {} : { info }),
      insert: `${head}${insert} }`,
      caret: head.length + caret,
    },
  ];
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
