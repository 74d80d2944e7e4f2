import { describe, expect, it } from 'vitest';
import { flow, job, task } from '../../support/documents.js';
import { startReceiver } from '../../support/receiver.js';
import { openWorkspace } from '../../support/workspace.js';

const plugins = {
  'ok.mjs': 'export default () => 1;',
  'bad.mjs': 'export default () => { throw new Error("no"); };',
};

describe('a notify list', () => {
  // Shows K-06, X-43.
  it('tells of the jobs of its owner, one in tws.json of all, each once among two engines', async () => {
    const { url, until, received } = await startReceiver();
    const space = await openWorkspace(plugins);
    const notify = [{ on: ['failed'], url: `${url}/me` }, { url: 'ftp://x' }];
    await space.put(
      ...[
        task('ok'),
        task('bad'),
        flow('f', ['bad']),
        flow('calm', ['bad'], { notify_lists: false }),
      ],
      { _id: 'mine', type: 'notify', owner: 'me', notify },
      { _id: 'others', type: 'notify', owner: 'you', notify: [{ url: `${url}/you` }] },
    );
    const all = [{ on: ['failed' as const], url: `${url}/all` }];
    await space.engine({ name: 'a', notify: all });
    await space.engine({ name: 'b', notify: all });
    await space.put(job('f', { _id: 'j' }), job('calm', { _id: 'k' }));
    await until(2);
    const made = (await space.ended('j'))['notifications'];
    expect(made).toMatchObject([{ id: 'j:notify:1:tws.json:0' }, { id: 'j:notify:1:mine:0' }]);
    expect(await space.ended('k')).not.toHaveProperty('notifications');
    for (const id of ['j:notify:1:tws.json:0', 'j:notify:1:mine:0']) await space.ended(id);
    expect(received.map(({ path }) => path).toSorted()).toEqual(['/all', '/me']);
    const told = await space.until('mine', ({ problems }) => problems !== undefined);
    expect(told['problems']).toMatchObject([{ path: 'notify[1].url' }]);
  });

  it('counts as it is now, also when it is changed or removed', async () => {
    const { url, until } = await startReceiver();
    const space = await openWorkspace(plugins);
    const list = { _id: 'notify:me', type: 'notify', owner: 'me', notify: [{ url: `${url}/1` }] };
    await space.put(task('ok'), flow('f', ['ok']));
    await space.engine();
    await space.put(list);
    await space.put(job('f', { _id: 'a' }));
    await until(1);
    const { _rev } = await space.until('notify:me', () => true);
    await space.store.remove('notify:me', _rev);
    await space.put(job('f', { _id: 'b' }));
    expect(await space.ended('b')).not.toHaveProperty('notifications');
  });
});
