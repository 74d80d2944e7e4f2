import { describe, expect, it } from 'vitest';
import { doctor } from '../../src/cli/commands/doctor.js';
import { push } from '../../src/cli/commands/push.js';
import { queue } from '../../src/cli/commands/queue.js';
import { openProject } from './database.js';

const path = 'couch/tws/mail.json';

describe('tws queue', () => {
  it('pauses queues and lets them go on, also such that a file controls', async () => {
    const rate = { limit: 100, per: 'PT1M', key: 'job.owner' };
    const file = { type: 'queue-control', queue: 'mail', paused: true, reason: 'it moves', rate };
    const { tws, store } = await openProject({ [path]: file });
    const pushed = await tws(push, { args: [path] });
    expect(pushed.out).toMatch(/=> ok queue-control:mail 1-/);
    const list = await tws(queue, { args: ['list'] });
    expect(list.out).toMatch(
      /^default +active +0 *\nmail +paused +0 +100 per PT1M, by key +it moves$/,
    );
    const again = await tws(queue, { args: ['pause', 'mail', 'rare'], flags: { reason: 'x' } });
    expect(again.out).toBe('skipping: mail (already paused)\npaused: rare');
    const resumed = await tws(queue, { args: ['resume', 'mail'] });
    expect(resumed.out).toBe('resumed: mail');
    expect(await store.get('queue-control:mail')).not.toHaveProperty('reason');
    expect((await tws(queue, { args: ['resume', 'mail'] })).out).toBe(
      'skipping: mail (not paused)',
    );
  });

  it.each([
    [['stop'], 'There is no "tws queue stop"; it is one of list, pause, resume.'],
    [['list', 'mail'], '"tws queue list" takes no names.'],
    [['pause'], '"tws queue pause" needs names of queues.'],
    [['pause', ''], '"" is no name of a queue.'],
  ])('refuses %j', async (args, reason) => {
    const { tws } = await openProject({});
    const { exit, error } = await tws(queue, { args });
    expect([exit, error?.message]).toEqual([2, reason]);
  });

  it('tells, and so does the doctor, what is wrong with a control that was stored by hand', async () => {
    const { tws, store } = await openProject({});
    const wrong = { _id: 'c', type: 'queue-control', queue: 'default', rate: { limit: 0, per: 1 } };
    await store.write(wrong);
    const told = 'rate.limit must be a whole number from 1 to 100000; it is 0.';
    expect(await tws(queue, { args: ['list'] })).toMatchObject({
      out: expect.stringMatching(/^default +active/) as string,
      err: `warning: c: ${told}`,
    });
    expect((await tws(doctor)).out).toContain(
      `fail  queue-control c: Engines follow only what they can read of it: ${told}`,
    );
  });

  it('is told with the path when a file is wrong', async () => {
    const rate = { limit: 1, per: 1_000, key: '(' };
    const { tws } = await openProject({ [path]: { type: 'queue-control', paused: 'no', rate } });
    const { err } = await tws(push, { args: [path] });
    expect(err).toMatch(/queue/);
    expect(err).toMatch(/rate\.key is no valid JSONata/);
    expect(err).toMatch(/paused must be true or false/);
  });
});
