import { Session } from 'node:inspector';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attributionFunction, type AttributedCall } from './watchdog-messages.js';

/** The main thread answers when it runs JavaScript; inside a system call it does not, ms. */
export const answerMs = 500;

/** What the main thread does now. */
export type MainThread = {
  /** Whether it answers: inside a system call it does not. */
  readonly isAnswering: boolean;
  readonly attribution: AttributedCall | undefined;
  /** `plugins/loop.mjs:12`, the innermost line outside Node and the engine. */
  readonly at: string | undefined;
};

type Frame = {
  readonly callFrameId: string;
  readonly location: { readonly scriptId: string; readonly lineNumber: number };
};
type Answer = { readonly result?: { readonly value?: unknown } };

/**
 * Stops the main thread for a moment, as a debugger does, and asks it on whose behalf it runs. To be
 * called in another thread.
 */
export async function lookAtMainThread(): Promise<MainThread> {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  const post = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      session.post(method, params, (error, answer) => (error ? reject(error) : resolve(answer)));
    });
  const paused = new Promise<readonly Frame[]>((resolve) => {
    session.on('Debugger.paused', ({ params }) => resolve(params.callFrames));
  });
  try {
    const frames = await within(
      (async () => {
        await post('Debugger.enable');
        await post('Debugger.pause');
        return paused;
      })(),
    );
    const [first] = frames ?? [];
    if (frames === undefined || first === undefined) return silent;
    const expression = `globalThis.${attributionFunction}?.()`;
    const asked = post('Debugger.evaluateOnCallFrame', {
      ...{ callFrameId: first.callFrameId, expression, silent: true, returnByValue: true },
    });
    const answer = (await within(asked)) as Answer | undefined;
    await within(post('Debugger.resume'));
    return { isAnswering: true, attribution: attributionIn(answer), at: placeOf(frames, urls) };
  } catch {
    return silent;
  } finally {
    session.disconnect();
  }
}

const silent: MainThread = { isAnswering: false, attribution: undefined, at: undefined };

function within<T>(promise: Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => {
    setTimeout(resolve, answerMs, undefined).unref();
  });
  return Promise.race([promise, late]);
}

function attributionIn(answer: Answer | undefined): AttributedCall | undefined {
  const text = answer?.result?.value;
  return typeof text === 'string'
    ? ((JSON.parse(text) as AttributedCall | null) ?? undefined)
    : undefined;
}

/** Lines of packages and of Node say less than the project's. */
function placeOf(frames: readonly Frame[], urls: ReadonlyMap<string, string>): string | undefined {
  for (const { location } of frames) {
    const url = (urls.get(location.scriptId) ?? '').replace(/\?.*$/, '');
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    if (!file.startsWith('/') || file.includes('/node_modules/')) continue;
    return `${relative(process.cwd(), file)}:${location.lineNumber + 1}`;
  }
  return undefined;
}
