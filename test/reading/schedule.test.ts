import { expect, it } from 'vitest';
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
