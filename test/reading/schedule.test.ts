import { expect, it } from 'vitest';
import { parseDocument } from '../../src/reading/parse.js';
import { scheduleStatus } from '../../src/reading/schedule.js';

const problems = [{ path: 'cron', message: 'cron is wrong.' }];

it.each<readonly [string, string, Readonly<Record<string, unknown>>]>([
  ['new', 'no engine has read', {}],
  ['new', 'somebody has edited', { progress: { edition: 2 }, next_due: 5 }],
  ['active', 'has a next slot', { progress: { edition: 3 }, next_due: 5, problems: [] }],
  ['paused', 'is paused', { progress: { edition: 3 }, paused: true }],
  ['invalid', 'cannot be followed', { progress: { edition: 3 }, problems }],
  ['ended', 'has no further slot', { progress: { edition: 3 } }],
])('is %s for a schedule that %s', (status, _title, doc) => {
  expect(scheduleStatus({ _rev: '3-a', ...doc })).toBe(status);
});

const schedule = { _id: 'schedule:me:s', _rev: '1-a', type: 'schedule', name: 's', flow: 'f' };

it('reads a schedule document', () => {
  expect(parseDocument({ ...schedule, every: 1_000 })).toMatchObject({
    ...{ kind: 'schedule', ok: true, value: { every: 1_000 } },
  });
  expect(parseDocument(schedule)).toMatchObject({ ok: false, problems: [{ path: 'cron' }] });
});

it('refuses a secret in a schedule, which no job could open', () => {
  const params = { pay: { key: 'tws:v2:a:b:c' } };
  expect(parseDocument({ ...schedule, every: 1_000, params })).toMatchObject({
    ok: false,
    problems: [
      {
        path: 'params.pay.key',
        message: expect.stringContaining('put it into the task') as string,
      },
    ],
  });
});
