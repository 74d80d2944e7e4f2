import { describe, expect, it } from 'vitest';
import { guardRefusal } from '../../src/guard.js';
import { handWritten, sensitiveIn, withReferences } from '../../src/model/encrypted-values.js';
import {
  isSubjectReference,
  readSensitive,
  sensitiveNamesIn,
  sensitiveNamesOf,
  valuesProblem,
} from '../../src/model/sensitive.js';

describe('the name of a sensitive value', () => {
  it.each<[unknown, string | undefined]>([
    [{ $sensitive: 'iban' }, 'iban'],
    [{ $sensitive: 'a b' }, undefined],
    [{ $sensitive: '' }, undefined],
    [{ $sensitive: 1 }, undefined],
    [{ $sensitive: 'iban', more: 1 }, undefined],
    ['iban', undefined],
    [null, undefined],
  ])('%j is read as %j', (value, name) => {
    expect(readSensitive(value)).toBe(name);
  });

  it('becomes a reference to its place in what engines know of a task', () => {
    const doc = { type: 'task', name: 'pay', params: { to: { $sensitive: 'iban' } } };
    expect(withReferences('task', doc).params).toEqual({
      to: 'tws:secret:task:DEFAULT:pay:params.to',
    });
    expect([...sensitiveIn(doc)]).toEqual([['params.to', ['iban']]]);
  });

  it.each<[unknown, readonly string[] | undefined]>([
    [
      'Dear {{$sensitive.name}}, {{#if $sensitive.iban}}paid{{/if}} {{$sensitive.name}}',
      ['name', 'iban'],
    ],
    ['{{{json ../$sensitive.a-b}}}', ['a-b']],
    ['{{@root.$sensitive.[name]}}', ['name']],
    ['{{json $sensitive}}', ['']],
    ['{{$sensitive.a$b}}', ['a']],
    ['{{$sensitive.', ['']],
    ['{{$sensitive_iban}} {{$sensitives.iban}}', undefined],
    ['$sensitive.iban {{results.a}}', undefined],
    ['{{results.a}}', undefined],
    [7, undefined],
  ])('in the tags of the template %j: %j', (text, names) => {
    expect(sensitiveNamesIn(text)).toEqual(names);
  });

  it('makes a template of a parameter a reference, and no other text of the task', () => {
    const text = 'Dear {{$sensitive.name}}';
    const doc = { type: 'task', name: 'pay', description: text, params: { a: [text, 'b'] } };
    expect(withReferences('task', doc)).toMatchObject({
      description: text,
      params: { a: ['tws:secret:task:DEFAULT:pay:params.a.0', 'b'] },
    });
    expect([...sensitiveIn(doc)]).toEqual([['params.a.0', ['name']]]);
  });

  it('that is wrong is told of a definition', () => {
    const [problem] = handWritten({ params: { x: { $sensitive: 'a b' } } });
    expect(problem?.message).toMatch(/^params\.x must name a sensitive value/);
  });

  it('is listed by the task that uses it', () => {
    expect(sensitiveNamesOf({ sensitive: ['iban', 1] })).toEqual(['iban']);
    expect(sensitiveNamesOf({})).toEqual([]);
  });
});

describe('values of a subject', () => {
  it.each<[unknown, RegExp | undefined]>([
    [{ iban: 'DE02' }, undefined],
    [{ iban: 'DE0' }, /must have 4 to 16384 characters/],
    [{ iban: 'x'.repeat(16_385) }, /must have 4 to 16384 characters/],
    [{ iban: 7 }, /"iban" must be a text/],
    [{ 'a b': 'text' }, /is no name of a value/],
    [{}, /not empty/],
    ['text', /not empty/],
  ])('%j: %s', (values, problem) => {
    if (problem === undefined) expect(valuesProblem(values)).toBeUndefined();
    else expect(valuesProblem(values)).toMatch(problem);
  });

  it('belong to a reference, which is no subject in clear', () => {
    expect(isSubjectReference(`s-${'A'.repeat(43)}`)).toBe(true);
    expect(isSubjectReference('maria')).toBe(false);
    expect(isSubjectReference(7)).toBe(false);
  });

  it('are refused by the guard in a job, unless they are stored already', () => {
    const job = { _id: 'j', type: 'job', flow: 'f', sensitive: { values: { iban: 'x' } } };
    expect(guardRefusal(job, null)).toMatch(/must not hold "sensitive" values/);
    expect(guardRefusal(job, job)).toBeUndefined();
    expect(guardRefusal({ ...job, sensitive: true }, null)).toBeUndefined();
  });
});
