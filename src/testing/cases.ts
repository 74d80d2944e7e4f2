import { z } from 'zod';
import { encryptedText, isEncrypted } from '../model/encrypted.js';
import type { CodePolicy } from '../plugin/code-policy.js';
import { readNamedSecret } from '../model/named-secret.js';
import { isObject } from '../model/object.js';
import { durationSchema, nameSchema, timeSchema, versionSchema } from '../model/scalars.js';
import { statuses } from '../model/status.js';
import { createTestEngine, type TestDocument, type TestEngine } from './test-engine.js';
import { jobDifferences } from './expectations.js';
import { lacksSensitive, type TestValues } from './sensitive.js';

const anything = z.unknown();
const byName = z.record(z.string(), anything);

const mockSchema = z
  .strictObject({
    result: z.exactOptional(anything.describe('It succeeds with this result.')),
    fails: z.exactOptional(
      z
        .strictObject({
          name: z.exactOptional(z.string()),
          message: z.exactOptional(z.string()),
          code: z.exactOptional(z.union([z.string(), z.number()])),
          retryable: z.exactOptional(z.boolean()),
        })
        .describe('It fails with this failure.'),
    ),
    waits: z.exactOptional(nameSchema.describe('It waits for this signal.')),
    takes: z.exactOptional(durationSchema.describe('How long it takes.')),
  })
  .describe('The outcome of an attempt.');

const mocksSchema = z
  .record(z.string(), z.union([mockSchema, z.array(mockSchema).min(1)]))
  .describe(
    'What stands in for tasks, by the path (0.map.7) or name of a step, or the name of a task: for all attempts, or for one after the other.',
  );

const after = z.exactOptional(durationSchema.describe('How long after the submit; default 0.'));

const expectedSchema = z
  .strictObject({
    path: z.exactOptional(
      z.array(z.string()).describe('The names of the steps that ran, in their order.'),
    ),
    status: z.exactOptional(z.enum(statuses)),
    exit: z.exactOptional(z.int()),
    result: z.exactOptional(anything),
    results: z.exactOptional(byName.describe('Results of steps by name.')),
    failure: z.exactOptional(byName.describe('Fields that the failure must have.')),
    version: z.exactOptional(versionSchema.describe('The version of the flow by which it ended.')),
    attempts: z.exactOptional(
      z.record(z.string(), z.int()).describe('How many attempts a step took.'),
    ),
    took: z.exactOptional(
      z.strictObject({
        from: z.exactOptional(durationSchema),
        to: z.exactOptional(durationSchema),
      }),
    ),
  })
  .describe('What is expected of the job when it has ended; what is left out may be anything.');

const caseFields = {
  params: z.exactOptional(byName.describe('Parameters of the job.')),
  version: z.exactOptional(
    versionSchema.describe(
      'The version of the flow that the job asks for; default: the current one.',
    ),
  ),
  job: z.exactOptional(byName.describe('More fields of the job.')),
  mocks: z.exactOptional(mocksSchema),
  real: z.exactOptional(
    z.array(z.string()).describe('Plugins that run although nothing stands in for them.'),
  ),
  signals: z.exactOptional(
    z.array(z.strictObject({ name: nameSchema, data: z.exactOptional(anything), after })),
  ),
  requests: z.exactOptional(
    z.array(
      z.looseObject({
        action: z.enum(['cancel', 'pause', 'resume', 'skip', 'retry', 'migrate']),
        after,
      }),
    ),
  ),
  deaths: z.exactOptional(
    z
      .array(durationSchema)
      .describe('When the engine dies, and another one starts: after the submit.'),
  ),
  sensitive: z.exactOptional(
    z
      .record(z.string(), z.string())
      .describe('Sensitive values of the subject of the job, by name.'),
  ),
  from: z.exactOptional(timeSchema.describe('When the job is submitted.')),
};

const oneCaseSchema = z.strictObject({
  name: z.string().describe('What the case shows, as a sentence.'),
  ...caseFields,
  expect: z.exactOptional(expectedSchema),
});

/** A file of test cases: keys beside `cases` apply to each of them. */
export const testFileSchema = z
  .strictObject({
    $schema: z.exactOptional(z.string()),
    name: z.exactOptional(z.string()),
    flow: nameSchema.describe('The flow that is tested.'),
    owner: z.exactOptional(nameSchema),
    ...caseFields,
    expect: z.exactOptional(expectedSchema),
    cases: z.exactOptional(z.array(oneCaseSchema).min(1)),
  })
  .describe('Test cases of a flow: tws test.');

export type TestFile = z.infer<typeof testFileSchema>;

/** One case, with what holds for all of its file. */
export type TestCase = Omit<TestFile, '$schema' | 'cases' | 'name'> & { readonly name: string };

