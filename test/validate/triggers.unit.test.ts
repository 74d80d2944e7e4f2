import { describe, expect, it } from 'vitest';
import { ownProblems } from '../../src/pages/editor/own-check.js';
import { documentProblems } from '../../src/validate/single.js';

const flow = { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: [{ delay: 1 }] };

describe('on of a flow', () => {
  it.each<[unknown, string, string]>([
    [{ event: 'paid', when: 'x' }, 'on.when', 'on.when must be left out: there can be only event,'],
    [[{ key: 'x' }], 'on[0].event', 'on[0].event is missing.'],
    [
      { event: 'paid', batch: { size: 0, period: 'PT1M' } },
      'on.batch.size',
      'on.batch.size must be a number of events (a whole number from 1 to 1000)',
    ],
    [
      [{ event: 'paid', debounce: { period: 1_000 }, batch: { size: 2, period: 1_000 } }],
      'on[0].batch',
      'on[0].batch must be left out beside "debounce"',
    ],
    [
      'paid',
      'on',
      'on must be {event, key, match, params, debounce, batch}, or a list of such objects',
    ],
  ])(
    'is refused by push, the API and the editor where it is not valid: %j',
    (on, path, message) => {
      const found = { path, message: expect.stringContaining(message) as string };
      expect(documentProblems({ ...flow, on })).toMatchObject([found]);
      expect(ownProblems('flow', { ...flow, on })).toMatchObject([found]);
    },
  );

  it.each(['match', 'params'])('is refused where %s is no JSONata', (key) => {
    expect(documentProblems({ ...flow, on: { event: 'paid', [key]: '(' } })).toMatchObject([
      {
        path: `on.${key}`,
        message: expect.stringContaining(`on.${key} is no valid JSONata:`) as string,
      },
    ]);
  });

  it.each(['debounce', 'batch'])('is refused where the key of %s is no JSONata', (by) => {
    const gathers = { period: 'PT1M', key: '(', ...(by === 'batch' && { size: 3 }) };
    expect(documentProblems({ ...flow, on: [{ event: 'paid', [by]: gathers }] })).toMatchObject([
      {
        path: `on[0].${by}.key`,
        message: expect.stringContaining('is no valid JSONata') as string,
      },
    ]);
    const on = { event: 'paid', key: '(', [by]: { ...gathers, key: 'event.data.id' } };
    expect(documentProblems({ ...flow, on })).toEqual([]);
  });

  it('is taken where it is valid; what looks like a template there is none', () => {
    const params = '{"a": "{{" & event.key}';
    const on = [{ event: 'paid', key: '7', match: 'event.data.sum > 1', params }];
    expect(documentProblems({ ...flow, on })).toEqual([]);
    expect(ownProblems('flow', { ...flow, on })).toEqual([]);
  });

  it('counts towards the length of all expressions', () => {
    const on = { event: 'paid', match: `"${'x'.repeat(100_001)}"` };
    expect(documentProblems({ ...flow, on })).toMatchObject([
      {
        path: 'on.match',
        message: 'The expressions must not be longer than 100000 characters together.',
      },
    ]);
  });
});

describe('the result of what finishes a flow', () => {
  it('is refused where it is no valid template', () => {
    const tasks = [{ finish: { result: { text: ['{{#if}'] } } }];
    const path = 'tasks[0].finish.result.text[0]';
    expect(documentProblems({ ...flow, tasks })).toMatchObject([
      { path, message: expect.stringContaining(`${path} is no valid template:`) as string },
    ]);
  });
});
