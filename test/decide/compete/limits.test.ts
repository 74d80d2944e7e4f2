import { describe, expect, it } from 'vitest';
import {
  distinct,
  keyedLimit,
  limitsOfFlow,
  limitsOfTask,
  readLimitKey,
  shownKey,
  type Limit,
} from '../../../src/decide/compete/limits.js';
import { referenceText } from '../../../src/model/secret-reference.js';
import { inTurns } from '../../../src/decide/compete/turns.js';

const secret = { kind: 'task', owner: 'me', name: 't', field: 'a' } as const;
const hash = (text: string): string => `#${text.length}`;
const limit: Limit = { at: 'concurrency', identity: 'i', title: 't', most: 2, strategy: 'queue' };

describe('the limits of a definition', () => {
  it('are max_running, under the name it always had, and those of concurrency', () => {
    const flow = { name: 'f', owner: 'me', max_running: 3, concurrency: { limit: 2 } };
    expect(limitsOfFlow(flow)).toEqual([
      {
        ...{ at: 'max_running', identity: 'f::me', title: '"max_running" of flow f', most: 3 },
        strategy: 'queue',
      },
      {
        ...{
          at: 'concurrency',
          identity: '["me","flow","f",0]',
          title: 'the limit of flow f',
          most: 2,
        },
        strategy: 'queue',
      },
    ]);
  });

  it('are one limit over flows and tasks where they have one name and owner', () => {
    const concurrency = [{ limit: 1 }, { name: 'x', limit: 2, key: 'params.a' }];
    const [, ofFlow] = limitsOfFlow({ name: 'f', owner: 'me', concurrency });
    const [first, ofTask] = limitsOfTask({ name: 't', owner: 'me', concurrency });
    expect(ofTask).toEqual(ofFlow);
    expect(ofTask).toMatchObject({ at: 'concurrency[1]', key: 'params.a', title: 'limit x' });
    expect(first).toMatchObject({ identity: '["me","task","t",0]', title: 'limit 1 of task t' });
    const [, ofNobody] = limitsOfTask({ name: 't', concurrency });
    expect(ofNobody?.identity).toBe('["DEFAULT","x"]');
  });

  it('are none where there is no such field', () => {
    expect(limitsOfFlow({ name: 'f' })).toEqual([]);
  });
});

describe('a limit whose key is known', () => {
  const keyed = { ...limit, key: 'k' };

  it.each<[string, Limit, unknown, Record<string, unknown>]>([
    ['has no value without a key', limit, null, { key: 'limit i null', title: 't' }],
    [
      'has permits for each value',
      keyed,
      'a',
      { key: 'limit i "a"', value: '"a"', title: 't for "a"' },
    ],
    [
      'has the same for objects that differ in the order of their keys',
      ...([keyed, { b: 1, a: 2 }] as const),
      { key: 'limit i #13', value: '#13', title: 't for hash #13' },
    ],
    [
      'shares its permits over all values where they take turns',
      ...([{ ...keyed, strategy: 'round_robin' }, 'a'] as const),
      { key: 'limit i', value: '"a"' },
    ],
    [
      'has a hash for a long value',
      ...([keyed, 'x'.repeat(600)] as const),
      { key: 'limit i #602', value: '#602', title: 't for hash #602' },
    ],
    ['has a hash for a list', keyed, ['a'], { value: '#5' }],
    ['has a hash for what is encrypted', keyed, referenceText(secret), { value: '#24' }],
    [
      'has a hash for a long identity',
      ...([{ ...keyed, identity: 'i'.repeat(600) }, 'a'] as const),
      { key: '#610', value: '"a"' },
    ],
    ['keeps the name of max_running', { ...limit, at: 'max_running' }, null, { key: 'i' }],
    ['takes what JSON cannot say for null', keyed, undefined, { key: 'limit i null' }],
  ])('%s', (_title, of, value, expected) => {
    expect(keyedLimit(of, value, hash)).toMatchObject(expected);
  });

  it('counts once, with the lowest number, where a definition has it twice', () => {
    const [a, b, c] = [2, 1, 1].map((most) => ({ ...keyedLimit(limit, null, hash), most }));
    const other = keyedLimit({ ...limit, identity: 'o' }, null, hash);
    expect(distinct([a, b, c, other].flatMap((one) => one ?? []))).toEqual([b, other]);
  });
});

describe('the keys of a limit with round_robin', () => {
  const line = (text: string) => [...text].map((value, i) => ({ value, name: `${value}${i}` }));
  const order = (text: string, holders = '', served: Record<string, number> = {}): string =>
    inTurns(line(text), {
      holders: [...holders],
      served: new Map(Object.entries(served)),
    })
      .map(({ name }) => name)
      .join(' ');

  // Shows X-19.
  it.each<[string, string, string]>([
    ['one after the other', order('aaabbc'), 'a0 b3 c5 a1 b4 a2'],
    ['first the one that has the fewest permits', order('aab', 'aab'), 'b2 a0 a1'],
    ['then the one that was served the longest ago', order('aab', '', { a: 5, b: 9 }), 'a0 b2 a1'],
    ['one that was never served before all others', order('ab', '', { a: 5 }), 'b1 a0'],
    ['in the order in which they came else', order('ba'), 'b0 a1'],
    ['nobody where nobody waits', order(''), ''],
  ])('get permits: %s', (_title, found, expected) => {
    expect(found).toBe(expected);
  });

  it('are ordered as far as there can be permits, those without a value together', () => {
    const many = Array.from({ length: 1_100 }, (_, name) => ({ value: undefined, name }));
    const ordered = inTurns(many, { holders: [], served: new Map() });
    expect(ordered.map(({ name }) => name)).toEqual(many.map(({ name }) => name));
  });
});

describe('the key of a limit, read', () => {
  const concurrency = [{ limit: 1 }, { name: 'x "y', limit: 2, key: 'k' }];
  const [ofTask, shared] = limitsOfTask({ name: 'a limit [', owner: 'o', concurrency });
  const turns = { name: 'n', limit: 2, key: 'k', strategy: 'round_robin' } as const;
  const [inTurn] = limitsOfFlow({ name: 'f', concurrency: turns });
  const [running] = limitsOfFlow({ name: 'limit ["a","b"]', owner: 'o', max_running: 1 });

  it.each([
    ['of a task', ofTask, null, { of: 'task', name: 'a limit [', owner: 'o', at: 0 }],
    ['with a name', shared, 'a b', { of: 'name', name: 'x "y', owner: 'o', at: 0 }],
    ['with a long value', shared, 'v'.repeat(99), { of: 'name', name: 'x "y', owner: 'o', at: 0 }],
    ['with turns', inTurn, 'a', { of: 'name', name: 'n', owner: 'DEFAULT', at: 0 }],
    [
      'of a flow',
      running,
      null,
      { of: 'flow', name: 'limit ["a","b"]', owner: 'o', at: 'max_running' },
    ],
  ])('tells what has it: %s', (_title, of, given, expected) => {
    const { key, value } = keyedLimit(of as Limit, given, hash);
    expect(readLimitKey(key, value)).toEqual(expected);
  });

  it('tells nothing where it is a hash', () => {
    expect(readLimitKey('lock:abc')).toBeUndefined();
  });

  it.each([
    ['"a"', '"a"'],
    ['-1', '-1'],
    ['null', 'null'],
    [`lock:${'ab'.repeat(32)}`, 'hash abababababab'],
  ])('shows the value %s as %s', (text, shown) => {
    expect(shownKey(text)).toBe(shown);
  });
});
