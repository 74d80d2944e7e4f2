import { describe, expect, it } from 'vitest';
import { readFunction } from '../../src/node-workflow/functions.js';

describe('the names that a function uses and does not declare', () => {
  const rows: readonly [string, readonly string[]][] = [
    ['function (job, cb) { cb(null); }', []],
    ['function own(job, cb) { return own(job, cb); }', []],
    ['(job, cb) => cb(null, foo.bar.baz[index])', ['foo', 'index']],
    ['function (job, cb) { foo: for (;;) { break foo; } cb(arguments); }', []],
    ['function (job, cb) { later(); function later() { var a = b; } }', ['b']],
    ['function (job, cb) { if (job) { var a = 1; } cb(a); }', []],
    ['function (job, cb) { { let a = 1; } cb(a); }', ['a']],
    ['function (job, cb) { { function f() {} class C {} f(C); } }', []],
    ['function (job, cb) { for (const a of job) cb(a); return a; }', ['a']],
    ['function (job, cb) { for (let i = 0; i < n; i++) cb(i); }', ['n']],
    ['function (job, cb) { try { x(); } catch (e) { cb(e); } cb(e); }', ['x', 'e']],
    ['function (job, cb) { try { y(); } catch { cb(); } }', ['y']],
    ['function (job, cb) { switch (job) { case k: let v = 1; cb(v); } cb(v); }', ['k', 'v']],
    ['function ({ a, b: [c, ...d], ...e }, cb = f) { cb(a, c, d, e); }', ['f']],
    ['function (job, cb) { cb({ key: 1, [name]: two, short }); }', ['name', 'two', 'short']],
    [
      'function (job, cb) { cb(new (class K extends Base { [m]() { K; } p = q; })()); }',
      [...['Base', 'm', 'q']],
    ],
    ['function (job, cb) { const { a: b = c } = job; cb(b, new.target); }', ['c']],
    ['function (job, cb) { return inner(function (x) { return x + y; }); }', ['inner', 'y']],
    ['async function (job, cb) { await wait; }', ['wait']],
    ['function (job, cb) { undeclared = 1; }', ['undeclared']],
    ['body(job, cb) { cb(foo); }', ['foo']],
    ['async body(job, cb) { cb(foo); }', ['foo']],
  ];
  it.each(rows)('%s', (source, free) => {
    const found = readFunction(source, 'body');
    expect(found).toMatchObject({ ok: true, free });
  });
});

it.each([
  ['function (job, cb) { cb(); }', '/* before */ (function (job, cb) { cb(); }) // after'],
  ['(job, cb) => cb()', '// before\n(job, cb) => cb() // after'],
  ['body(job, cb) { cb(); }', 'body(job, cb) { cb(); } // after'],
])('is read without the comments around it: %s', (plain, commented) => {
  const found = readFunction(commented, 'body');
  expect(found).toMatchObject({ ok: true, free: [] });
  expect(found.ok && found.source).not.toContain('before');
  expect(found.ok && found.source).toContain(plain);
  expect(found.ok && found.source.split('\n').at(-1)).not.toContain('after');
});

describe('what is no function', () => {
  const rows: readonly [string, unknown, string][] = [
    ['nothing', undefined, 'it has no body.'],
    ['a number', 7, 'its body is no function.'],
    ['a value', '7', 'its body is no function.'],
    ['two functions', 'function a() {}, function b() {}', 'its body is no function.'],
    ['a call', 'make(job)', 'its body is no function.'],
    ['broken code', 'function (', 'the source of its body is no JavaScript: Unexpected token.'],
    [
      'sloppy code',
      'function (a, a) {}',
      'its body is not valid in strict mode, in which plugins run: Argument name clash.',
    ],
    [
      'a bound function',
      (() => 1).bind(null),
      'the source of its body cannot be read: it is bound or built in.',
    ],
  ];
  it.each(rows)('is refused: %s', (_, given, problem) => {
    expect(readFunction(given, 'body')).toEqual({ ok: false, problem });
  });
});
