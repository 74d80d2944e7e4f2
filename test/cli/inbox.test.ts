import { expect, it } from 'vitest';
import { answer, inbox } from '../../src/cli/commands/inbox.js';
import { signal } from '../../src/cli/commands/messages.js';
import { openProject } from './database.js';
import { flow } from './terminal.js';

const approve = {
  ...{ title: 'Pay {{job.params.invoice}}', assignee: '{{job.params.who}}', group: 'finance' },
  due: 86_400_000,
};

// Shows X-13.
it('lists what waits for people and takes their answers', async () => {
  const { tws, put, engine, until } = await openProject({});
  await engine();
  const pay = flow('pay', [{ name: 'sign', approve }], { owner: 'me', timeout: 0 });
  const rate = { wait: { form: { required: ['rate'], properties: { rate: { type: 'number' } } } } };
  await put(
    { ...pay, _id: 'f' },
    { ...flow('rate', [rate], { owner: 'me', timeout: 0 }), _id: 'r' },
  );
  await put(
    ...['ann', 'bob'].map((who, i) => ({
      ...{ _id: `pay-${i}`, type: 'job', flow: 'pay', owner: 'me' },
      params: { invoice: i, who },
    })),
    { _id: 'rate-1', type: 'job', flow: 'rate', owner: 'me' },
  );
  for (const id of ['pay-0', 'pay-1', 'rate-1']) {
    await until(id, ({ steps }) => Array.isArray(steps) && steps.length === 1);
  }
  const all = await tws(inbox, {});
  expect(all.json).toMatchObject({
    forms: [{ title: 'Pay 0', job: 'pay-0' }, { job: 'pay-1' }, { job: 'rate-1', path: '0' }],
    more: false,
  });
  expect(all.out).toMatch(/ann or the group "finance" +Pay 0 +pay-0 +0 \(sign\) +pay/);
  const own = await tws(inbox, { flags: { for: 'bob' } });
  expect(own.json).toMatchObject({ forms: [{ job: 'pay-1', assignee: ['bob'] }] });
  const group = await tws(inbox, { flags: { group: 'finance', limit: '1' } });
  expect(group.json).toMatchObject({ forms: [{ job: 'pay-0' }], more: true });

  const wrong = await tws(answer, { args: ['rate-1'], flags: { data: '{"rate": "x"}' } });
  expect(wrong).toMatchObject({ exit: 3 });
  expect(wrong.error?.message).toContain('data.rate must be number');
  const good = await tws(answer, { args: ['rate-1'], flags: { data: '{"rate": 5}' } });
  expect(good.json).toMatchObject({ outcome: 'answered', step: 'wait' });
  const late = await tws(answer, { args: ['rate-1', 'wait'], flags: { data: '{"rate": 6}' } });
  expect(late).toMatchObject({ exit: 1 });
  expect(late.error?.message).toMatch(/answered already by /);
  const none = await tws(answer, { args: ['pay-0', 'nix'], flags: { data: '{}' } });
  expect(none).toMatchObject({ exit: 4 });

  const stranger = { by: 'eve', data: '{"approved": true}' };
  await tws(signal, { args: ['pay-0', 'sign'], flags: stranger });
  const told = await until('pay-0', ({ requests }) => Array.isArray(requests));
  expect(told).toMatchObject({ requests: [{ by: 'eve', refused: expect.any(String) as string }] });
  const refused = { data: '{"approved": false, "comment": "no"}' };
  expect(await tws(answer, { args: ['pay-0'], flags: refused })).toMatchObject({ exit: 0 });
  const ended = await until('pay-0', ({ state }) => state === '$$complete');
  expect(ended).toMatchObject({ exit: 2, failure: { name: 'NotApproved' } });
});
