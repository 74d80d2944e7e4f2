import { attributionOf, type Attribution } from '../../plugin/attribution.js';
import { captureConsole, consoleLog } from '../../plugin/console.js';
import { pluginProblem } from '../../plugin/failures.js';
import { toFailed, uncaught } from '../../plugin/outcome.js';
import { redactor } from '../../secrets/redaction.js';
import type { Log } from '../log.js';

export type GuardOptions = {
  readonly log: Log;
  /** Something threw that is no plugin's: the state of the process is not known any more. */
  readonly onBroken: (reason: string) => void;
};

/** So many decrypted texts are remembered, to be hidden in what is reported. */
const keptSecrets = 1_000;

/**
 * Guards a process that is the engine's own against the plugins that share it. What a plugin throws
 * outside its promise, or its call of `process.exit`, fails its own step, if that still runs, and
 * never ends the engine. What it prints by `console` goes to the log. To be called once. The answer takes
 * the texts that must not be shown.
 */
export function guardProcess({ log, onBroken }: GuardOptions): (clear: string) => void {
  const secrets: string[] = [];
  const redact = redactor(secrets);
  const hear = (how: string) => (thrown: unknown) => {
    const { message, ...facts } = redact(factsOf(thrown));
    const attribution = attributionOf(thrown);
    if (attribution === undefined) {
      log.error(facts, `${how}: ${message}`);
      return onBroken(message);
    }
    const { plugin, about } = attribution;
    const failed = attribution.fail(redact(uncaught(plugin, thrown, process.cwd())));
    const consequence = failed ? ' Its step fails.' : '';
    log.error({ ...about, ...facts }, `Plugin ${plugin}: ${how}: ${ended(message)}${consequence}`);
  };
  process.on('unhandledRejection', hear('A promise was rejected and nobody waited for it'));
  process.on('uncaughtException', hear('Something was thrown and nobody caught it'));
  guardExit(log);
  captureConsole(() =>
    consoleLog(({ about }) => (message, data) => {
      const { level = 'info' } = data ?? {};
      log[level as Exclude<keyof Log, 'child'>](about, redact(message));
    }),
  );
  return (clear) => {
    if (secrets.includes(clear)) return;
    secrets.push(clear);
    if (secrets.length > keptSecrets) secrets.shift();
  };
}

/** `process.exit` is the engine's: in a plugin it throws, and fails the step. */
function guardExit(log: Log): void {
  const exit = process.exit.bind(process);
  // An explicit `undefined` would take back the exit code that was set before.
  process.exit = (...code) => {
    const attribution = attributionOf(new Error('process.exit'));
    if (attribution === undefined) return exit(...code);
    throw refusedExit(attribution, log);
  };
}

function refusedExit(attribution: Attribution, log: Log): Error {
  const { plugin, about } = attribution;
  const problem = pluginProblem('ExitInPlugin', { plugin });
  const consequence = attribution.fail(toFailed(problem)) ? ' Its step fails.' : '';
  log.error(about, `${problem.message}${consequence}`);
  return problem;
}

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** What is known of it: of an error its name, its code and the line that made it. */
function factsOf(thrown: unknown): Readonly<Record<string, string>> & { readonly message: string } {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const { name, message, stack, code } = thrown as NodeJS.ErrnoException;
  const at = /^ +at (.*)$/m.exec(stack ?? '')?.[1];
  return {
    message,
    error: name,
    ...(code === undefined ? {} : { code: String(code) }),
    ...(at === undefined ? {} : { at }),
  };
}
