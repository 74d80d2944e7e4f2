import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord, valueAt } from './json-path.js';
import { isStatus, mismatch } from './matchers.js';
import type { Assertions, CaseStep, SuiteCase } from './suite.js';

const mediaType = 'application/openjobspec+json';
/** So long one request may take, ms. */
const patienceMs = 30_000;

/** What a step was answered. */
type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
  readonly tookMs: number;
};
type Answers = Map<string, Answer>;

/** Runs one case against a server. Answers what is not as wanted: nothing means that it passes. */
export async function runCase(one: SuiteCase, url: string): Promise<readonly string[]> {
  const answers: Answers = new Map();
  for (const step of one.setup?.steps ?? []) {
    const [wrong] = await runStep(step, url, answers);
    if (wrong !== undefined) return [`setup ${wrong}`];
  }
  const wrongs: string[] = [];
  for (const group of groupsOf(one.steps)) {
    wrongs.push(...(await Promise.all(group.map((step) => runStep(step, url, answers)))).flat());
  }
  for (const step of one.teardown?.steps ?? []) await runStep(step, url, answers);
  return wrongs;
}

/** The steps one after the other, those of `parallel_with` together. */
function groupsOf(steps: readonly CaseStep[]): readonly (readonly CaseStep[])[] {
  const groups: CaseStep[][] = [];
  for (const step of steps) {
    const partner = groups.find((group) => group.some(({ id }) => id === step.parallel_with));
    const later = steps.some((other) => other.parallel_with === step.id);
    const before = later ? undefined : partner;
    if (before === undefined) groups.push([step]);
    else before.push(step);
  }
  return groups;
}

async function runStep(step: CaseStep, url: string, answers: Answers): Promise<readonly string[]> {
  const { id, action, assertions } = step;
  if (step.delay_ms > 0) await sleep(step.delay_ms);
  switch (action.toUpperCase()) {
    case 'WAIT':
      await sleep(step.duration_ms);
      return [];
    // What it asks for is not evaluated by the runner of the suite either: our own tests do.
    case 'ASSERT':
      return [];
  }
  const answer = await asked(step, url, answers);
  if (typeof answer === 'string') return [`${id}: ${answer}`];
  answers.set(id, answer);
  if (assertions === undefined) return [];
  return wrongsOf(answer, filled(assertions, answers)).map((wrong) => `${id}: ${wrong}`);
}

async function asked(step: CaseStep, url: string, answers: Answers): Promise<Answer | string> {
  const { action, headers = {}, body } = step;
  const content = body === undefined ? undefined : filledText(JSON.stringify(body), answers);
  const path = filledText(step.path, answers);
  const began = performance.now();
  try {
    const reply = await fetch(`${url}${path}`, {
      method: action,
      headers: withType(headers, content),
      ...(content === undefined ? {} : { body: content }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await reply.text();
    const tookMs = performance.now() - began;
    return { status: reply.status, headers: reply.headers, text, body: parsed(text), tookMs };
  } catch (error) {
    return `${action} ${path}: ${String(error)}`;
  }
}

function withType(given: Readonly<Record<string, string>>, content: string | undefined): Headers {
  const headers = new Headers(given);
  if (content !== undefined && !headers.has('content-type')) headers.set('content-type', mediaType);
  return headers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function wrongsOf(answer: Answer, wanted: Assertions): readonly string[] {
  return [
    ...statusWrongs(answer, wanted),
    ...bodyWrongs(answer, wanted),
    ...headerWrongs(answer, wanted),
    ...timeWrongs(answer, wanted),
  ];
}

function statusWrongs({ status, text }: Answer, wanted: Assertions): readonly string[] {
  const { status: one, status_in: some } = wanted;
  const isRight = (one === undefined || isStatus(one, status)) && (some?.includes(status) ?? true);
  const said = JSON.stringify(one ?? some);
  return isRight ? [] : [`status: expected ${said}, got ${status} ${text.slice(0, 300)}`];
}

function bodyWrongs({ body, text }: Answer, wanted: Assertions): readonly string[] {
  const { body: all = {}, body_absent: absent = [], body_contains: parts = [] } = wanted;
  const { $or: either, ...paths } = all;
  const wrongs = Object.entries(paths).flatMap(([path, one]) =>
    path.startsWith('$') && !path.startsWith('$.') ? [] : (wrongAt(path, one, body) ?? []),
  );
  const fits = (one: unknown): boolean =>
    isRecord(one) && Object.entries(one).every(([path, each]) => !wrongAt(path, each, body));
  return [
    ...wrongs,
    ...(Array.isArray(either) && !either.some(fits) ? ['no alternative of $or fits'] : []),
    ...absent.filter((path) => !isAbsent(path, body)).map((path) => `${path} must be absent`),
    ...parts.filter((part) => !text.includes(part)).map((part) => `the body lacks "${part}"`),
  ];
}

function wrongAt(path: string, wanted: unknown, body: unknown): string | undefined {
  const found = valueAt(path, body);
  if (!found.ok) return wanted === 'absent' ? undefined : `${path}: ${found.reason}`;
  const wrong = mismatch(wanted, found.value);
  return wrong === undefined ? undefined : `${path}: ${wrong}`;
}

function isAbsent(path: string, body: unknown): boolean {
  const found = valueAt(path, body);
  return !found.ok || found.value == null;
}

function headerWrongs({ headers }: Answer, wanted: Assertions): readonly string[] {
  return Object.entries(wanted.headers ?? {}).flatMap(([name, said]) => {
    const value = headers.get(name) ?? '';
    const pattern = isRecord(said) ? said['$match'] : undefined;
    const exact = isRecord(said) ? said['$eq'] : said;
    const isRight =
      pattern === undefined
        ? value === exact
        : typeof pattern === 'string' && new RegExp(pattern).test(value);
    return isRight ? [] : [`header ${name}: expected ${JSON.stringify(said)}, got "${value}"`];
  });
}

function timeWrongs({ tookMs }: Answer, { timing_ms: wanted = {} }: Assertions): readonly string[] {
  const { less_than: less = Infinity, greater_than: more = -Infinity, approximate } = wanted;
  const about = approximate ?? tookMs;
  const isNear = Math.abs(tookMs - about) <= Math.max(about / 2, 100);
  return tookMs < less && tookMs > more && isNear ? [] : [`it took ${Math.round(tookMs)} ms`];
}

const reference = /\{\{steps\.([^.}]+)\.response\.body\.([^}]+)\}\}/g;

/** Puts in what earlier steps were answered. */
function filledText(text: string, answers: Answers): string {
  return text.replace(reference, (whole, id: string, path: string) => {
    const found = valueAt(path, answers.get(id)?.body);
    if (!found.ok || found.value == null) return whole;
    return typeof found.value === 'string' ? found.value : JSON.stringify(found.value);
  });
}

function filled(assertions: Assertions, answers: Answers): Assertions {
  const text = JSON.stringify(assertions);
  return text.includes('{{steps.')
    ? (JSON.parse(filledText(text, answers)) as Assertions)
    : assertions;
}
