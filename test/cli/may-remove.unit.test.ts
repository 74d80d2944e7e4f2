import { expect, it } from 'vitest';
import { mayRemove, type PruneFacts } from '../../src/cli/may-remove.js';

const stored = { _id: 'task:DEFAULT:a', type: 'task', name: 'a', pushed_from: 'mine' };
const facts: PruneFacts = {
  ...{ project: 'mine', kinds: ['task', 'flow'], owner: undefined },
  ...{ held: [], keptIds: new Set<string>() },
};
const file = { type: 'task', name: 'a' };

const flowOf = (version: unknown) => ({ type: 'flow', name: 'a', owner: 'me', version });

it.each<[string, object, Partial<PruneFacts>, boolean]>([
  ['that this project brought and no file holds', {}, {}, true],
  ['of any owner, as the project brought it', { owner: 'ada' }, {}, true],
  ['of the owner that is pruned', { owner: 'ada' }, { owner: 'ada' }, true],
  ['of the usual owner, who is pruned', {}, { owner: 'DEFAULT' }, true],
  ['of another owner', { owner: 'eve' }, { owner: 'ada' }, false],
  ['of another project', { pushed_from: 'theirs' }, {}, false],
  ['that nobody pushed', { pushed_from: undefined }, {}, false],
  ['of a kind that is not pruned', {}, { kinds: ['flow'] }, false],
  ['under whose id a file is stored', {}, { keptIds: new Set(['task:DEFAULT:a']) }, false],
  ['that a file holds by name', {}, { held: [file] }, false],
  ['that a file holds with the usual owner', {}, { held: [{ ...file, owner: 'DEFAULT' }] }, false],
  ['that a file holds by id', { name: 'b' }, { held: [{ ...file, _id: 'task:DEFAULT:a' }] }, false],
  ['whose name a file of another owner has', {}, { held: [{ ...file, owner: 'ada' }] }, true],
  ['whose name a file of another kind has', {}, { held: [{ ...file, type: 'flow' }] }, true],
  ['that is a flow of another version than the file', flowOf('1'), { held: [flowOf('2')] }, true],
  ['that is a flow of the version of a file', flowOf(1), { held: [flowOf('1')] }, false],
])('a document %s is judged by --prune', (_title, doc, more, isRemoved) => {
  expect(mayRemove({ ...stored, ...doc }, { ...facts, ...more })).toBe(isRemoved);
});
