import { describe, expect, it } from 'vitest';
import {
  insteadOfDeprecated,
  isDeprecated,
  isTurnedAway,
  keysNotDeclared,
} from '../../src/model/welcome.js';

describe('a deprecated flow', () => {
  it.each<[unknown, boolean, string]>([
    [true, true, ''],
    ['Use "b".', true, 'Use "b".'],
    [' ', false, ''],
    [false, false, ''],
    [undefined, false, ''],
    [7, false, ''],
  ])('is one with %j: %s', (deprecated, is, instead) => {
    expect(isDeprecated({ deprecated })).toBe(is);
    expect(insteadOfDeprecated({ deprecated })).toBe(instead);
  });

  // Shows A-10.
  it.each<[string, object, boolean]>([
    ['a new job', {}, true],
    ['a child job', { parent: { job: 'j', step: '0' } }, false],
    ['a job that another one goes on as', { continued_from: 'j' }, false],
  ])('turns away %s: %#', (_what, job, is) => {
    expect(isTurnedAway({ deprecated: true }, { ...job })).toBe(is);
    expect(isTurnedAway({}, { ...job })).toBe(false);
  });
});

describe('the search keys of a job', () => {
  // Shows A-12.
  it.each<[unknown, unknown, readonly string[]]>([
    [['a', 'b'], { a: 1, b: 2 }, []],
    [['a'], { a: 1, c: 2 }, ['keys.c']],
    [[], { a: 1 }, ['keys.a']],
    [undefined, { a: 1 }, []],
    [['a'], undefined, []],
    [['a'], 'text', []],
  ])('with %j declared, %j: not declared are %j', (keys, given, paths) => {
    const found = keysNotDeclared({ name: 'f', keys }, { keys: given });
    expect(found.map(({ path }) => path)).toEqual(paths);
  });

  it('are told with those that are declared', () => {
    const [one] = keysNotDeclared({ name: 'f', keys: ['a', 'b'] }, { keys: { c: 1 } });
    const [none] = keysNotDeclared({ name: 'f', keys: [] }, { keys: { c: 1 } });
    expect(one?.message).toBe('keys.c is not declared in "keys" of flow "f": it has a, b.');
    expect(none?.message).toBe('keys.c is not declared in "keys" of flow "f": it declares none.');
  });
});
