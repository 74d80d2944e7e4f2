import type { Log } from '../engine/log.js';
import { redactor } from '../secrets/redaction.js';

/** So many decrypted texts are remembered, to be hidden in what is reported. */
const keptSecrets = 1_000;

/**
 * Reports promises that are rejected while nobody waits for them: a plugin may leave one behind, and
 * that must not end the engine and with it the steps of all other jobs. An exception that nobody
 * catches still ends the process, whose state is unknown then. To be called once, where the process
 * is the engine's own. The answer takes the texts that must not be shown.
 */
export function reportStrays(log: Log): (clear: string) => void {
  const secrets: string[] = [];
  const redact = redactor(secrets);
  process.on('unhandledRejection', (reason) => {
    const { message, ...about } = redact(factsOf(reason));
    log.error(about, `A promise was rejected and nobody waited for it: ${message}`);
  });
  return (clear) => {
    if (secrets.includes(clear)) return;
    secrets.push(clear);
    if (secrets.length > keptSecrets) secrets.shift();
  };
}

/** What is known of it: of an error its name, its code and the line that made it. */
function factsOf(reason: unknown): Readonly<Record<string, string>> & { readonly message: string } {
  if (!(reason instanceof Error)) return { message: String(reason) };
  const { name, message, stack, code } = reason as NodeJS.ErrnoException;
  const at = /^ +at (.*)$/m.exec(stack ?? '')?.[1];
  return {
    message,
    error: name,
    ...(code === undefined ? {} : { code: String(code) }),
    ...(at === undefined ? {} : { at }),
  };
}
