import { describe, expect, it } from 'vitest';
import {
  namedSecretsIn,
  encryptedIn,
  secretsIn,
  handWritten,
  withReferences,
} from '../../src/model/encrypted-values.js';
import {
  fieldsOfSecret,
  readNamedSecret,
  secretSchema,
  valueField,
  secretValue,
} from '../../src/model/named-secret.js';
import { guardRefusal } from '../../src/guard.js';

describe('the name of a secret', () => {
  it.each<[unknown, unknown]>([
    [{ $secret: 'mail' }, { name: 'mail' }],
    [{ $secret: 'mail.pass' }, { name: 'mail', field: 'pass' }],
    [{ $secret: 'mail.pass.more' }, undefined],
    [{ $secret: 'mail.' }, undefined],
    [{ $secret: '.pass' }, undefined],
    [{ $secret: '' }, undefined],
    [{ $secret: 'a b' }, undefined],
    [{ $secret: '__proto__' }, undefined],
    [{ $secret: 5 }, undefined],
    [{ $secret: 'mail', more: 1 }, undefined],
    ['mail', undefined],
    [null, undefined],
    [[], undefined],
  ])('%j is read as %j', (value, named) => {
    expect(readNamedSecret(value)).toEqual(named);
  });

  it('becomes a reference to its place in what engines know of a task', () => {
    const doc = {
      ...{ type: 'task', name: 'send', owner: 'me' },
      params: { to: 'a', auth: { pass: { $secret: 'mail.pass' } }, list: [{ $secret: 'x' }] },
    };
    expect(withReferences('task', doc).params).toEqual({
      to: 'a',
      auth: { pass: 'tws:secret:task:me:send:params.auth.pass' },
      list: ['tws:secret:task:me:send:params.list.0'],
    });
    expect([...namedSecretsIn(doc).keys()]).toEqual(['params.auth.pass', 'params.list.0']);
    expect([...secretsIn(doc.params).keys()]).toEqual(['auth.pass', 'list.0']);
    expect(encryptedIn(doc).size).toBe(0);
  });

  it.each<[unknown, string]>([
    [{ $secret: 'a b' }, 'params.x must name a secret, as {"$secret": "name"}'],
    [{ $secret: 7 }, 'it is 7.'],
    [{ $secret: 'a', b: 1 }, 'must have no other key beside "$secret"; it has the string "b".'],
  ])('that is wrong is told of a definition: %j', (x, sentence) => {
    const [problem] = handWritten({ params: { x } });
    expect(problem?.path).toBe('params.x');
    expect(problem?.message).toContain(sentence);
  });
});

const doc = {
  ...{ _id: 'secret:me:mail', type: 'secret', name: 'mail', owner: 'me' },
  ...{ value: 'tws:v2:a', values: { pass: 'tws:v2:b', clear: 'text' } },
};

describe('a value of a secret', () => {
  it.each<[string, unknown, object | undefined, string, string | undefined]>([
    ['its only value', { kind: 'there', text: 'tws:v2:a' }, doc, 'me', undefined],
    ['a field', { kind: 'there', text: 'tws:v2:b' }, doc, 'me', 'pass'],
    ['a field that it does not have', { kind: 'absent' }, doc, 'me', 'user'],
    ['a field of every object', { kind: 'absent' }, doc, 'me', 'constructor'],
    ['a clear text', { kind: 'unfit' }, doc, 'me', 'clear'],
    ['no document', { kind: 'absent' }, undefined, 'me', 'pass'],
    ['another owner', { kind: 'unfit' }, doc, 'you', 'pass'],
    ['another type', { kind: 'unfit' }, { ...doc, type: 'task' }, 'me', 'pass'],
    ['values that are none', { kind: 'absent' }, { ...doc, values: 1 }, 'me', 'pass'],
  ])('%s: %j', (_name, expected, stored, owner, field) => {
    const named = field === undefined ? { name: 'mail' } : { name: 'mail', field };
    expect(secretValue(stored as Record<string, unknown> | undefined, owner, named)).toEqual(
      expected,
    );
  });

  it('is bound to the field that it stands in', () => {
    expect(valueField({ name: 'mail' })).toBe('value');
    expect(valueField({ name: 'mail', field: 'pass' })).toBe('values.pass');
    expect(fieldsOfSecret(doc)).toEqual(['', 'pass', 'clear']);
    expect(fieldsOfSecret({})).toEqual([]);
  });
});

describe('the document of a secret', () => {
  const { values: _values, ...good } = doc;
  it.each<[string, object, RegExp | undefined]>([
    ['with one value', good, undefined],
    ['without an owner', { ...good, _id: 'secret:DEFAULT:mail', owner: undefined }, undefined],
    ['with fields', { ...good, values: { pass: 'tws:v2:b' } }, undefined],
    ['with a field in clear', doc, /"values\.clear" of a secret must be encrypted/],
    ['with a value in clear', { ...good, value: 'text' }, /"value" of a secret must be encrypted/],
    ['with an older value', { ...good, value: 'tws:v1:x' }, /must be encrypted/],
    ['with values that are none', { ...good, values: 1 }, /must be an object/],
    ['with another id', { ...good, _id: 'mail' }, /must be "secret:me:mail"/],
    ['without a name', { ...good, name: '' }, /needs a "name"/],
    ['with an owner that is none', { ...good, owner: 1 }, /must be a text/],
  ])('%s is judged by the guard', (_name, stored, refusal) => {
    const sentence = guardRefusal(JSON.parse(JSON.stringify(stored)), null);
    if (refusal === undefined) expect(sentence).toBeUndefined();
    else expect(sentence).toMatch(refusal);
  });

  it('has a schema that takes encrypted values only', () => {
    expect(secretSchema.safeParse({ ...good, values: { pass: 'tws:v2:b' } }).success).toBe(true);
    expect(secretSchema.safeParse(doc).success).toBe(false);
  });
});
