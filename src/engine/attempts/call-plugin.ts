import { once } from 'node:events';
import type { Outcome } from '../../decide/finish/outcome.js';
import { contextOfAttempt, resultsFor } from '../../decide/start/prepare.js';
import { failureFor } from '../../decide/start/failure-for.js';
import { countsSince } from '../../reading/attempts.js';
import { earlierAttempts, lastDetails } from '../../decide/finish/report.js';
import { scopeOf, type Results } from '../../reading/results.js';
import { TwsError } from '../../errors.js';
import { failure } from '../../model/failures.js';
import { historyForDecision } from '../../reading/decider-history.js';
import type { LiveJob } from '../../model/job.js';
import { exits, type Failure, type LiveStep, type Step } from '../../model/step.js';
import { itemAround } from '../../structures/paths.js';
import { onOwnBehalf } from '../../plugin/attribution.js';
import type { CodePolicy } from '../../plugin/code-policy.js';
import type { EgressPolicy } from '../../plugin/egress.js';
import { createContext, type ContextInput } from '../../plugin/context.js';
import { pluginProblem } from '../../plugin/failures.js';
import type { LoadedPlugin } from '../../plugin/loader.js';
import type { AskSensitive } from '../../plugin/sensitive.js';
import { runPlugin, type RunOptions } from '../../plugin/run.js';
import type { ResultAttachments } from '../attachments/contents.js';
import type { Log } from '../log.js';
import { fillSensitive } from './fill-sensitive.js';
import { openLinks, type LinkMaker } from './open-links.js';
import type { OpenSecrets } from './open-secrets.js';
import type { ReadSensitive } from './open-sensitive.js';

/** What the engine gives to every attempt. */
export type CallOptions = {
  readonly log: Log;
  readonly cwd: string;
  readonly openSecrets: OpenSecrets;
  /** Answers what plugins ask for by `context.sensitive`; absent: nothing does. */
  readonly readSensitive?: ReadSensitive | undefined;
  readonly onSecret?: ((clear: string) => void) | undefined;
  readonly contents: ResultAttachments;
  /** Which addresses plugins may reach. */
  readonly egress?: EgressPolicy | undefined;
  /** What documents may have run of code and programs. */
  readonly code?: CodePolicy | undefined;
  /** Makes links by which people answer forms. */
  readonly answerLinks?: LinkMaker | undefined;
};

/** The signal of an attempt, and where what its plugin says goes to. */
export type AttemptCallbacks = Required<
  Pick<ContextInput, 'signal' | 'log' | 'heartbeat' | 'progress' | 'setData' | 'setStatus'>
> &
  Pick<RunOptions, 'timed' | 'attribution'>;

/** A claimed step of a job, and what runs it. */
export type ClaimedStep = {
  readonly plugin: LoadedPlugin;
  readonly job: LiveJob;
  readonly step: LiveStep;
};

/** Calls the plugin of an attempt with its parameters in clear. Never rejects. */
export async function callPlugin(
  claimed: ClaimedStep,
  callbacks: AttemptCallbacks,
  options: CallOptions,
): Promise<Outcome> {
  const { plugin, job, step } = claimed;
  const { log } = options;
  const { timed, attribution } = callbacks;
  try {
    const given = await inputOfCall(claimed, options);
    // The engine ends before all is known: nothing is called with half of it.
    if (given === undefined) return { kind: 'released' };
    if ('failure' in given) return unfit(given.failure);
    const earlier = step.attempt === 1 ? [] : earlierAttempts(job, step);
    const { context, redact } = createContext({
      ...told(claimed, callbacks, options),
      ...given.input,
      ...failureFor(job, step),
      item: step.path === firstPath ? undefined : scopeOf(job, step.path)['item'],
      ...(step['seen'] === undefined ? {} : { history: historyForDecision(job, step) }),
      lastDetails: earlier.length === 0 ? undefined : lastDetails(earlier),
    });
    if (earlier.length > 0) tellChange(log, aboutOf(job, step), step, earlier);
    const verify = earlier.length > 0;
    return await runPlugin(plugin, context, { redact, verify, timed, attribution });
  } catch (error) {
    // Nothing a plugin or a document does may end the engine.
    const { message } = error as { message?: unknown };
    const name = error instanceof TwsError ? 'SecretUnreadable' : 'AttemptFailed';
    return unfit(failure(name, { reason: String(message ?? error) }));
  }
}

const unfit = (why: Failure): Outcome => ({
  ...{ kind: 'failed', failure: why },
  ...{ exit: exits.definition, retryable: false },
});

