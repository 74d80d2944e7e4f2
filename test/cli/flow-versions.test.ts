import { describe, expect, it } from 'vitest';
import { list } from '../../src/cli/commands/list.js';
import { push } from '../../src/cli/commands/push.js';
import { submit } from '../../src/cli/commands/submit.js';
import { openProject } from './database.js';
import { task } from './terminal.js';

const version = (of: string, more: object = {}) => ({
  ...{ type: 'flow', name: 'order', owner: 'DEFAULT', version: of, tasks: ['a'] },
  ...more,
});

const files = {
  'couch/tws/tasks/a.json': task('a'),
  'couch/tws/flows/order.json': version('1'),
  'couch/tws/flows/order@2.json': version('2', { current: true }),
};

describe('versions of a flow', () => {
  // Shows.
  it('are pushed, listed and asked for', async () => {
    const { tws, store } = await openProject(files);
    expect(await tws(push, { flags: { map: true } })).toMatchObject({ exit: 0 });
    expect((await tws(push, { flags: { map: true } })).out).not.toContain('updating');
    const { out } = await tws(list, { flags: { flows: true } });
    expect(out.split('\n')).toEqual([
      'order::DEFAULT version "1" => ["a"] (flow:DEFAULT:order@1)',
      'order::DEFAULT version "2" => ["a"] current (flow:DEFAULT:order@2)',
    ]);
    const asked = { args: ['order'], flags: { flowVersion: '1', id: 'asked' } };
    expect(await tws(submit, asked)).toMatchObject({ exit: 0, err: '' });
    expect(await store.get('asked')).toMatchObject({ flow: 'order', flow_version: '1' });
    expect(await tws(submit, { args: ['order'], flags: { id: 'plain' } })).toMatchObject({
      exit: 0,
    });
    expect(await store.get('plain')).not.toHaveProperty('flow_version');
    const gone = await tws(submit, { args: ['order'], flags: { flowVersion: '7' } });
    expect(gone.error).toMatchObject({
      code: 'flow_version_missing',
      message: 'Flow "order" has no version "7"; it has 1, 2.',
    });
  });

  it('of which none is current are refused by a push', async () => {
    const { tws } = await openProject({
      ...files,
      'couch/tws/flows/order@2.json': version('2'),
    });
    const { err, exit } = await tws(push, { flags: { map: true } });
    expect(exit).toBe(3);
    expect(err).toContain('none of them is current; set "current": true in one of');
  });

  it('keep the one current that is in the database where no file says so', async () => {
    const { tws, put, store } = await openProject({
      ...files,
      'couch/tws/flows/order@2.json': version('2'),
    });
    await put({ ...version('2'), _id: 'flow:DEFAULT:order@2', current: true, current_since: 5 });
    expect(await tws(push, { flags: { map: true } })).toMatchObject({ exit: 0 });
    expect(await store.get('flow:DEFAULT:order@2')).toMatchObject({ current: true });
  });
});
