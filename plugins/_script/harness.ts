/**
 * Runs inside the sandbox: makes what a script sees of the world, and returns `run(code, globals, modules)`.
 * `host(name, argumentsAsJson)` is the only way out; it is known to nothing but the functions made here. What
 * `run` resolves to is JSON that says how the script ended.
 */
export const scriptHarness = String.raw`
(function (host) {
  'use strict';
  const { parse, stringify } = JSON;
  const { assign, freeze, keys, getPrototypeOf } = Object;
  const AsyncFunction = getPrototypeOf(async function () {}).constructor;
  const Plain = Function;
  const detours = new WeakMap();

  function ask(name, args) {
    const answer = host(name, stringify(args));
    return answer === undefined ? undefined : parse(answer);
  }
  const tell = (name) => function () { return ask(name, Array.from(arguments)); };
  const later = (name) => async function () {
    const { answer, failed } = parse(await host(name, stringify(Array.from(arguments))));
    if (failed) throw assign(new Error(failed.message), failed);
    return answer;
  };
  const detour = (kind) => function () {
    const marker = freeze({});
    detours.set(marker, { kind, args: Array.from(arguments) });
    return marker;
  };
  const api = {
    log: tell('log'), progress: tell('progress'), heartbeat: tell('heartbeat'),
    setData: tell('setData'), setStatus: tell('setStatus'), render: tell('render'),
    sensitive: later('sensitive'),
    wait: detour('wait'), requeue: detour('requeue'), restartJob: detour('restartJob'),
  };
  const text = (value) => (typeof value === 'string' ? value : stringify(value) ?? String(value));
  const print = function () { api.log(Array.from(arguments).map(text).join(' ')); };
  globalThis.console = freeze({ log: print, info: print, warn: print, error: print, debug: print });

  function requireOf(sources) {
    const loaded = Object.create(null);
    return function require(name) {
      if (loaded[name]) return loaded[name].exports;
      const source = sources[name];
      if (typeof source !== 'string') throw new Error('The task does not declare the module "' + name + '".');
      const module = (loaded[name] = { exports: {} });
      Plain('module', 'exports', 'require', source)(module, module.exports, require);
      return module.exports;
    };
  }

  const heeded = ['name', 'code', 'retryable', 'retryAfter', 'exit', 'kind'];
  function failed(error) {
    const isObject = typeof error === 'object' && error !== null;
    const told = { message: isObject ? String(error.message) : text(error) };
    if (isObject) for (const key of heeded) if (error[key] !== undefined) told[key] = error[key];
    const line = /\(?<input>:(\d+)/.exec(isObject ? String(error.stack) : '');
    if (line) told.line = Number(line[1]) - 3;
    return stringify({ kind: 'failed', error: told });
  }

  return async function run(code, globals, modules) {
    const given = parse(globals);
    const names = keys(given);
    const all = names.concat(keys(api), ['require']);
    let script;
    try {
      script = AsyncFunction.apply(null, all.concat(['"use strict";\n' + code]));
    } catch (error) {
      return stringify({ kind: 'invalid', reason: String(error.message) });
    }
    try {
      const values = names.map((name) => given[name]).concat(keys(api).map((name) => api[name]));
      const value = await script.apply(undefined, values.concat([requireOf(parse(modules))]));
      const known = typeof value === 'object' && value !== null ? detours.get(value) : undefined;
      if (known) return stringify({ kind: 'detour', detour: known.kind, args: known.args });
      return stringify({ kind: 'done', result: value === undefined ? null : value });
    } catch (error) {
      return failed(error);
    }
  };
})
`;
