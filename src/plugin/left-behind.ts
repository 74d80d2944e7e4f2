import { attributionOf } from './attribution.js';
import { uncaught } from './outcome.js';

/** What hears, one for the process. `late`: how often something was thrown whose attempt was over. */
const hearing = { say: (_line: string): void => undefined, late: 0, isOn: false };

/**
 * Hears from now on what plugins throw where nobody can catch it, for a command that shows it to a person: it fails
 * the attempt that left it, and is said without the secrets of that attempt. What is no plugin's ends the process as
 * before, and what comes when its attempt is over makes the exit status of the process 1.
 * @returns how often that has happened
 */
export function hearLeftBehind(say: (line: string) => void): () => number {
  Object.assign(hearing, { say, late: 0 });
  if (!hearing.isOn) {
    process.on('unhandledRejection', hear);
    process.on('uncaughtException', hear);
    hearing.isOn = true;
  }
  return () => hearing.late;
}

function hear(thrown: unknown): void {
  const attribution = attributionOf(thrown);
  if (attribution === undefined) throw thrown;
  const { plugin, redact = (value) => value } = attribution;
  const outcome = redact(uncaught(plugin, thrown, process.cwd()));
  hearing.say(`${plugin}: ${outcome.failure.message}`);
  if (attribution.fail(outcome)) return;
  hearing.late += 1;
  process.exitCode = 1;
}
