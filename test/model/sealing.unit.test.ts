import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { difference } from '../../src/decide/start/params.js';
import { merge } from '../../src/model/record.js';
import { handWritten, secretsIn, withReferences } from '../../src/model/encrypted-values.js';
import {
  isSealed,
  isWhollySealed,
  overridden,
  sealOf,
  withSealed,
} from '../../src/model/sealing.js';
import { fieldOf, isReference, keysOf, readReference } from '../../src/model/secret-reference.js';
import { runs } from '../support/properties.js';

const enc = 'tws:v2:aaaaaaaa:bbbbbbbbbbbbbbbb:cccccccccccccccccccccc:dd';

describe('overridden', () => {
  const task = { params: { url: 'u', smtp: { host: 'h', tls: { a: 1 } }, list: [{ a: 1 }] } };
  const secret = { params: { ...task.params, token: enc } };
  const hidden = JSON.parse('{"json": {"__proto__": 1}}') as object;

  it.each<[string, object, object, string | undefined]>([
    ['nothing sealed', {}, { url: 'x' }, undefined],
    ['a sealed parameter', { sealed: ['url'] }, { url: 'x' }, 'url'],
    ['the same value', { sealed: ['url'] }, { url: 'u' }, undefined],
    ['below a sealed one', { sealed: ['smtp'] }, { smtp: { tls: { b: 1 } } }, 'smtp.tls.b'],
    ['above a sealed one', { sealed: ['smtp.host'] }, { smtp: null }, 'smtp'],
    ['beside a sealed one', { sealed: ['smtp.host'] }, { smtp: { port: 1 } }, undefined],
    ['a sealed one that the task leaves out', { sealed: ['proxy'] }, { proxy: 'x' }, 'proxy'],
    ['a list as one value', { sealed: ['list'] }, { list: [{ a: 2 }] }, 'list'],
    ['a key with a dot', { sealed: ['a.b'] }, { 'a.b': 1 }, undefined],
    ['anything beside a secret', secret, { body: 'x' }, 'body'],
    [
      'anything where the plugin may ask for values',
      { ...task, sensitive: ['a'] },
      { body: 'x' },
      'body',
    ],
    ['an object over a text beside a secret', secret, { url: {} }, 'url'],
    ['the secret itself', secret, { token: 'x' }, 'token'],
    ['what is open beside a secret', { ...secret, open: ['body'] }, { body: { a: 1 } }, undefined],
    [
      'more than what is open',
      { ...secret, open: ['smtp.tls'] },
      { smtp: { host: 'x' } },
      'smtp.host',
    ],
    ['above what is open', { ...secret, open: ['smtp.tls'] }, { smtp: 1 }, 'smtp'],
    ['an empty object beside a secret', secret, { json: {} }, 'json'],
    ['one below a parameter beside a secret', secret, { smtp: { auth: {} } }, 'smtp.auth'],
    ['one in another', secret, { json: { a: {} } }, 'json.a'],
    ['one that is sealed', { sealed: ['json'] }, { json: {} }, 'json'],
    ['one above a sealed one', { sealed: ['json.a'] }, { json: {} }, 'json'],
    ['one with a key that is dropped', { sealed: ['json.a'] }, hidden, 'json'],
    [
      'an empty object for an empty object',
      { params: { a: {} }, sealed: ['a'] },
      { a: {} },
      undefined,
    ],
    [
      'an empty object in what is open',
      { ...secret, open: ['json'] },
      { json: { a: {} } },
      undefined,
    ],
    ['an empty list beside a secret', secret, { json: [] }, 'json'],
    ['null beside a secret', secret, { json: null }, 'json'],
    ['an empty text beside a secret', secret, { json: '' }, 'json'],
    ['a key of every object', secret, { constructor: {} }, 'constructor'],
    ['sealed and open', { ...secret, sealed: ['url'], open: ['url'] }, { url: 'x' }, 'url'],
  ])('finds %s', (_what, seal, given, found) => {
    const whole = { ...task, ...seal } as Parameters<typeof sealOf>[0];
    expect(overridden(sealOf(whole), given as Record<string, unknown>, whole.params ?? {})).toBe(
      found,
    );
  });

  it('seals everything where a secret comes from elsewhere', () => {
    expect(isSealed(sealOf(task, true), 'url')).toBe(true);
    expect(isSealed(sealOf(task), 'url')).toBe(false);
  });
});

describe('parameters without what is sealed', () => {
  const defined = { url: 'u', smtp: { host: 'h', tls: { a: 1 } }, body: 'b' };

  it.each<[string, readonly string[], object, object]>([
    ['get it', ['url'], {}, { url: 'u' }],
    ['get what is sealed in an object', ['smtp.tls'], {}, { smtp: { tls: { a: 1 } } }],
    [
      'get it beside what they have',
      ['smtp.host', 'proxy'],
      { smtp: { port: 1 } },
      { smtp: { port: 1, host: 'h' } },
    ],
    ['keep a value that is refused', ['smtp.host'], { smtp: null }, { smtp: null }],
    ['get nothing of a text', ['url.a'], {}, {}],
    ['stay without what is not sealed', [], {}, {}],
  ])('%s', (_title, sealed, given, whole) => {
    const own = given as Record<string, unknown>;
    expect(withSealed(sealOf({ sealed: [...sealed] }), own, defined)).toEqual(whole);
  });
});