/** The cases of a file; a mock or a parameter of a case comes before that of the file. */
export function casesOf({
  cases,
  name,
  $schema: _schema,
  ...shared
}: TestFile): readonly TestCase[] {
  if (cases === undefined) return [{ ...shared, name: name ?? shared.flow }];
  return cases.map((one) => ({
    ...shared,
    ...one,
    params: { ...shared.params, ...one.params },
    mocks: { ...shared.mocks, ...one.mocks },
    ...(shared.sensitive === undefined && one.sensitive === undefined
      ? {}
      : { sensitive: { ...shared.sensitive, ...one.sensitive } }),
    expect: { ...shared.expect, ...one.expect },
  }));
}

export type CaseSettings = {
  /** Tasks and flows of the project. */
  readonly documents: readonly TestDocument[];
  /** Folders of plugins. */
  readonly folders: readonly string[];
  readonly cwd: string;
  readonly cryptoKey?: string | undefined;
  /** What documents may have run of code. */
  readonly code?: CodePolicy | undefined;
};

/** The outcome of a case; `problems` is empty when it is as expected. */
export type CaseResult = {
  readonly name: string;
  readonly problems: readonly string[];
  /** Mocks that nothing asked for. */
  readonly unused: readonly string[];
  /** How long the job took by its own clock, ms. */
  readonly tookMs: number;
};

/** Plugins that only work on what they are given: they need no mock. */
const harmless: ReadonlySet<string> = new Set([
  'noop',
  'fail',
  'set',
  'templater',
  'jsonata',
  'script',
]);

/** Runs one case on an engine of its own. */
export async function runTestCase(test: TestCase, settings: CaseSettings): Promise<CaseResult> {
  const { mocks = {}, real = [], from, name, sensitive } = test;
  const { documents, cryptoKey, ...rest } = settings;
  const engine = await createTestEngine({
    ...rest,
    cryptoKey,
    documents: documents.map((doc) => withoutSecrets(doc, cryptoKey !== undefined, sensitive)),
    sensitive,
    tasks: mocks,
    mayRun: (plugin) => harmless.has(plugin) || real.includes(plugin),
    ...(from === undefined ? {} : { from }),
  });
  try {
    const id = await submitted(engine, test);
    const job = await engine.ended(id);
    const called = new Set(engine.calls().flatMap(({ path, step, task }) => [path, step, task]));
    return {
      name,
      problems: jobDifferences(job, test.expect ?? {}),
      unused: Object.keys(mocks).filter((one) => !called.has(one)),
      tookMs: Number(job['end']) - Number(job['start']),
    };
  } catch (error) {
    const { message } = error as Error;
    return { name, problems: [message], unused: [], tookMs: 0 };
  } finally {
    await engine.close();
  }
}

/** Submits the job, then sends its signals and requests and kills engines at their times. Returns the id. */
async function submitted(engine: TestEngine, test: TestCase): Promise<string> {
  const {
    flow,
    owner = 'DEFAULT',
    version,
    params,
    job = {},
    signals = [],
    requests = [],
    deaths = [],
  } = test;
  const id = await engine.submit({
    ...job,
    flow,
    owner,
    ...(version === undefined ? {} : { flow_version: version }),
    ...(params === undefined ? {} : { params }),
  });
  const acts = [
    ...signals.map(({ after: at = 0, name, data }) => ({
      at,
      act: () => engine.signal(id, name, data),
    })),
    ...requests.map(({ after: at = 0, action, ...more }) => ({
      ...{ at, act: () => engine.request(id, action, more) },
    })),
    ...deaths.map((at) => ({ at, act: () => dies(engine) })),
  ].toSorted((a, b) => a.at - b.at);
  let now = 0;
  for (const { at, act } of acts) {
    if (at > now) await engine.pass(at - now);
    now = Math.max(now, at);
    await act();
  }
  return id;
}

async function dies(engine: TestEngine): Promise<void> {
  await engine.kill();
  await engine.start();
}

/**
 * Without a key nothing can be decrypted: a text stands in its place, which a mock may get to see. So it does where the
 * case gives no sensitive value.
 */
function withoutSecrets(doc: TestDocument, hasKey: boolean, values: TestValues = {}): TestDocument {
  const replaced = (value: unknown): unknown => {
    if (lacksSensitive(value, values)) return '[secret]';
    if (!hasKey && isEncrypted(value)) {
      return encryptedText(value) === undefined ? value : '[secret]';
    }
    if (!hasKey && readNamedSecret(value) !== undefined) return '[secret]';
    if (Array.isArray(value)) return value.map(replaced);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one)]));
  };
  return replaced(doc) as TestDocument;
}
