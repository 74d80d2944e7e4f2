import { describe, expect, it } from 'vitest';
import { changesBetween, pathText } from '../../../src/cli/pull/json-changes.js';
import { withChanges } from '../../../src/cli/write-back.js';

describe('changes of a text', () => {
  it.each([
    ['a value', { a: 1, b: [1, 2] }, { a: 2, b: [1, 2] }, ['a']],
    ['an entry of a list', { b: [{ c: 1 }, 2] }, { b: [{ c: 3 }, 2] }, ['b[0].c']],
    ['a list of another length', { b: [1] }, { b: [1, 2] }, ['b']],
    ['a key more and one less', { a: 1 }, { b: 1 }, ['a', 'b']],
    ['an object in place of a list', { a: [] }, { a: {} }, ['a']],
    ['nothing', { a: { b: [1] } }, { a: { b: [1] } }, []],
  ])('of %s are as small as they can be', (_title, from, to, paths) => {
    const changes = changesBetween(from, to);
    expect(changes.map(({ path }) => pathText(path))).toEqual(paths);
    expect(JSON.parse(withChanges(JSON.stringify(from), changes))).toEqual(to);
  });

  it('leave a file of one line on one line', () => {
    const changes = [
      { path: ['a'], value: 2 },
      { path: ['timeout'], value: { b: 9 } },
    ];
    const changed = withChanges('{"type": "task", "a": 1}\n', changes);
    expect(changed.trim()).not.toContain('\n');
    expect(JSON.parse(changed)).toEqual({ type: 'task', a: 2, timeout: { b: 9 } });
  });

  it('leave the rest as it is written', () => {
    const text =
      '{\n\t"type": "task", "name": "a",\n\t"params": { "to":   "x" },\n\t"retry": 1\n}\n';
    const changes = [
      { path: ['params', 'to'], value: 'y' },
      { path: ['timeout'], value: 9 },
    ];
    expect(withChanges(text, changes)).toBe(
      '{\n\t"type": "task", "name": "a",\n\t"params": { "to":   "y" },\n\t"retry": 1,\n\t"timeout": 9\n}\n',
    );
  });
});