describe('what is not refused', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'a.b', 'd e', '__proto__', 'constructor');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(null, '', 0, 1, 'x', {}, [], [{}], [{ a: 1 }]),
      fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const params = fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true });
  const fields = fc.array(
    fc.array(fc.constantFrom('a', 'b', 'c', 'd e'), { minLength: 1, maxLength: 3 }),
    { maxLength: 3 },
  );
  const given = { defined: params, job: params, sealed: fields, open: fields, all: fc.boolean() };
  const named = (paths: readonly (readonly string[])[]) => paths.map((keys) => keys.join('.'));
  /** What a task seals, the parameters that it defines, and those of a job. */
  const sealings = fc.record(given).map(({ defined, job, sealed, open, all }) => ({
    seal: sealOf({ sealed: named(sealed), open: named(open) }, all),
    base: merge(defined),
    job,
  }));

  it('leaves every sealed parameter as it was defined', () => {
    const property = fc.property(sealings, ({ seal, job, base }) => {
      const changes = difference(job, base);
      expect(merge(base, changes)).toEqual(merge(base, job));
      const isRefused = [job, changes].every((given) => {
        const found = overridden(seal, given, base);
        return found !== undefined && isSealed(seal, found);
      });
      if (isRefused) return;
      const [before, after] = [leavesIn(base), leavesIn(merge(base, changes))];
      for (const field of new Set([...before.keys(), ...after.keys()])) {
        if (isSealed(seal, field) && !isAround(field, before, after)) {
          expect([field, after.get(field)]).toEqual([field, before.get(field)]);
        }
      }
    });
    fc.assert(property, runs(2_000));
  });

  it('has every sealed parameter, also those that were taken out', () => {
    const property = fc.property(sealings, ({ seal, job, base }) => {
      const own = merge(job);
      if (overridden(seal, own, base) !== undefined) return;
      const [before, after] = [leavesIn(base), leavesIn(withSealed(seal, own, base))];
      for (const [field, value] of before) {
        if (isWhollySealed(seal, field) && !isAround(field, before, after)) {
          expect([field, after.get(field)]).toEqual([field, value]);
        }
      }
      // Nothing else is changed.
      for (const [field, value] of leavesIn(own)) {
        if (value !== '{}') expect([field, after.get(field)]).toEqual([field, value]);
      }
    });
    fc.assert(property, runs(2_000));
  });

  /** The values of parameters that have nothing below them, as JSON, by field. */
  function leavesIn(root: object, above: readonly string[] = []): Map<string, string> {
    const found = Object.entries(root).flatMap(([name, one]: [string, unknown]) => {
      const keys = [...above, name];
      const isTree = typeof one === 'object' && one !== null && !Array.isArray(one);
      return isTree && Object.keys(one).length > 0
        ? [...leavesIn(one, keys)]
        : [[fieldOf(keys), JSON.stringify(one)] as const];
    });
    return new Map(found);
  }

  /** An object without keys that has some on the other side: these are compared. */
  function isAround(field: string, ...sides: readonly ReadonlyMap<string, string>[]): boolean {
    const [here, there] = sides.toSorted((a, b) => Number(b.has(field)) - Number(a.has(field)));
    const isBelow = (one: string): boolean => one.startsWith(`${field}.`);
    return here?.get(field) === '{}' && [...(there?.keys() ?? [])].some(isBelow);
  }
});

describe('references', () => {
  const doc = {
    type: 'task',
    name: 'a:b {{x}}',
    params: { list: [{ 'k.y': { $enc: enc } }], auth: { pass: enc } },
  };

  it('stand for every encrypted value and say where it stands', () => {
    const { params } = withReferences('task', doc);
    const found = [...secretsIn(params)].map(([field, text]) => [field, readReference(text)]);
    const of = { kind: 'task', owner: 'DEFAULT', name: doc.name };
    expect(found).toEqual([
      ['list.0.k%2Ey', { ...of, field: 'params.list.0.k%2Ey' }],
      ['auth.pass', { ...of, field: 'params.auth.pass' }],
    ]);
    expect(JSON.stringify(params)).not.toMatch(/tws:v2|\{\{/);
  });

  it('that somebody wrote by hand are told with their path', () => {
    const forged = { params: { list: ['tws:secret:task:o:t:params.x'] } };
    expect(handWritten(forged).map(({ path }) => path)).toEqual(['params.list[0]']);
    expect(handWritten(doc)).toEqual([]);
  });

  it.each([1, 'x', 'tws:secret:job:o:n:f', 'tws:secret:task:o:n:', null])('are not %j', (value) => {
    expect([isReference(value), readReference(value)]).toEqual([false, undefined]);
  });

  it('survive what is no percent-encoding, and lone surrogates', () => {
    expect(readReference('tws:secret:task:%:n:f')).toBeUndefined();
    expect(keysOf('a.%.b')).toEqual(['a', '%', 'b']);
    expect(keysOf(fieldOf(['a.b', 1, '\uD800']))).toEqual(['a.b', '1', '\uFFFD']);
  });
});
