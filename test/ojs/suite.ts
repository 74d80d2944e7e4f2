import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** The cases of a checkout of the public conformance suite: one JSON file each, in `suites/level-*`. */

const assertionsSchema = z.looseObject({
  status: z.unknown().optional(),
  status_in: z.array(z.number()).optional(),
  body: z.record(z.string(), z.unknown()).optional(),
  body_absent: z.array(z.string()).optional(),
  body_contains: z.array(z.string()).optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
  timing_ms: z
    .looseObject({
      less_than: z.number().optional(),
      greater_than: z.number().optional(),
      approximate: z.number().optional(),
    })
    .optional(),
});
export type Assertions = z.infer<typeof assertionsSchema>;

const stepSchema = z.looseObject({
  id: z.string(),
  action: z.string(),
  path: z.string().default(''),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  delay_ms: z.number().default(0),
  duration_ms: z.number().default(0),
  parallel_with: z.string().optional(),
  assertions: assertionsSchema.optional(),
});
export type CaseStep = z.infer<typeof stepSchema>;

const stepsSchema = z.looseObject({ steps: z.array(stepSchema).default([]) });
const caseSchema = z.looseObject({
  test_id: z.string(),
  level: z.coerce.number(),
  category: z.string().default(''),
  name: z.string(),
  setup: stepsSchema.nullish(),
  steps: z.array(stepSchema),
  teardown: stepsSchema.nullish(),
});
export type SuiteCase = z.infer<typeof caseSchema>;

/** Reads all cases of the levels, by id. @throws Error that says what is wrong with the folder or a file */
export async function readSuite(path: string): Promise<readonly SuiteCase[]> {
  const folders = [join(path, 'suites'), path];
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => []);
    const levels = names.filter((name) => /^level-\d/.test(name));
    if (levels.length === 0) continue;
    const files = (await Promise.all(levels.map((name) => jsonIn(join(folder, name))))).flat();
    const cases = await Promise.all(files.map(readCase));
    return cases.toSorted((a, b) => (a.test_id < b.test_id ? -1 : 1));
  }
  throw new Error(
    `${path} is no checkout of the conformance suite: it has no folder suites/level-0….`,
  );
}

async function jsonIn(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await stat(path)).isDirectory()) files.push(...(await jsonIn(path)));
    else if (name.endsWith('.json')) files.push(path);
  }
  return files;
}

async function readCase(file: string): Promise<SuiteCase> {
  const parsed = caseSchema.safeParse(JSON.parse(await readFile(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
