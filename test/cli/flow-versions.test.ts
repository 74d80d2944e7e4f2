import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flow } from '../../src/cli/commands/flow.js';
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

  it('are never without a current one while a push adds some to a flow that had one', async () => {
    const cases = [
      { one: {}, two: { current: true }, after: '2' },
      { one: { current: true }, two: {}, after: '1' },
    ];
    for (const { one, two, after } of cases) {
      const { tws, put, store } = await openProject({
        'couch/tws/tasks/a.json': task('a'),
        'couch/tws/flows/order.json': version('1', one),
        'couch/tws/flows/order@0.json': version('0'),
        'couch/tws/flows/order@2.json': version('2', two),
      });
      await put({ ...version('1'), _id: 'flow:DEFAULT:order@1' });
      const { exit, out } = await tws(push, { flags: { map: true } });
      expect(exit).toBe(0);
      // The first write moves it, and nothing is left to move.
      const [first] = out.split('\n').filter((line) => /ing: .*flows/.test(line));
      expect(first).toContain(`flow:DEFAULT:order@${after}`);
      expect(out).not.toContain('current:');
      expect(await store.get(`flow:DEFAULT:order@${after}`)).toMatchObject({ current: true });
    }
  });

  // Shows X-28.
  it('are listed with their jobs, compared, made current and rolled back', async () => {
    const { tws, store, put } = await openProject(files);
    await tws(push, { flags: { map: true } });
    const job = { type: 'job', flow: 'order', owner: 'DEFAULT' };
    await put({ ...job, _id: 'asking', flow_version: '1' });
    await put({ ...job, _id: 'plain' });
    const versions = await tws(flow, { args: ['versions', 'order'] });
    expect(versions.json).toMatchObject({
      versions: [
        { id: 'flow:DEFAULT:order@1', version: '1', current: false, jobs: 1 },
        { id: 'flow:DEFAULT:order@2', version: '2', current: true, jobs: 1 },
      ],
    });
    const used = await tws(flow, { args: ['use', 'order', '1'] });
    expect(used.out).toBe(
      'current: order version "1" (flow:DEFAULT:order@1), before: flow:DEFAULT:order@2',
    );
    expect(await store.get('flow:DEFAULT:order@2')).not.toHaveProperty('current');
    expect((await tws(flow, { args: ['use', 'order', '1'] })).out).toContain('skipping');
    const back = await tws(flow, { args: ['rollback', 'order'] });
    expect(back.json).toMatchObject({
      version: '2',
      before: 'flow:DEFAULT:order@1',
      changed: true,
    });
    expect((await tws(flow, { args: ['use', 'order', '7'] })).error?.code).toBe(
      'flow_version_missing',
    );
    expect((await tws(flow, { args: ['versions', 'none'] })).error?.code).toBe(
      'definition_missing',
    );
    expect((await tws(flow, { args: ['use', 'order'] })).error?.code).toBe('usage');
    await put({ ...version('3', { tasks: ['a', 'b'], timeout: 5 }), _id: 'three' });
    const diff = await tws(flow, { args: ['diff', 'order', '1', 'three'] });
    expect(diff.out).toBe('tasks[1]\n  + "b"\ntimeout\n  + 5');
    expect((await tws(flow, { args: ['diff', 'order', '1', '2'] })).out).toBe('');
  });

  it('move by a push whose files say so', async () => {
    const { tws, store, root } = await openProject(files);
    await tws(push, { flags: { map: true } });
    const { writeFile, readFile } = await import('node:fs/promises');
    const write = async (file: string, more: object) => {
      const path = join(root, 'couch/tws/flows', file);
      const doc = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
      await writeFile(path, JSON.stringify({ ...doc, ...more }));
    };
    await write('order.json', { current: true });
    await write('order@2.json', { current: undefined });
    const { out } = await tws(push, { flags: { map: true } });
    expect(out).toContain('current: order version "1", before: flow:DEFAULT:order@2');
    expect(await store.get('flow:DEFAULT:order@1')).toHaveProperty('current', true);
    expect(await store.get('flow:DEFAULT:order@2')).not.toHaveProperty('current');
    expect((await tws(push, { flags: { map: true } })).out).not.toMatch(/updating|current/);
  });
});