/** What does not depend on documents: where things are told, and what the project allows. */
function told(
  { job, step }: ClaimedStep,
  { timed: _timed, attribution: _attribution, ...shared }: AttemptCallbacks,
  options: CallOptions,
) {
  const { log, cwd, egress, code, onSecret, readSensitive: read } = options;
  const about = aboutOf(job, step);
  return {
    ...shared,
    ...{ job, step, key: keyOf(job, step), cwd, egress, code, onSecret },
    log: (message: string, data?: Readonly<Record<string, unknown>>) => {
      onOwnBehalf(() =>
        log[levelOf(data)](data === undefined ? about : { ...about, data }, message),
      );
      shared.log(message, data);
    },
    sensitive: read && askingIn(shared.signal, (names) => read(job, step, names)),
  };
}

/** Secrets opened and templates filled in: what only this attempt sees. Undefined: the engine ends. */
async function inputOfCall(
  { plugin, job, step }: ClaimedStep,
  { openSecrets, answerLinks, contents, onSecret = () => undefined }: CallOptions,
) {
  const opened =
    step['secrets'] === undefined
      ? { params: { ...step.params }, clear: [], templates: [] }
      : await openSecrets(job, step);
  if (opened === undefined) return undefined;
  opened.clear.forEach(onSecret);
  const links = openLinks(job, opened.params, answerLinks);
  links.clear.forEach(onSecret);
  const seen = await visibleResults(job, step, contents);
  if (seen === undefined) return undefined;
  const { results, parent_results: parentResults } = seen;
  const form = links.form === undefined ? {} : { form: links.form };
  const known = { ...contextOfAttempt(job, step, seen), ...form };
  const { templates = [] } = plugin.module;
  const filled = fillSensitive({ ...links, templates: opened.templates }, known, templates);
  if ('failure' in filled) return filled;
  filled.clear.forEach(onSecret);
  const { params, late } = filled;
  const clear = [...opened.clear, ...links.clear, ...filled.clear];
  return {
    input: { params, shown: { ...step.params }, clear, late, results, parentResults, ...form },
  };
}

/** Asks for sensitive values until the attempt is told to end. */
function askingIn(
  signal: AbortSignal,
  ask: (names: readonly string[]) => ReturnType<ReadSensitive>,
): AskSensitive {
  return async (names) => {
    signal.throwIfAborted();
    const stopped = new AbortController();
    try {
      const stop = once(signal, 'abort', { signal: stopped.signal }).then(() => undefined);
      const values = await Promise.race([ask(names), stop.catch(() => undefined)]);
      if (values !== undefined) return values;
      throw signal.reason ?? new DOMException('The engine ends.', 'AbortError');
    } catch (error) {
      if (!(error instanceof TwsError)) throw error;
      throw pluginProblem('SecretUnreadable', { reason: error.message });
    } finally {
      stopped.abort();
    }
  };
}

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** How important a line is: `console.error` and loggers of earlier plugins say so in its data. */
function levelOf(data: Readonly<Record<string, unknown>> | undefined): (typeof levels)[number] {
  return levels.find((level) => level === data?.['level']) ?? 'info';
}

/** The path of the first entry of a flow: nothing comes before it, and nothing repeats it. */
const firstPath = '0';

const nothingBefore: Results = {
  results: {},
  parent_results: {},
  previous: undefined,
  missing: [],
};

/** What the step sees of the others; large results come from their attachments. Undefined: the engine ends. */
async function visibleResults(
  job: LiveJob,
  step: Step,
  contents: ResultAttachments,
): Promise<Results | undefined> {
  if (step.path === firstPath) return nothingBefore;
  const seen = resultsFor(job, step);
  if (seen.missing.length === 0) return seen;
  const read = await contents.of(job, seen.missing);
  return read === undefined ? undefined : resultsFor(job, step, read);
}

/** What the log says of an attempt; `item`: the path of the item of a map or round of a loop that it is in. */
export function aboutOf(job: LiveJob, { name, attempt, path }: LiveStep) {
  const item = itemAround(path);
  return { job: job._id, step: name, attempt, ...(item === undefined ? {} : { item }) };
}

/** The idempotency key: another one when what was done before is to be done again. */
function keyOf(job: LiveJob, { path }: LiveStep): string {
  const since = countsSince(job, path);
  return since === 1 ? `${job._id}:${path}` : `${job._id}:${path}:${since}`;
}

/** Two attempts that ran different code may well have different results. */
function tellChange(log: Log, about: object, step: LiveStep, earlier: readonly Step[]): void {
  const { plugin, plugin_hash: now, name } = step;
  const last = earlier.findLast((attempt) => attempt['plugin_hash'] !== undefined);
  const before = last?.['plugin_hash'];
  if (last === undefined || before === now) return;
  const message = `Plugin ${plugin} of step ${name} has changed since attempt ${last.attempt}.`;
  log.warn({ ...about, before, now }, message);
}
