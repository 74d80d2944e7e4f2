import { expect, it } from 'vitest';
import { answerReasons, stepReasons } from '../../src/client/step-reasons.js';

it('explains for whom a form waits, since when, and how it is answered', () => {
  const form = {
    title: 'Pay 17',
    assignee: ['ann'],
    due: 60_000,
    timers: [{ event: 'reminder', at: 30_000 }],
  };
  const step = { name: 'sign', path: '0', place: 0, attempt: 1, signal: 'sign', accepted: 0 };
  const seen = {
    job: { _id: 'j', steps: [{ state: '$$waiting', accepted: 0, name: 'sign', path: '0', form }] },
    now: 0,
    engines: [],
  };
  const found = stepReasons(seen as never, { running: [], waiting: [step] } as never);
  expect(found[0]?.because).toContain('Reminder 1970-01-01T00:00:30.000Z (in 30 s).');
  expect(found).toMatchObject([
    {
      because: expect.stringContaining(
        'Step "sign" waits for ann (Pay 17), due 1970-01-01T00:01:00.000Z, since 1970-01-01T00:00:00.000Z',
      ) as string,
      form: { people: 'ann', timers: [{ event: 'reminder', at: 30_000, messages: 0 }] },
      todo: 'Answer it by `tws answer j 0`, or in the inbox on the admin pages.',
    },
  ]);
});

it('explains who answered the last forms, how and with what', () => {
  const answered = { by: 'ann', at: 0, via: 'page' };
  const step = (n: number) => ({ name: `s${n}`, form: { answered }, result: { n } });
  const steps = [step(1), { name: 'a' }, step(2), step(3), step(4), { name: 'b', form: {} }];
  const told = answerReasons({ job: { _id: 'j', steps }, now: 0 } as never);
  expect(told.map(({ because }) => because)).toEqual([
    'Step "s2" was answered by ann at 1970-01-01T00:00:00.000Z (now) on the page of the job: {"n":2}. Before that, 1 form was answered.',
    'Step "s3" was answered by ann at 1970-01-01T00:00:00.000Z (now) on the page of the job: {"n":3}.',
    'Step "s4" was answered by ann at 1970-01-01T00:00:00.000Z (now) on the page of the job: {"n":4}.',
  ]);
});
