/**
 * Runs inside the sandbox: defines what CouchDB's query server offers (`emit`, `sum`, `isArray`,
 * `toJSON`, `log`, `require`) and returns `load(kind, sources, modules)`, which compiles the
 * sources and returns the function `call(argumentsAsJson) -> resultAsJson`.
 */
export const HARNESS = String.raw`
(function () {
  'use strict';
  const { parse, stringify } = JSON;
  const evaluate = globalThis.eval;
  const isArray = Array.isArray;
  const { freeze, keys } = Object;
  const InternalError = globalThis.InternalError;
  let rows = [];

  globalThis.emit = function (key, value) {
    rows.push([key === undefined ? null : key, value === undefined ? null : value]);
  };
  globalThis.sum = function (values) {
    let total = 0;
    for (const value of values) total += value;
    return total;
  };
  globalThis.isArray = isArray;
  globalThis.toJSON = stringify;
  globalThis.log = function () {};

  function requireFrom(root, cache, base) {
    return function require(path) {
      const at = String(path).startsWith('.') ? base.slice(0, -1) : [];
      const names = at.slice();
      for (const part of String(path).split('/')) {
        if (part === '..') names.pop();
        else if (part !== '.' && part !== '') names.push(part);
      }
      const name = names.join('/');
      if (cache[name]) return cache[name].exports;
      let source = root;
      for (const part of names) source = source && source[part];
      if (typeof source !== 'string') {
        throw new Error('invalid_require_path: there is no module "' + path + '"');
      }
      const module = (cache[name] = { exports: {} });
      Function('module', 'exports', 'require', source)(
        module, module.exports, requireFrom(root, cache, names),
      );
      return module.exports;
    };
  }

  function compile(source) {
    const text = String(source).trim().replace(/;+$/, '');
    const compiled = evaluate('(' + text + '\n)');
    if (typeof compiled !== 'function') {
      throw new SyntaxError('Expression does not eval to a function.');
    }
    return compiled;
  }

  // As in CouchDB, the map functions of a design document see one document, which none can change.
  function sealed(value) {
    if (typeof value !== 'object' || value === null) return value;
    for (const key of keys(value)) sealed(value[key]);
    return freeze(value);
  }

  function emitted(run, doc) {
    rows = [];
    run(doc);
    return rows;
  }

  const kinds = {
    map: (functions) => (json) => {
      const doc = sealed(parse(json));
      const out = functions.map((run) => {
        try {
          return stringify(emitted(run, doc));
        } catch (error) {
          // A document that a function cannot take has no rows; memory that is used up stays so.
          if (error instanceof InternalError && error.message === 'out of memory') throw error;
          return '[]';
        }
      });
      return '[' + out.join(',') + ']';
    },
    reduce: ([run]) => (json) => {
      const [keys, values, again] = parse(json);
      const value = run(keys, values, again);
      return value === undefined ? 'null' : stringify(value);
    },
    validate: ([run]) => (json) => {
      const [next, old, user, security] = parse(json);
      try {
        run(next, old, user, security);
        return 'null';
      } catch (error) {
        if (error && typeof error === 'object') {
          if ('forbidden' in error) return stringify({ forbidden: error.forbidden });
          if ('unauthorized' in error) return stringify({ unauthorized: error.unauthorized });
        }
        throw error;
      }
    },
    filter: ([run]) => (json) => {
      const [doc, request] = parse(json);
      return run(doc, request) ? 'true' : 'false';
    },
    view_filter: ([run]) => (json) => {
      try {
        return emitted(run, parse(json)).length > 0 ? 'true' : 'false';
      } catch (error) {
        return 'false';
      }
    },
  };

  return function load(kind, sources, modules) {
    globalThis.require = requireFrom(modules === '' ? {} : parse(modules), {}, []);
    return kinds[kind](parse(sources).map(compile));
  };
})()
`;
