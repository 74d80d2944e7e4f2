import { describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/validate/document.js';
import { ownProblems } from '../../src/pages/editor/own-check.js';

describe('the check without the server', () => {
  it.each<readonly ['flow' | 'task' | 'job', Record<string, unknown>]>([
    ['flow', { type: 'flow', name: 'f', owner: 'o', tasks: ['a', { task: 7 }] }],
    ['flow', { type: 'flow', name: '', tasks: [{ parallel: [], join: 'none' }] }],
    ['flow', { type: 'flow', name: 'f', owner: 'o', tasks: {}, timeout: 'long', retry: -1 }],
    ['task', { type: 'task', name: 'a::b', plugin: 'x', flow: 'y' }],
    ['job', { type: 'job', priority: 1_000 }],
    ['flow', { type: 'flow', name: 'f', owner: 'o', tasks: ['a'] }],
  ])('says of a %s what the server says of its form', (kind, document) => {
    const server = checkDocument('', document).map(({ path, message }) => ({ path, message }));
    expect(ownProblems(kind, document)).toEqual(server);
  });

  it('takes a document whose type goes without saying, and no other type', () => {
    expect(ownProblems('task', { name: 'a' })).toEqual([]);
    expect(ownProblems('task', { type: 'flow', name: 'a' })).toMatchObject([{ path: 'type' }]);
    for (const value of [null, [], 'x', 1]) {
      expect(ownProblems('flow', value)).toMatchObject([{ path: '' }]);
    }
  });
});
