import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import type { StoredDocument } from '../model/document.js';
import { asVersion } from '../model/flow-versions.js';
import type { LiveJob } from '../model/job.js';
import { isObject } from '../model/object.js';
import type { Status } from '../model/status.js';
import { allResults } from '../reading/results.js';
import { statusOf } from '../reading/status.js';

/** A job as tests read it. */
export type TestedJob = StoredDocument & {
  readonly state?: string;
  readonly exit?: number;
  readonly result?: unknown;
  readonly failure?: { readonly name: string; readonly message: string };
  readonly steps?: readonly TestedStep[];
};

export type TestedStep = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly path: string;
  readonly state: string;
  readonly attempt: number;
};

/** What is expected of a job that has ended; what is left out may be anything. */
export type ExpectedJob = {
  /** The names of the steps that ran, in the order in which they began; attempts of one step count once. */
  readonly path?: readonly string[] | undefined;
  readonly status?: Status | undefined;
  readonly exit?: number | undefined;
  readonly result?: unknown;
  /** Results of steps by name, of those that are named. */
  readonly results?: Readonly<Record<string, unknown>> | undefined;
  /** Fields that the failure must have. */
  readonly failure?: Readonly<Record<string, unknown>> | undefined;
  /** How many attempts a step took, of those that are named. */
  readonly attempts?: Readonly<Record<string, number>> | undefined;
  /** The version of the flow by which it ended. */
  readonly version?: string | undefined;
  /** How long it took at the least and at the most, ms. */
  readonly took?:
    { readonly from?: number | undefined; readonly to?: number | undefined } | undefined;
};

/** @throws AssertionError that tells every difference */
export function assertJob(job: TestedJob, expected: ExpectedJob): void {
  const differences = jobDifferences(job, expected);
  if (differences.length === 0) return;
  throw new AssertionError({
    message: `Job "${job._id}" is not as expected:\n${differences.map((one) => `  ${one}`).join('\n')}`,
    actual: factsOf(job),
    expected,
    operator: 'expectedJob',
  });
}

/** What differs, a line each; a fact that has no difference has no line. */
export function jobDifferences(job: TestedJob, expected: ExpectedJob): readonly string[] {
  const found = differingFacts(job, expected);
  const { failure } = job;
  if (found.length === 0 || failure === undefined || expected.failure !== undefined) return found;
  return [...found, `The job failed with ${failure.name}: ${failure.message}`];
}

function differingFacts(job: TestedJob, expected: ExpectedJob): readonly string[] {
  const { path, status, exit, version, results, attempts } = factsOf(job);
  const { failure, took } = expected;
  return [
    ...(expected.path === undefined ? [] : pathDifference(expected.path, path)),
    ...whole('status', expected.status, status),
    ...whole('exit', expected.exit, exit),
    ...whole('version', expected.version, version),
    ...('result' in expected ? differ('result', expected.result, job.result) : []),
    ...(failure === undefined ? [] : within('failure', failure, job.failure)),
    ...(expected.results === undefined ? [] : within('results', expected.results, results)),
    ...(expected.attempts === undefined ? [] : within('attempts', expected.attempts, attempts)),
    ...(took === undefined ? [] : timeDifference(took, job)),
  ];
}

function factsOf(job: TestedJob) {
  const ran = (job.steps ?? []).filter(({ state }) => state !== '$$skipped');
  const first = ran.filter(({ path }, at) => ran.findIndex((one) => one.path === path) === at);
  const attempts: Record<string, number> = {};
  const results: Record<string, unknown> = {};
  for (const step of ran) {
    attempts[step.name] = (attempts[step.name] ?? 0) + 1;
    if ('result' in step) results[step.name] = step['result'];
  }
  Object.assign(results, ofStructures(job, ran));
  return {
    path: first.map(({ name }) => name),
    status: statusOf(job, Number(job['end'] ?? 0)),
    exit: job.exit,
    version: asVersion(job['flow_version']),
    ...{ result: job.result, failure: job.failure, results, attempts },
  };
}

/** The results of structures with a name, as later steps see them: the list of a map, not how it was found. */
function ofStructures(
  job: TestedJob,
  steps: readonly TestedStep[],
): Readonly<Record<string, unknown>> {
  const names = steps.filter((step) => step['structure'] !== undefined).map(({ name }) => name);
  if (names.length === 0) return {};
  const { results } = allResults(job as unknown as LiveJob, new Map());
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(results, name)).map((name) => [name, results[name]]),
  );
}

function whole(what: string, expected: unknown, actual: unknown): readonly string[] {
  return expected === undefined ? [] : differ(what, expected, actual);
}

const arrow = (names: readonly string[]): string =>
  names.length === 0 ? 'no step' : names.join(' → ');

function pathDifference(expected: readonly string[], actual: readonly string[]): readonly string[] {
  if (isDeepStrictEqual(expected, actual)) return [];
  const length = Math.max(expected.length, actual.length);
  const at = Array.from({ length }, (_, i) => i).find((i) => expected[i] !== actual[i]) ?? 0;
  const [wanted, was] = [expected[at] ?? 'the end', actual[at] ?? 'the end'];
  return [
    `path: expected ${arrow(expected)}`,
    `      but ran  ${arrow(actual)}`,
    `      step ${at + 1}: expected ${wanted}, was ${was}`,
  ];
}

/** The differences of two values, by their paths. */
function differ(at: string, expected: unknown, actual: unknown): readonly string[] {
  if (isDeepStrictEqual(expected, actual)) return [];
  const isPair = isObject(expected) && isObject(actual);
  if (!isPair || Array.isArray(expected) || Array.isArray(actual)) {
    return [`${at}: expected ${shown(expected)}, was ${shown(actual)}`];
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...keys].flatMap((key) => differ(`${at}.${key}`, expected[key], actual[key]));
}

/** The same of the keys that are expected. */
function within(
  at: string,
  expected: Readonly<Record<string, unknown>>,
  actual: unknown,
): readonly string[] {
  const own = isObject(actual) ? actual : undefined;
  if (own === undefined) return differ(at, expected, actual);
  return Object.entries(expected).flatMap(([key, value]) =>
    differ(`${at}.${key}`, value, own[key]),
  );
}

function timeDifference(
  { from = 0, to = Infinity }: NonNullable<ExpectedJob['took']>,
  { start, end }: TestedJob,
): readonly string[] {
  const ms = Number(end) - Number(start);
  if (ms >= from && ms <= to) return [];
  const most = to === Infinity ? '' : ` and at most ${to} ms`;
  return [`took: expected at least ${from} ms${most}, was ${ms} ms`];
}

const mostShown = 300;

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text;
}
