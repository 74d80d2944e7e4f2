import type { PluginContext, PluginModule } from './api.js';
import type { LegacyFactory } from './legacy.js';

/** What a module turned out to be. */
export type Shape =
  | { readonly kind: 'plugin'; readonly module: PluginModule }
  /** May be of the older contract: only the answer to its first call can tell. */
  | {
      readonly kind: 'perhaps-legacy';
      readonly factory: LegacyFactory;
      readonly module: PluginModule;
    }
  | { readonly kind: 'broken'; readonly problem: string };

type Exports = Readonly<Record<string, unknown>>;

/**
 * Tells what a module's exports are. Only a CommonJS module whose export is a plain, unmarked
 * function of at most one parameter can be of the older contract: metadata, `exports.default`,
 * `async`, or a destructured parameter with a name of the context mark the present one.
 */
export function shapeOf(namespace: Exports, commonJs: boolean): Shape {
  const exported = commonJs ? namespace.default : undefined;
  if (typeof exported === 'function') {
    return ofFunction(exported as PluginModule['default'] & Exports);
  }
  const exports = isRecord(exported) ? exported : namespace;
  if (typeof exports.default !== 'function') return broken(nothingToCall(exports));
  return checked(exports, exports.default as PluginModule['default']);
}

function ofFunction(run: PluginModule['default'] & Exports): Shape {
  const transpiled = run.default;
  if (typeof transpiled === 'function') {
    return checked(run, transpiled as PluginModule['default']);
  }
  if (run.length > 1) {
    return broken(
      `it exports a function of ${run.length} parameters; a plugin takes one, the context, and the older contract is (options) => (job, step, params) => Promise`,
    );
  }
  const shape = checked(run, run);
  if (shape.kind !== 'plugin' || isMarked(run)) return shape;
  return { ...shape, kind: 'perhaps-legacy', factory: run as unknown as LegacyFactory };
}

const metadata = [
  'description',
  'params',
  'templates',
  'init',
  'verify',
  'attach',
  'detach',
  'isolate',
  'memory',
] as const;

/** Less is not enough to load a module, MB. */
const leastMemory = 16;

function isMarked(run: PluginModule['default'] & Exports): boolean {
  if (metadata.some((name) => Object.hasOwn(run, name))) return true;
  if (run.constructor.name === 'AsyncFunction') return true;
  const destructured = /^[^{=]*?\(\s*\{([^}]*)\}/.exec(Function.prototype.toString.call(run))?.[1];
  return (
    destructured !== undefined &&
    /\b(?:params|job|step|results|signal|log|heartbeat|lastDetails|progress|secret|key|render|wait|requeue|restartJob|exit|cwd|done|setData|setStatus|history)\b/.test(
      destructured,
    )
  );
}

function checked(exports: Exports, run: PluginModule['default']): Shape {
  const wrong = wrongExports(exports);
  if (wrong !== undefined) return broken(wrong);
  const given = metadata.filter((name) => exports[name] !== undefined && exports[name] !== null);
  const module = Object.fromEntries(given.map((name) => [name, exports[name]]));
  return { kind: 'plugin', module: { ...module, default: attached(run, exports) } };
}

/** The function of a plugin between its `attach` and its `detach`, where there are any. */
function attached(
  run: PluginModule['default'],
  { attach, detach }: Pick<PluginModule, 'attach' | 'detach'>,
): PluginModule['default'] {
  if (attach == null && detach == null) return run;
  return async (context) => {
    if (attach != null) await attach(context);
    try {
      return await run(context);
    } finally {
      await detached(context, detach);
    }
  };
}

/** What fails after the work changes nothing of how it ended. */
async function detached(context: PluginContext, detach: PluginModule['detach']): Promise<void> {
  try {
    if (detach != null) await detach(context);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.log(`detach() failed: ${reason}`, { level: 'warn' });
  }
}

type ExportRule = readonly [keyof Exports, (value: unknown) => boolean, string];

function functionRule(name: string): ExportRule {
  return [name, (value) => typeof value === 'function', 'a function'];
}

/** What each export must be; a missing one is right. */
const exportRules: readonly ExportRule[] = [
  ['description', (value) => typeof value === 'string', 'a text'],
  ['params', isRecord, 'a JSON Schema'],
  ['templates', isTexts, 'a list of parameter names'],
  functionRule('init'),
  ...(['verify', 'attach', 'detach'] as const).map(functionRule),
  ['isolate', (value) => value === 'thread' || value === 'process', '"thread" or "process"'],
  [
    'memory',
    (value) => Number.isInteger(value) && (value as number) >= leastMemory,
    `a whole number of MB, ${leastMemory} or more`,
  ],
];

function wrongExports(exports: Exports): string | undefined {
  const rule = exportRules.find(([name, isRight]) => {
    const value = exports[name];
    return value != null && !isRight(value);
  });
  return rule === undefined ? undefined : `its export ${rule[0]} must be ${rule[2]}`;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function nothingToCall(exports: Exports): string {
  const names = Object.keys(exports).filter((name) => name !== 'module.exports');
  const found = names.length === 0 ? 'nothing' : names.join(', ');
  return `it exports no function to call (it exports ${found}); write "export default async function (context) { … }" or "module.exports = async (context) => { … }"`;
}

const broken = (problem: string): Shape => ({ kind: 'broken', problem });

function isRecord(value: unknown): value is Exports {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
