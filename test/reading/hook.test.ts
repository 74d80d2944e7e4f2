import { expect, it } from 'vitest';
import { hookCheckWord, hookPath, hookStatus } from '../../src/reading/hook.js';

const hook = (more: object = {}) => ({
  ...{ _id: 'h', _rev: '1-a', type: 'hook', name: 'push', flow: 'f', check: 'none' },
  ...more,
});

it.each([
  [{}, 'active'],
  [{ problems: [] }, 'active'],
  [{ enabled: false }, 'disabled'],
  [{ problems: [{ path: 'params', message: 'params is no valid JSONata.' }] }, 'invalid'],
  [{ check: 'all' }, 'invalid'],
  [{ flow: 'tws:secret:task:a:b:c' }, 'invalid'],
  [{ type: 'flow' }, 'invalid'],
])('a hook with %j is %s', (more, status) => {
  expect(hookStatus(hook(more))).toBe(status);
});

it.each([
  [{}, '/_tws/hooks/push'],
  [{ owner: 'me' }, '/_tws/hooks/push%3A%3Ame'],
  [{ name: 'check' }, '/_tws/hooks/check%3A%3ADEFAULT'],
  [{ name: 7 }, '/_tws/hooks/'],
])('the address of a hook with %j is %s', (more, path) => {
  expect(hookPath(hook(more))).toBe(path);
});

it.each([
  ['none', 'none'],
  [{ hmac: {} }, 'hmac'],
  [{ other: 1 }, '-'],
  [null, '-'],
  [7, '-'],
])('the check %j is called %s', (check, word) => {
  expect(hookCheckWord(hook({ check }))).toBe(word);
});
