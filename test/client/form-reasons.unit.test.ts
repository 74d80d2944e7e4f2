import { expect, it } from 'vitest';
import { stepReasons } from '../../src/client/step-reasons.js';

it('explains for whom a form waits, since when, and how it is answered', () => {
  const form = { title: 'Pay 17', assignee: ['ann'], due: 60_000 };
  const step = { name: 'sign', path: '0', place: 0, attempt: 1, signal: 'sign', accepted: 0 };
  const seen = { job: { _id: 'j', steps: [{ state: '$$waiting', form }] }, now: 0, engines: [] };
  const found = stepReasons(seen as never, { running: [], waiting: [step] } as never);
  expect(found).toMatchObject([
    {
      because: expect.stringContaining(
        'Step "sign" waits for ann (Pay 17), due 1970-01-01T00:01:00.000Z, since 1970-01-01T00:00:00.000Z',
      ) as string,
      todo: 'Answer it by `tws answer j 0`, or in the inbox of the pages.',
    },
  ]);
});
