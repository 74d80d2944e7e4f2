import { describe, expect, it } from 'vitest';
import { handWritten, secretsIn, withReferences } from '../../src/model/encrypted-values.js';
import { isSealed, overridden, sealOf } from '../../src/model/sealing.js';
import { fieldOf, isReference, keysOf, readReference } from '../../src/model/secret-reference.js';

const enc = 'tws:v2:aaaaaaaa:bbbbbbbbbbbbbbbb:cccccccccccccccccccccc:dd';

describe('overridden', () => {
  const task = { params: { url: 'u', smtp: { host: 'h', tls: { a: 1 } }, list: [{ a: 1 }] } };
  const secret = { params: { ...task.params, token: enc } };

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
