import { jsonSchemas } from '../../src/cli/schemas.js';
import { code, page, prose, rowsBelow, table } from './markdown.js';

type Schema = {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

/** The documents that people write, and the headings of the glossary that say what their fields are. */
const documents: readonly (readonly [string, string, readonly string[]])[] = [
  ['task', 'Task', ['### Fields of a task']],
  ['flow', 'Flow', ['### Fields of a flow']],
  ['job', 'Job', ['### Fields of a job']],
];

/** The nested objects, as the glossary lists them. */
const parts: readonly (readonly [string, string])[] = [
  ['Entry of a flow', '### Fields of an entry'],
  ['Retry policy', '### Fields of a retry policy'],
  ['Entry of `notify`', '### Fields of an entry of `notify`'],
  ['Entry of the error catalogue', '### Fields of an entry of the error catalogue'],
];

/** The fields of all documents that people write, from their JSON Schemas and the glossary. */
export function documentsPage(glossary: string): string {
  const schemas = jsonSchemas();
  const sections = documents.flatMap(([name, title, headings]) => {
    const meanings = headings.flatMap((heading) => rowsBelow(glossary, heading));
    return [`## ${title}`, fields(JSON.parse(schemas[`${name}.json`] ?? '{}') as Schema, meanings)];
  });
  const nested = parts.flatMap(([title, heading]) => [
    `## ${title}`,
    table(['field', 'meaning'], rowsBelow(glossary, heading)),
  ]);
  return page(
    'Documents',
    'Fields that a person or program writes. Required ones are marked. Times are epoch milliseconds or ISO 8601 with a zone, durations milliseconds. The same as JSON Schemas is in `couch/schemas` of each project. How to use them: [documents](../guides/documents.md) and [structures](../guides/structures.md); what engines add to a job is in the [glossary](../../src/model/README.md).',
    [...sections, ...nested],
  );
}

function fields(schema: Schema, meanings: readonly (readonly string[])[]): string {
  const told = new Map(
    meanings.map(([name = '', about = '']) => [name.replaceAll('`', ''), about]),
  );
  const rows = Object.entries(schema.properties ?? {})
    .filter(([name]) => !name.startsWith('$') && !name.startsWith('_'))
    .map(([name, one]) => [
      code(name) + (schema.required?.includes(name) === true ? ' (required)' : ''),
      typeOf(one),
      told.get(name) ?? prose(one.description ?? ''),
    ]);
  return table(['field', 'type', 'meaning'], rows);
}

/** What a value may be, in few words. */
function typeOf(schema: Schema): string {
  const { type, anyOf, oneOf, enum: values, $ref } = schema;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (values !== undefined) return values.map((one) => code(JSON.stringify(one))).join(', ');
  const any = anyOf ?? oneOf;
  if (any !== undefined)
    return [...new Set(any.map(typeOf))].filter((one) => one !== '').join(' or ');
  if ($ref !== undefined) return 'structure';
  if (type === 'array') return 'list';
  return typeof type === 'string' ? type : '';
}
