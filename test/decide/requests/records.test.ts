import { describe, expect, it } from 'vitest';
import { command } from '../../../src/decide/requests/command.js';
import { withEdits } from '../../../src/decide/requests/edits.js';
import {
  isRecordOf,
  mayBeDropped,
  mostRecords,
  nextNumber,
  revisionOf,
  withRecord,
} from '../../../src/decide/requests/records.js';
import type { Job } from '../../../src/model/job.js';
import { flow, liveJob, t0 } from '../../support/builders.js';

const live = liveJob(flow(['a']));
const note = (i: number) => ({ id: `n${i}`, action: 'note', at: t0 + i });
const full = (first: readonly object[] = []) => [
  ...first,
  ...Array.from({ length: mostRecords - first.length }, (_, i) => note(i)),
];

describe('a job with very many requests on record', () => {
  it.each(['cancel', 'pause', 'resume', 'note'] as const)(
    'Q1: takes a %s all the same',
    (action) => {
      const job = { ...live, requests: full() } as Job;
      const request = { _id: 'r', type: 'request', job: 'j', action, text: 'x' } as const;
      const taken = command(job, request, t0 + 9);
      if (taken.kind !== 'applied') throw new Error(taken.kind);
      const { requests = [], problems } = taken.job as typeof live;
      expect(requests).toHaveLength(mostRecords);
      expect([requests[0], requests.at(-1)]).toMatchObject([{ id: 'n1' }, { id: 'r', action }]);
      const message = `requests: only the last ${mostRecords} are kept; older ones were left out.`;
      expect(problems).toEqual([{ path: 'requests', message }]);
      // It is said once.
      expect(withRecord(taken.job, note(0))).toMatchObject({ problems: [{ message }] });
    },
  );

  it('Q2: keeps what tells whether it is paused or cancelled', () => {
    const pause = { id: 'p', action: 'pause', at: 1 };
    const cancel = { id: 'c', action: 'cancel', at: 2 };
    const refused = { id: 'q', action: 'resume', refused: 'no', at: 3 };
    const wished = { ...live, paused: true, cancel: {}, requests: full([pause, cancel, refused]) };
    const { requests } = withRecord(wished, note(-1));
    expect(requests.slice(0, 3)).toEqual([pause, cancel, note(0)]);
    // No edit is found where there is none.
    expect(withEdits({ ...wished, requests }, t0)).toHaveProperty('requests', requests);
  });

  it('reads what stands there instead of a list', () => {
    expect(withRecord({ requests: 'none', problems: 'none' }, note(1))).toMatchObject({
      requests: [note(1)],
    });
  });

  it.each([
    [false, note(-1), full().slice(1)],
    [true, note(-1), full()],
    [false, note(7), full()],
    [false, note(-1), full().map(() => 'none')],
  ])('may have dropped a record: %s', (is, record, requests) => {
    expect(mayBeDropped(record, requests)).toBe(is);
  });
});

it.each([
  [0, []],
  [2, ['none', { id: 'x' }]],
  [8, [{ id: 'edit:pause:7' }, { id: 'retry:3' }, { id: 'edit:pause:4-x' }]],
])('the next number is %d', (number, records) => {
  expect(nextNumber(records)).toBe(number);
});

it.each([
  [{}, undefined],
  [{}, '1-a'],
  [{}, 'none'],
  [{ revision: 3 }, '3-c'],
])('Q3: a message is told from others of its id by %j', (told, _rev) => {
  expect(revisionOf({ _id: 'm', _rev })).toEqual(told);
  expect(isRecordOf({ id: 'm', ...told }, { _id: 'm', _rev })).toBe(true);
  expect(isRecordOf({ id: 'm', revision: 9 }, { _id: 'm', _rev })).toBe(false);
  expect(isRecordOf(undefined, { _id: 'm', _rev })).toBe(false);
});
