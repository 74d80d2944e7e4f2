import { problem, TwsError } from '../errors.js';
import type { Io } from './io.js';
import { createRedraw } from './redraw.js';

/**
 * Shows how far a command is: `line` is drawn anew on a terminal, and elsewhere said once for each `stage`.
 * @throws TwsError `interrupted`, when the command is stopped meanwhile
 */
export async function withStages<T>(
  io: Io,
  run: (tell: (stage: string, line?: string) => void) => Promise<T>,
): Promise<T> {
  const terminal = io.terminal('stderr');
  const redraw = terminal === undefined ? undefined : createRedraw(terminal);
  let said: string | undefined;
  const tell = (stage: string, line = stage): void => {
    redraw?.draw([line]);
    if (redraw === undefined && said !== stage) io.say(line);
    said = stage;
  };
  try {
    return await run(tell);
  } catch (error) {
    if (io.stop.aborted && !(error instanceof TwsError)) throw problem('interrupted', {});
    throw error;
  } finally {
    redraw?.clear();
  }
}
