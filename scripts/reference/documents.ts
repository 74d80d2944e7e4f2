import { z } from 'zod';
import { jsonSchemas } from '../../src/cli/schemas.js';
import { engineControlSchema } from '../../src/model/engine-control.js';
import { notifyListSchema } from '../../src/model/notify-list.js';
import { rateDocumentSchema } from '../../src/model/rate.js';
import { workerSchema } from '../../src/model/worker.js';
import { queueControlSchema } from '../../src/model/queue-control.js';
import { cachedResultSchema } from '../../src/model/cached-result.js';
import { engineSchema } from '../../src/model/engine.js';
import { eventSchema } from '../../src/model/event.js';
import { hookSchema } from '../../src/model/hook.js';
import { lockSchema } from '../../src/model/lock.js';
import { requestSchema } from '../../src/model/request.js';
import { removalSchema } from '../../src/model/removal.js';
import { retentionSchema } from '../../src/model/retention.js';
import { secretSchema } from '../../src/model/named-secret.js';
import { scheduleSchema } from '../../src/model/schedule.js';
import { signalDocumentSchema } from '../../src/model/signal.js';
import { tokenSchema } from '../../src/model/token.js';
import { code, meaningsBelow, page, prose, rowsBelow, table } from './markdown.js';

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

/** What has a heading of its own in the glossary. */
const definitions: readonly (readonly [string, string, string])[] = [
  ['task', 'Task', '### Fields of a task'],
  ['flow', 'Flow', '### Fields of a flow'],
  ['job', 'Job', '### Fields of a job'],
];

/** Documents whose schemas say what their fields mean. */
const small: readonly (readonly [string, z.ZodType])[] = [
  ['Schedule', scheduleSchema],
  ['Hook', hookSchema],
  ['Request', requestSchema],
  ['Signal', signalDocumentSchema],
  ['Event', eventSchema],
  ['Engine control', engineControlSchema],
  ['Queue control', queueControlSchema],
  ['Notify list', notifyListSchema],
  ['Engine', engineSchema],
  ['Secret', secretSchema],
  ['Lock', lockSchema],
  ['Rate', rateDocumentSchema],
  ['Cached result', cachedResultSchema],
  ['Worker', workerSchema],
  ['Token', tokenSchema],
  ['Retention', retentionSchema],
  ['Removal', removalSchema],
];

/** Nested objects and the values of some fields, as the glossary lists them. */
const parts: readonly (readonly [string, string])[] = [
  ['Entry of a flow', '### Fields of an entry'],
  ['Retry policy', '### Fields of a retry policy'],
  ['`rate` of a task, a flow or a queue', '### Fields of `rate`'],
  ['`retain` of a flow', '### Fields of `retain`'],
  ['`on` of a flow', '### Fields of an entry of `on`'],
  ['Entry of `notify`', '### Fields of an entry of `notify`'],
  ['Entry of the error catalogue', '### Fields of an entry of the error catalogue'],
  ['Attempt, an entry of `steps` of a job', '### Fields of an attempt'],
  ['Slice, of a job for a part of a map', '### Fields of a slice'],
  ['`notifies` of a job', '### Fields of `notifies`'],
  ['`state` of a job', '### States of a job'],
  ['`state` of an attempt', '### States of an attempt'],
  ['`phase` of an attempt', '### Phases'],
];

/** The fields of all kinds of documents, from their JSON Schemas and the glossary. */
export function documentsPage(glossary: string): string {
  const schemas = jsonSchemas();
  const written = definitions.flatMap(([name, title, heading]) => {
    const schema = JSON.parse(schemas[`${name}.json`] ?? '{}') as Schema;
    const meanings = meaningsBelow(glossary, heading);
    const more = rowsBelow(glossary, heading).filter(
      ([field = '']) => schema.properties?.[field.replaceAll('`', '')] === undefined,
    );
    return [
      `## ${title}`,
      fields(schema, meanings),
      ...(more.length === 0 ? [] : ['Engines add:', table(['field', 'meaning'], more)]),
    ];
  });
  const others = small.flatMap(([title, schema]) => [
    `## ${title}`,
    prose(schema.description ?? ''),
    fields(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema, new Map()),
  ]);
  const nested = parts.flatMap(([title, heading]) => [
    `## ${title}`,
    table(
      ['name', 'meaning'],
      rowsBelow(glossary, heading).map((row) => row.slice(0, 2)),
    ),
  ]);
  return page(
    'Documents',
    'The fields of all documents in a database: people and programs write tasks, flows, schedules, hooks, jobs, requests, signals, events and engine controls; engines write engines, locks and the one of retention, and the API writes tokens. Required fields are marked. Times are epoch milliseconds or ISO 8601 with a zone, durations milliseconds. `couch/schemas` of each project has JSON Schemas of task, flow, schedule, hook, notify list, job and `tws.json`, whose fields are the [settings](settings.md). How to use them: [documents](../guides/documents.md), [structures](../guides/structures.md), [schedules](../guides/schedules.md) and [webhooks](../guides/hooks.md). The words are explained in the [glossary](../../src/model/README.md).',
    [...written, ...others, ...nested],
  );
}

function fields(schema: Schema, meanings: ReadonlyMap<string, string>): string {
  const rows = Object.entries(schema.properties ?? {})
    .filter(([name]) => !name.startsWith('$') && !name.startsWith('_'))
    .map(([name, one]) => [
      code(name) + (schema.required?.includes(name) === true ? ' (required)' : ''),
      typeOf(one),
      meanings.get(name) ?? prose(one.description ?? ''),
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
