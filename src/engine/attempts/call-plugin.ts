import type { Outcome } from '../../decide/finish/outcome.js';
import { resultsFor } from '../../decide/start/prepare.js';
import { failureFor } from '../../decide/start/failure-for.js';
import { countsSince } from '../../reading/attempts.js';
import { earlierAttempts, lastDetails } from '../../decide/finish/report.js';
import { scopeOf, type Results } from '../../reading/results.js';
import { TwsError } from '../../errors.js';
import { failure } from '../../model/failures.js';
import { historyForDecision } from '../../reading/decider-history.js';
import type { LiveJob } from '../../model/job.js';
import { exits, type LiveStep, type Step } from '../../model/step.js';
import { onOwnBehalf } from '../../plugin/attribution.js';
import type { CodePolicy } from '../../plugin/code-policy.js';
import type { EgressPolicy } from '../../plugin/egress.js';
import { createContext, type ContextInput } from '../../plugin/context.js';
import type { LoadedPlugin } from '../../plugin/loader.js';
import { runPlugin, type RunOptions } from '../../plugin/run.js';
import type { ResultAttachments } from '../attachments/contents.js';
import type { Log } from '../log.js';
import { openLinks, type LinkMaker } from './open-links.js';
import type { OpenSecrets } from './open-secrets.js';

/** What the engine gives to every attempt. */
export type CallOptions = {
  readonly log: Log;
  readonly cwd: string;
  readonly openSecrets: OpenSecrets;
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
  { plugin, job, step }: ClaimedStep,
  callbacks: AttemptCallbacks,
  options: CallOptions,
): Promise<Outcome> {
  const { log, cwd, openSecrets, onSecret = () => undefined, contents, egress, code } = options;
  const about = aboutOf(job, step);
  const { timed, attribution, ...shared } = callbacks;
  try {
    const opened =
      step['secrets'] === undefined
        ? { params: { ...step.params }, clear: [] }
        : await openSecrets(job, step);
    // The engine ends before they are known.
    if (opened === undefined) return { kind: 'released' };
    const { params, form, ...told } = openLinks(job, opened.params, options.answerLinks);
    const clear = [...opened.clear, ...told.clear];
    clear.forEach(onSecret);
    const seen = await visibleResults(job, step, contents);
    // The engine ends before they are known: nothing is called with half of them.
    if (seen === undefined) return { kind: 'released' };
    const { results, parent_results } = seen;
    const earlier = step.attempt === 1 ? [] : earlierAttempts(job, step);
    const { context, redact } = createContext({
      ...shared,
      params,
      shown: { ...step.params },
      clear,
      job,
      step,
      results,
      parentResults: parent_results,
      ...failureFor(job, step),
      ...(form === undefined ? {} : { form }),
      item: step.path === firstPath ? undefined : scopeOf(job, step.path)['item'],
      ...(step['seen'] === undefined ? {} : { history: historyForDecision(job, step) }),
      log: (message, data) => {
        onOwnBehalf(() =>
          log[levelOf(data)](data === undefined ? about : { ...about, data }, message),
        );
        shared.log(message, data);
      },
      lastDetails: earlier.length === 0 ? undefined : lastDetails(earlier),
      key: keyOf(job, step),
      cwd,
      egress,
      code,
    });
    if (earlier.length > 0) tellChange(log, about, step, earlier);
    const verify = earlier.length > 0;
    return await runPlugin(plugin, context, { redact, verify, timed, attribution });
  } catch (error) {
    // Nothing a plugin or a document does may end the engine.
    const { message } = error as { message?: unknown };
    const name = error instanceof TwsError ? 'SecretUnreadable' : 'AttemptFailed';
    const why = failure(name, { reason: String(message ?? error) });
    return { kind: 'failed', failure: why, exit: exits.definition, retryable: false };
  }
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

/** What the log says of an attempt. */
export function aboutOf(job: LiveJob, { name, attempt }: LiveStep) {
  return { job: job._id, step: name, attempt };
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
