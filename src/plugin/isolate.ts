import type { PluginContext, PluginModule } from './api.js';
import { processes, threads, type Away } from './away.js';
import { Detour } from './detour.js';
import { Done } from './done.js';
import { PluginError } from './errors.js';
import { placed } from './place.js';
import { pluginProblem } from './failures.js';
import { answerTo } from './isolate-asking.js';
import type { IsolateCall, NoteMessage } from './isolate-messages.js';
import { lateTemplatesOf, renderData } from './render.js';
import { hideIn } from './sensitive.js';

/** How long, after its signal, a call may still clean up before it is ended by force. */
const graceMs = 2000;

/** The heap of an isolated call when its plugin does not say, MB. */
const usualMemory = 512;

/**
 * A module whose calls run in a thread or a process of their own, if it exports `isolate`; else the
 * module itself. What crashes, or does not end after its signal, takes only its own attempt along.
 * `init` then runs there, before the first call.
 */
export function isolated(
  plugin: { readonly name: string; readonly file: string },
  module: PluginModule,
): PluginModule {
  const { isolate, init: _init, verify, memory = usualMemory, ...rest } = module;
  if (isolate === undefined) return module;
  const start = isolate === 'thread' ? threads(memory) : processes(memory);
  const calling = (part: IsolateCall['part']) => (context: PluginContext) =>
    callAway(start(), toCall(plugin, part, context), context);
  return {
    ...rest,
    isolate,
    default: calling('default'),
    ...(verify ? { verify: calling('verify') as NonNullable<PluginModule['verify']> } : {}),
  };
}

async function callAway(away: Away, call: IsolateCall, context: PluginContext): Promise<unknown> {
  let grace: NodeJS.Timeout | undefined;
  let isAtRest = false;
  const abort = (): void => {
    const { name, message } = context.signal.reason as Error;
    away.send({ type: 'abort', name, message });
    grace = setTimeout(away.stop, graceMs);
  };
  try {
    return await new Promise<unknown>((resolve, reject) => {
      away.onEnd((how) => reject(pluginProblem('IsolateLost', { plugin: call.name, how })));
      away.onMessage((message) => {
        try {
          if ('left' in message) isAtRest = message.left === false;
          if (message.type === 'done') {
            resolve(message.complete ? new Done(message.result) : message.result);
          } else if (message.type === 'detour') resolve(new Detour(message.outcome));
          else if (message.type === 'ask') void answerTo(message, context).then(away.send);
          else if (message.type === 'failed') {
            const { at, ...details } = message.details;
            reject(placed(new PluginError(message.message, details), at));
          } else pass(message, context);
        } catch (wrong) {
          // Said in here it would be nobody's: an exit that is none, for instance.
          reject(wrong instanceof Error ? wrong : new Error(String(wrong)));
        }
      });
      away.send({ type: 'call', call });
      if (context.signal.aborted) abort();
      else context.signal.addEventListener('abort', abort, { once: true });
    });
  } finally {
    context.signal.removeEventListener('abort', abort);
    clearTimeout(grace);
    if (isAtRest) await away.release();
    else away.stop();
  }
}

/** What the plugin says on the way. */
function pass(message: NoteMessage, context: PluginContext): void {
  switch (message.type) {
    case 'log':
      return context.log(message.message, message.data);
    case 'heartbeat':
      return beat(message.details, context);
    case 'progress':
      return context.progress(message.progress);
    case 'status':
      return context.setStatus(message.status);
    case 'data':
      return context.setData(message.changes, { always: message.always === true });
    case 'exit':
      return context.exit(message.code);
    case 'hide':
      return hideIn(context, message.text);
  }
}

/** The plugin hears where it runs that it is to stop: it may still clean up there. */
function beat(details: unknown, { heartbeat, signal }: PluginContext): void {
  try {
    heartbeat(details);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function toCall(
  plugin: { readonly name: string; readonly file: string },
  part: IsolateCall['part'],
  {
    params,
    job,
    step,
    results,
    key,
    cwd,
    egress,
    code,
    lastDetails,
    history,
    failure,
    render,
  }: PluginContext,
): IsolateCall {
  return {
    ...plugin,
    part,
    given: {
      ...{ params, job, step, results, key, cwd, egress, code, lastDetails },
      ...(failure === undefined ? {} : { failure }),
      ...(history === undefined ? {} : { history }),
    },
    data: renderData(render),
    late: lateTemplatesOf(render),
  };
}
