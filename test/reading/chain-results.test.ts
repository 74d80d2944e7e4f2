import { describe, expect, it } from 'vitest';
import { chainResultsOf } from '../../src/reading/chain-results.js';

const step = (path: string, more: object) => ({ path, name: `n${path}`, run: 1, ...more });
const at = { start: 1_000, end: 2_000 };
const times = { started_at: '1970-01-01T00:00:01.000Z', finished_at: '1970-01-01T00:00:02.000Z' };
const failure = { name: 'Bad', message: 'It is bad.' };

describe('the results of the chains of a job', () => {
  const rows: readonly [string, readonly object[], readonly object[]][] = [
    ['of no steps', [], []],
    [
      'of a result',
      [step('0', { state: '$$complete', result: 'good', ...at })],
      [{ name: 'n0', result: 'good', error: '', ...times }],
    ],
    ['of no result', [step('0', { state: '$$complete' })], [{ name: 'n0', result: '', error: '' }]],
    [
      'of a task that waits',
      [step('0', { state: '$$waiting', start: 1_000, since: 2_000 })],
      [{ name: 'n0', result: 'OK', error: 'wait', ...times }],
    ],
    ['of a task left out', [step('0', { state: '$$skipped' })], [{ result: '', error: '' }]],
    ['of one that is claimed', [step('0', { state: '$$ready' })], []],
    ['of one that runs', [step('0', { state: '$$active', start: 1_000 })], []],
    ['of one that is tried again', [step('0', { state: '$$error', failure, due: 3_000 })], []],
    [
      'of the last attempt',
      [
        step('0', { state: '$$error', failure, due: 3_000 }),
        step('0', { state: '$$complete', result: 1, ...at }),
      ],
      [{ result: 1, error: '', ...times }],
    ],
    [
      'of one that failed',
      [step('0', { state: '$$error', failure, ...at })],
      [{ name: 'n0', result: '', error: 'It is bad.', ...times }],
    ],
    ['of one without a failure', [step('0', { state: '$$timeout' })], [{ error: '' }]],
    [
      'of one whose fallback goes on',
      [step('0', { state: '$$timeout', failure, ...at }), step('0.error', { state: '$$active' })],
      [{ result: '', error: 'It is bad.', ...times }],
    ],
    [
      'of one that its fallback recovered',
      [
        step('0', { state: '$$error', failure, start: 1_000, end: 1_500 }),
        step('0.error', { state: '$$complete', result: 'well', end: 2_000 }),
      ],
      [{ name: 'n0', result: 'well', error: '', ...times }],
    ],
    [
      'of one whose fallback says nothing',
      [step('0', { state: '$$cancelled', failure }), step('0.error', { state: '$$complete' })],
      [{ result: '', error: '' }],
    ],
    [
      'of one whose fallback failed, too',
      [
        step('0', { state: '$$error', failure }),
        step('0.error', { state: '$$error', failure: { message: 'Worse.' } }),
      ],
      [{ result: '', error: 'Worse.' }],
    ],
  ];
  it.each(rows)('%s', (_, steps, chain) => {
    const results = chainResultsOf({ steps });
    expect(results.chain).toHaveLength(chain.length);
    expect(results).toMatchObject({ chain, onerror: [], oncancel: [] });
  });

  it('are told apart, and begin with the job that began anew', () => {
    const done = { state: '$$complete', result: 1 };
    const steps = [
      step('0', { ...done, run: 1 }),
      step('1', { ...done, run: 2 }),
      step('error.0', { ...done, run: 2 }),
      step('error', { ...done, run: 2 }),
      step('cancel.0', { ...done, run: 2 }),
      step('1', { ...done, run: 2, path: 7 }),
    ];
    const { chain, onerror, oncancel } = chainResultsOf({ steps, first_run: 2 });
    expect([chain, onerror, oncancel].map((all) => all.map(({ name }) => name))).toEqual([
      ['n1'],
      ['nerror.0', 'nerror'],
      ['ncancel.0'],
    ]);
  });

  it.each([{}, { steps: 7 }])('of a document without steps are none (%j)', (job) => {
    expect(chainResultsOf(job)).toEqual({ chain: [], onerror: [], oncancel: [] });
  });
});
