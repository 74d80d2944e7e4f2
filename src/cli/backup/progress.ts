import { problem, TwsError } from '../../errors.js';
import type { Io } from '../io.js';
import { createRedraw } from '../redraw.js';

/** Shows how far a command is: drawn anew on a terminal, else a line for each stage. */
export async function withProgress<T>(
  io: Io,
  run: (tell: (stage: string, more?: string) => void) => Promise<T>,
): Promise<T> {
  const terminal = io.terminal('stderr');
  const redraw = terminal === undefined ? undefined : createRedraw(terminal);
  let said: string | undefined;
  const tell = (stage: string, more = ''): void => {
    redraw?.draw([`${stage}${more}`]);
    if (redraw === undefined && said !== stage) io.say(stage);
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
