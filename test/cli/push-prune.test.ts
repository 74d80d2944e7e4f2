import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { push } from '../../src/cli/commands/push.js';
import { removeAll } from '../../src/cli/push-prune.js';
import { createClient } from '../../src/client/client.js';
import { openProject } from './database.js';
import { flow, project, run, task, testIo } from './terminal.js';

const files = {
  'couch/tws/tasks/a.json': task('a'),
  'couch/tws/tasks/b.json': task('b'),
  'couch/tws/flows/f.json': flow('f', ['a']),
  'couch/tws/flows/g.json': flow('g', ['b']),
};

async function pushed() {
  const opened = await openProject(files);
  await opened.tws(push, { flags: { map: true } });
  const names = async (): Promise<unknown> => {
    const rows = [...(await opened.store.view('tasks')), ...(await opened.store.view('flows'))];
    return rows.map(({ id }) => id);
  };
  const drop = async (...paths: readonly string[]): Promise<void> => {
    await Promise.all(paths.map((path) => rm(join(opened.root, path))));
  };
  return { ...opened, names, drop };
}

describe('tws push --prune', () => {
  it('removes what the project brought and no file holds, and nothing of others', async () => {
    const { tws, put, names, drop } = await pushed();
    await put({ ...task('theirs', { owner: 'ada' }), _id: 'task:ada:theirs' });
    await drop('couch/tws/tasks/b.json', 'couch/tws/flows/g.json');
    const { exit, out } = await tws(push, { flags: { map: true, prune: true, confirm: false } });
    expect(exit).toBe(0);
    expect(out.split('\n').slice(-2)).toEqual([
      'removing: flow:DEFAULT:g (no file holds it)',
      'removing: task:DEFAULT:b (no file holds it)',
    ]);
    expect(await names()).toEqual(['task:DEFAULT:a', 'task:ada:theirs', 'flow:DEFAULT:f']);
  });

  it('puts a version that is current in place of another one', async () => {
    const { tws, put, names, drop, root, store } = await pushed();
    const version = (of: string) =>
      JSON.stringify({ ...flow('v', ['a']), version: of, current: true });
    await writeFile(join(root, 'couch/tws/flows/v.json'), version('1'));
    const flags = { map: true, prune: true, confirm: false };
    expect((await tws(push, { flags })).exit).toBe(0);
    await drop('couch/tws/flows/v.json');
    await writeFile(join(root, 'couch/tws/flows/v@2.json'), version('2'));
    const { exit, out, err } = await tws(push, { flags });
    expect(exit, err).toBe(0);
    expect(out).toContain('current: v version "2", before: flow:DEFAULT:v@1');
    expect(out).toContain('removing: flow:DEFAULT:v@1 (no file holds it)');
    expect(await names()).not.toContain('flow:DEFAULT:v@1');
    expect(await store.get('flow:DEFAULT:v@2')).toMatchObject({ current: true });
    // What somebody makes current between the plan and the removal stays.
    const third = { ...flow('v', ['a']), version: '3', _id: 'flow:DEFAULT:v@3' };
    await put(third);
    const planned = (await store.get(third._id)) ?? { _id: '', _rev: '' };
    const client = createClient({ store });
    await client.useFlowVersion({ name: 'v', owner: 'DEFAULT' }, third._id);
    const removing = removeAll([planned], client, testIo({ cwd: root }).io, () => undefined);
    await expect(removing).rejects.toMatchObject({ code: 'document_conflict' });
  });

  it('names what still uses a version before it removes it', async () => {
    const { tws, put, drop, root, store } = await pushed();
    const version = (of: string) => ({ ...flow('v', ['a']), version: of });
    const first = { ...version('1'), current: true };
    await writeFile(join(root, 'couch/tws/flows/v@1.json'), JSON.stringify(first));
    await tws(push, { flags: { map: true } });
    await writeFile(join(root, 'couch/tws/flows/v@2.json'), JSON.stringify(version('2')));
    await put({ ...{ _id: 'waits', type: 'job', owner: 'me', flow: 'v' }, flow_version: 1 });
    await drop('couch/tws/flows/v@1.json');
    const flags = { map: true, prune: true };
    const inUse = [
      'flow:DEFAULT:v@1 in the database: it is the current version of the flow and no file holds it; without it version "2" is current.',
      'flow:DEFAULT:v@1 in the database: 1 job that has not ended asks for version "1" of it: waits.',
    ];
    const { error, err: shown } = await tws(push, { flags });
    expect([error, shown]).toMatchObject([{ code: 'confirmation_needed' }, '']);
    expect(error?.message).toContain(inUse.join(' '));
    expect(await store.get('flow:DEFAULT:v@1')).toBeDefined();
    const { exit, err } = await tws(push, { flags: { ...flags, confirm: false } });
    expect(exit, err).toBe(0);
    for (const one of inUse) expect(err).toContain(one);
    expect(await store.get('flow:DEFAULT:v@1')).toBeUndefined();
  });

  it('keeps what another project, a person or a sample brought', async () => {
    const { tws, env, put, names, drop } = await pushed();
    const theirs = await project({ 'couch/tws/tasks/theirs.json': task('theirs') });
    await run(push, { cwd: theirs, env, flags: { map: true } });
    await tws(push, { flags: { samples: true } });
    const before = (await names()) as string[];
    await put({ ...task('by-hand'), _id: 'task:DEFAULT:by-hand' });
    await drop('couch/tws/tasks/b.json', 'couch/tws/flows/g.json');
    const { exit } = await tws(push, { flags: { map: true, prune: true, confirm: false } });
    expect(exit).toBe(0);
    const gone = ['task:DEFAULT:b', 'flow:DEFAULT:g'];
    const kept = [...before.filter((id) => !gone.includes(id)), 'task:DEFAULT:by-hand'];
    expect(new Set((await names()) as string[])).toEqual(new Set(kept));
    // The other project removes its own, and nothing else.
    await rm(join(theirs, 'couch/tws/tasks/theirs.json'));
    const flags = { map: true, prune: true, confirm: false };
    const { out } = await run(push, { cwd: theirs, env, flags });
    expect(out.match(/removing: \S+/g)).toEqual(['removing: task:DEFAULT:theirs']);
  });

  it('keeps what a file holds that is not pushed now', async () => {
    const { tws, root, names } = await pushed();
    await rename(join(root, 'couch/tws/tasks/a.json'), join(root, 'couch/tws/tasks/_a.json'));
    await rename(join(root, 'couch/tws/flows/g.json'), join(root, 'couch/tws/g.json'));
    const before = await names();
    const { exit } = await tws(push, { flags: { map: true, prune: true, confirm: false } });
    expect(exit).toBe(0);
    expect(await names()).toEqual(before);
    await writeFile(join(root, 'couch/tws/_broken.json'), '{');
    const { error } = await tws(push, { flags: { map: true, prune: true, confirm: false } });
    expect(error).toMatchObject({ code: 'file_unusable' });
    expect(error?.message).toContain('--prune cannot read which document it holds.');
  });

  it('removes nothing that has changed in the database since files and database agreed, but with --force', async () => {
    const { tws, put, names, drop, store } = await pushed();
    const changed = { ...(await store.get('task:DEFAULT:b')), _id: 'task:DEFAULT:b', timeout: 7 };
    await put(changed);
    await drop('couch/tws/tasks/b.json', 'couch/tws/flows/g.json');
    const before = await names();
    const flags = { map: true, prune: true, confirm: false };
    const { exit, err, error } = await tws(push, { flags });
    expect([exit, error?.code, await names()]).toEqual([1, 'push_conflicts', before]);
    expect(err).toContain(
      'couch/tws/tasks/b.json: removed here, and "task:DEFAULT:b" has changed in the database since they last agreed (timeout);',
    );
    expect((await tws(push, { flags: { ...flags, force: true } })).exit).toBe(0);
    expect(await names()).toEqual(['task:DEFAULT:a', 'flow:DEFAULT:f']);
  });

  it('asks first, and without a terminal removes and stores nothing', async () => {
    const { tws, names, drop } = await pushed();
    await drop('couch/tws/flows/g.json');
    const before = await names();
    const { error } = await tws(push, { flags: { flows: true, prune: true } });
    expect(error).toMatchObject({ code: 'confirmation_needed', exit: 2 });
    expect(await names()).toEqual(before);
  });

  it('keeps everything when something that stays names what would go', async () => {
    const { tws, put, names, drop } = await pushed();
    await put({ ...flow('other', ['b'], { owner: 'ada' }), _id: 'flow:ada:other' });
    await drop('couch/tws/tasks/b.json', 'couch/tws/flows/g.json');
    const before = await names();
    const { exit, err } = await tws(push, { flags: { map: true, prune: true, confirm: false } });
    expect(exit).toBe(3);
    expect(err).toContain('flow:ada:other in the database: tasks.sequence[0]');
    expect(err).toContain('It names what --prune would remove.');
    expect(await names()).toEqual(before);
  });

  it('writes nothing in a dry run', async () => {
    const { tws, names, drop } = await pushed();
    await drop('couch/tws/tasks/b.json', 'couch/tws/flows/g.json');
    const before = await names();
    const { exit, out, json } = await tws(push, {
      flags: { map: true, prune: true, dryRun: true },
    });
    expect(exit).toBe(0);
    expect(out.split('\n')).toEqual([
      'would skip: couch/tws/tasks/a.json (already up to date)',
      'would skip: couch/tws/flows/f.json (already up to date)',
      'would remove: flow:DEFAULT:g (no file holds it)',
      'would remove: task:DEFAULT:b (no file holds it)',
    ]);
    expect(json).toMatchObject({ dry_run: true });
    expect(await names()).toEqual(before);
  });

  it('needs whole folders of a project of its own', async () => {
    const { tws } = await openProject();
    const paths = await tws(push, { args: ['.'], flags: { prune: true } });
    expect(paths.error?.message).toBe(
      '--prune needs --map, --tasks, --flows, --schedules or --hooks.',
    );
    const none = await tws(push, { flags: { map: true, prune: true } });
    expect(none.error?.message).toContain('there is no couch/tws in');
  });
});
