import {
  PluginError,
  pluginProblem,
  readProjectFile,
  requireCodeAllowed,
  type PluginContext,
} from '../src/plugin/index.js';
import { runScript, type Host, type ScriptError } from './_script/sandbox.js';

export const description = 'Runs JavaScript of its task in a sandbox';

/** A thread of its own: what does not end there is ended with it. */
export const isolate = 'thread';
export const memory = 128;

/** Braces of the code are no templates. */
export const templates = ['code'];

export const params = {
  type: 'object',
  required: ['code'],
  properties: {
    code: { type: 'string', minLength: 1, description: 'body of an async function' },
    modules: {
      type: 'array',
      items: { type: 'string' },
      description: 'names of modules that tws.json allows, for require()',
    },
    memory: { type: 'integer', minimum: 1, maximum: 256, description: 'MB; 64 when absent' },
    time: {
      type: 'integer',
      minimum: 1,
      maximum: 60_000,
      description: 'ms of the processor; 5000 when absent',
    },
  },
};

type Params = Readonly<Record<string, unknown>> & {
  readonly code: string;
  readonly modules?: readonly string[];
  readonly memory?: number;
  readonly time?: number;
};

export default async function script(context: PluginContext<Params>): Promise<unknown> {
  requireCodeAllowed('script', context);
  const { code, modules = [], memory: memoryMb = 64, time: timeMs = 5_000 } = context.params;
  const sources = await sourcesOf(modules, context);
  const end = await runScript(
    { code, memoryMb, timeMs, modules: sources, globals: globalsOf(context) },
    hostOf(context),
  );
  switch (end.kind) {
    case 'done':
      return context.done(end.result);
    case 'detour':
      return detourOf(context, end.detour, end.args);
    case 'invalid':
      throw pluginProblem('ScriptInvalid', { reason: end.reason });
    case 'failed':
      throw thrown(end.error);
  }
}

/** What a script sees: names of the plugin context, as copies. */
function globalsOf(context: PluginContext<Params>): Readonly<Record<string, unknown>> {
  const { params: given, job, step, results, parent_results, key, failure, lastDetails } = context;
  const { code: _code, modules: _modules, memory: _memory, time: _time, ...own } = given;
  const { item } = context as { readonly item?: unknown };
  return {
    ...{ params: own, job, step, results, parent_results, key },
    ...{ item: item ?? null, failure: failure ?? null, lastDetails: lastDetails ?? null },
  };
}

/** The sources of the modules that a task declares, as far as the project allows them. */
async function sourcesOf(
  names: readonly string[],
  { code: { modules }, cwd }: PluginContext<Params>,
): Promise<Readonly<Record<string, string>>> {
  const sources: Record<string, string> = {};
  for (const name of names) {
    const file = Object.hasOwn(modules, name) ? modules[name] : undefined;
    if (file === undefined) {
      const known = Object.keys(modules).join(', ') || 'none';
      throw pluginProblem('ScriptModuleMissing', { module: name, known });
    }
    sources[name] = (await readProjectFile(cwd, file)).toString('utf8');
  }
  return sources;
}

/** So many times a script may say something, and so many characters together. */
const mostCalls = 1_000;
const mostCharacters = 256 * 1024;

/** The functions of the context that a script may call. */
function hostOf(context: PluginContext<Params>): Host {
  let calls = 0;
  let characters = 0;
  return (name, args) => {
    calls += 1;
    characters += JSON.stringify(args).length;
    if (calls > mostCalls || characters > mostCharacters) {
      const most = `${mostCalls} calls or ${mostCharacters} characters`;
      throw pluginProblem('ScriptTooLoud', { what: 'What is logged and told', most });
    }
    switch (name) {
      case 'log':
        return context.log(args[0] as string, args[1] as Record<string, unknown> | undefined);
      case 'progress':
        return context.progress(args[0] as number | string);
      case 'heartbeat':
        return context.heartbeat(args[0]);
      case 'setData':
        return context.setData(args[0] as Record<string, unknown>, args[1] ?? {});
      case 'setStatus':
        return context.setStatus(args[0] as string | null);
      case 'render':
        return context.render(String(args[0]), args[1] ?? {});
      case 'sensitive':
        return answered(context.sensitive(...(args as string[])));
      default:
        throw new TypeError(`There is no function "${name}".`);
    }
  };
}

/** What the script awaits: the sensitive values, or why it does not get them. */
async function answered(values: ReturnType<PluginContext['sensitive']>): Promise<unknown> {
  try {
    return { answer: await values };
  } catch (error) {
    const { name, message, retryable, exit } = error as PluginError;
    return { failed: { name, message, retryable, exit } };
  }
}

function detourOf(context: PluginContext<Params>, kind: string, args: readonly unknown[]): unknown {
  if (kind === 'wait') {
    return context.wait(args[0] as string, args[1] ?? {});
  }
  const options = (args[0] ?? {}) as { readonly delay?: number };
  return kind === 'requeue' ? context.requeue(options) : context.restartJob(options);
}

/** The error of the script, with the line of its code. */
function thrown({ message, line, ...details }: ScriptError): PluginError {
  const at = line === undefined ? '' : ` (line ${line} of the code)`;
  return new PluginError(`${message}${at}`, { name: 'Error', ...details });
}
