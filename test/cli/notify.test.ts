import { describe, expect, it } from 'vitest';
import { notify } from '../../src/cli/commands/notify.js';
import { push } from '../../src/cli/commands/push.js';
import { flow, task } from '../support/documents.js';
import { startReceiver } from '../support/receiver.js';
import { openProject } from './database.js';

describe('tws notify', () => {
  it('lists who is notified, and sends a test to each that asks for the event', async () => {
    const { url, until } = await startReceiver(({ path }) => ({
      status: path === '/gone' ? 410 : 204,
    }));
    const path = 'couch/tws/list.json';
    const list = { type: 'notify', notify: [{ on: ['late'], url: `${url}/late` }] };
    const { tws, put, engine } = await openProject(
      {
        [path]: list,
        'tws.json': {
          notify: [
            { owner: 'you', url },
            { on: ['failed'], task: 'page' },
          ],
        },
      },
      { 'page.mjs': 'export default ({ params }) => params;' },
    );
    expect((await tws(push, { args: [path] })).out).toMatch(/=> ok notify:DEFAULT 1-/);
    const own = [{ on: ['failed'], url: `${url}/gone` }];
    await put(task('page'), flow('f', ['page'], { owner: 'DEFAULT', notify: own }));
    await engine();
    const listed = await tws(notify, { args: ['list'], flags: { flow: 'f' } });
    expect(listed.out.replace(/ +/g, ' ')).toBe(
      [
        `flow f 0 failed url ${new URL(url).host}`,
        'tws.json 1 failed task page',
        `notify:DEFAULT 0 late url ${new URL(url).host}`,
      ].join('\n'),
    );
    const late = await tws(notify, { args: ['test'], flags: { event: 'late' } });
    expect([late.exit, late.out]).toEqual([
      0,
      expect.stringMatching(/^sent: url .*notify:DEFAULT/),
    ]);
    const failed = await tws(notify, { args: ['test'], flags: { flow: 'f' } });
    expect(failed.exit).toBe(1);
    expect(failed.out).toMatch(/^not sent: url .*of flow f\nsent: task page, entry 1 of tws\.json/);
    expect((await until(2)).map(({ body }) => body.type)).toEqual(['job.late', 'job.failed']);
    const nobody = await tws(notify, { args: ['test'], flags: { event: 'stuck' } });
    expect(nobody.out).toBe('Nobody is notified of "stuck".');
  });

  it('does not deny what flows do when there is no list', async () => {
    const { tws } = await openProject();
    expect((await tws(notify, { args: ['list'] })).out).toMatch(/^No notify list .*`--flow NAME`/);
  });

  it.each([
    [['try'], {}, 'There is no "tws notify try"; it is one of list, test.'],
    [['list', 'me'], {}, '"tws notify list" takes no names.'],
    [['list'], { event: 'late' }, '"tws notify list" takes no --event.'],
    [['test'], { event: 'ended' }, /^--event must be one of succeeded, /],
    [['test'], { flow: 'none' }, /^There is no flow "none" of owner "DEFAULT"/],
  ])('refuses %j %j', async (args, flags, reason) => {
    const { tws } = await openProject();
    const { error } = await tws(notify, { args, flags });
    expect(error?.message).toMatch(reason);
  });

  it('tells a flow that stands twice, and does not take that of everybody for it', async () => {
    const { tws, put } = await openProject({ 'tws.json': { owner: 'me' } });
    await put(
      flow('f', [], { owner: 'me', _id: 'one' }),
      flow('f', [], { owner: 'me', _id: 'two' }),
    );
    await put(flow('f', [], { owner: 'DEFAULT' }));
    const { error } = await tws(notify, { args: ['list'], flags: { flow: 'f' } });
    expect(error?.message).toMatch(/"f".*one, two/);
  });
});
