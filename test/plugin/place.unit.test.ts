import { expect, it } from 'vitest';
import { errorPlace } from '../../src/plugin/place.js';

const withStack = (...frames: string[]): Error =>
  Object.assign(new Error('no'), { stack: ['Error: no', ...frames].join('\n') });

it.each([
  ['a module', ['    at load (file:///p/plugins/load.mjs?v=1:12:9)'], 'plugins/load.mjs:12'],
  ['a file', ['    at /p/lib/a.cjs:3:1'], 'lib/a.cjs:3'],
  [
    'the first frame that is of the project',
    [
      '    at node:internal/x:1:1',
      '    at f (/p/node_modules/q/i.js:1:2)',
      '    at async g (/p/plugins/b.js:7:2)',
    ],
    'plugins/b.js:7',
  ],
  ['nothing of another folder', ['    at f (/other/x.js:1:1)'], undefined],
])('the place of an error is %s', (_title, frames, place) => {
  expect(errorPlace(withStack(...frames), '/p')).toBe(place);
});

it('nothing else has a place', () => {
  expect(errorPlace('text', '/p')).toBeUndefined();
  expect(errorPlace(Object.assign(new Error('x'), { stack: undefined }), '/p')).toBeUndefined();
});
