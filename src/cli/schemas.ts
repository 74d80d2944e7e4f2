import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { flowSchema, newJobSchema } from '../reading/documents.js';
import { hookEngineKeys, hookSchema } from '../model/hook.js';
import { notifyListSchema } from '../model/notify-list.js';
import { scheduleProgressKeys, scheduleSchema } from '../model/schedule.js';
import { taskSchema } from '../model/task.js';
import { schemaNames } from '../structures/schema.js';
import { settingsFileSchema } from '../config/file.js';
import { testFileSchema } from '../testing/cases.js';

/** The JSON Schemas of what people write, by file name: what editors check files with. */
export function jsonSchemas(): Readonly<Record<string, string>> {
  const files = {
    ...{ task: taskSchema, flow: flowSchema, schedule: scheduleSchema, hook: hookSchema },
    notify: notifyListSchema,
    job: newJobSchema,
    tws: settingsFileSchema,
    test: testFileSchema,
  };
  return Object.fromEntries(
    Object.entries(files).map(([name, schema]) => [
      `${name}.json`,
      `${JSON.stringify(withoutProgress(toSchema(schema)), null, 2)}\n`,
    ]),
  );
}

/** What engines write into a schedule or a hook has no place in a file. */
function withoutProgress(schema: WrittenSchema): WrittenSchema {
  const left: readonly string[] = [...scheduleProgressKeys, ...hookEngineKeys];
  const properties = Object.entries(schema.properties ?? {}).filter(([key]) => !left.includes(key));
  return schema.properties === undefined
    ? schema
    : { ...schema, properties: Object.fromEntries(properties) };
}

type WrittenSchema = { readonly properties?: Readonly<Record<string, unknown>> };

/** Nodes stand in a schema once, under their names. */
const registry = {
  get: (schema: z.core.$ZodType): object | undefined => {
    const known = z.globalRegistry.get(schema);
    const id = schemaNames.get(schema);
    return id === undefined ? known : { ...known, id };
  },
} as unknown as typeof z.globalRegistry;

/** A document in a file may name its schema, too. */
function toSchema(schema: z.ZodType): WrittenSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    metadata: registry,
  });
}

/** Writes them into a folder. */
export async function writeSchemas(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    Object.entries(jsonSchemas()).map(([name, text]) => writeFile(join(folder, name), text)),
  );
}
