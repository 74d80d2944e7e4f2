import fc from 'fast-check';
import { getQuickJS } from 'quickjs-emscripten';
import { expect, test, vi } from 'vitest';
import { callGuard, isShippedGuard } from '../../src/embedded/functions/native-guard.js';
import { openSandbox } from '../../src/embedded/functions/sandbox.js';
import { readDesign } from '../../src/store/design-source.js';
import { runs } from '../support/properties.js';
import { validateCases } from '../store/validate-cases.js';

const { validate_doc_update: text = '' } = await readDesign('guard');

/** The same function where functions of users run. */
const sandbox = openSandbox(
  await getQuickJS(),
  { key: 'guard', kind: 'validate', sources: [text] },
  {
    deadlineMs: 5_000,
    memoryBytes: 64 * 1024 * 1024,
    progress: new Int32Array(new SharedArrayBuffer(4)),
  },
);
if ('failure' in sandbox) throw new Error(sandbox.failure.message);

/** Values that a rule looks at, and such as nobody means. */
const odd = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(null, 0, 1, -1, true, false, '', ' ', 'a', [], {}) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
const words = ['task', 'flow', 'job', 'request', 'engine', 'engine-control', 'lock', 'note'];
const states = ['$$ready', '$$paused', '$$complete', '$$cancelled', 'a-0', 'b-1', '$$go-1', 'a-'];
const mostly = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: odd });

const step = fc.record(
  {
    state: mostly(fc.constantFrom('$$complete', '$$error', '$$active')),
    end: mostly(fc.constantFrom(1, 2)),
    attempt: mostly(fc.constantFrom(1, 2)),
    path: mostly(fc.constantFrom('0', '1')),
  },
  { requiredKeys: [] },
);
const document = fc.record(
  {
    _id: fc.constantFrom('x', 'engine:1', 'lock:1'),
    _deleted: fc.constantFrom(true, false),
    type: mostly(fc.constantFrom(...words)),
    name: mostly(fc.constant('n')),
    owner: mostly(fc.constant('me')),
    flow: mostly(fc.constant('f')),
    tasks: mostly(fc.constant(['a'])),
    state: mostly(fc.constantFrom(...states)),
    steps: mostly(fc.array(mostly(step), { maxLength: 3 })),
    exit: mostly(fc.constantFrom(0, 2)),
    run: mostly(fc.constantFrom(0, 1, 2)),
    failure: mostly(fc.constant({ name: 'X' })),
    job: mostly(fc.constant('j')),
    action: mostly(fc.constant('cancel')),
    engine: mostly(fc.constant('*')),
    enabled: mostly(fc.boolean()),
    ['__proto__']: fc.constantFrom({ type: 'job' }, { name: 'n' }),
    hasOwnProperty: odd,
  },
  { requiredKeys: ['_id'], noNullPrototype: true },
);
/** A document and what it replaces: nothing, anything, or nearly the same. */
const change = fc
  .tuple(document, fc.option(document), document, fc.boolean())
  .map(([next, old, edit, isEdit]) => (isEdit ? [{ ...next, ...edit }, next] : [next, old]));

test('the guard says the same here and in the sandbox, of thousands of changes', () => {
  const said = { refused: 0, passed: 0 };
  fc.assert(
    fc.property(change, ([next, old]) => {
      const call = JSON.stringify([next, old, { roles: ['_admin'] }, {}]);
      const result = callGuard(call);
      expect(result).toEqual(sandbox.call(call));
      said['ok' in result && result.ok === 'null' ? 'passed' : 'refused'] += 1;
    }),
    runs(5_000),
  );
  expect(Math.min(said.refused, said.passed)).toBeGreaterThan(500);
});

test('the guard says the same of every case of its rules', () => {
  for (const { before, after } of validateCases) {
    const old = before === undefined ? null : { _id: 'x', ...before };
    const call = JSON.stringify([{ _id: 'x', ...after }, old, {}, {}]);
    expect(callGuard(call)).toEqual(sandbox.call(call));
  }
});

test('only the shipped text is the shipped guard, byte for byte', () => {
  expect(isShippedGuard(text)).toBe(true);
  const others = [
    `${text}\n`,
    ` ${text}`,
    text.replace('\n', '\r\n'),
    text.replace('newDoc', 'newDoc '),
    text.replace('forbidden', 'f\\u006frbidden'),
    text.slice(0, -1),
    '',
  ];
  for (const other of others) expect(isShippedGuard(other), other.slice(0, 40)).toBe(false);
  const changed = vi.spyOn(String.prototype, 'valueOf').mockReturnValue(text);
  const trimmed = vi.spyOn(String.prototype, 'trim').mockReturnValue(text);
  expect(isShippedGuard(`${text} `)).toBe(false);
  changed.mockRestore();
  trimmed.mockRestore();
});
