import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pull } from '../../src/cli/commands/pull.js';
import { push } from '../../src/cli/commands/push.js';
import { runPull } from '../../src/cli/pull/run.js';
import type { PullStep } from '../../src/cli/pull/steps.js';
import { openBook } from '../../src/cli/pull/synced.js';
import { pushFolders } from '../../src/cli/push-project.js';
import { openDatabase } from '../../src/client.js';
import { loadConfig } from '../../src/config/load.js';
import { openProject } from './database.js';
import { flow, task, testIo } from './terminal.js';

type Json = Readonly<Record<string, unknown>>;

const aFile = 'couch/tws/tasks/a.json';
const text =
  '{\n\t"type": "task",   "name": "a",\n\t"plugin": "noop",\n\t"params": { "x": 1, "y": 1 }\n}\n';

async function pushed(files: Readonly<Record<string, unknown>> = {}) {
  const opened = await openProject({ [aFile]: text, ...files });
  const { tws, root, store, put } = opened;
  expect((await tws(push, { flags: { map: true } })).exit).toBe(0);
  const read = async (file: string): Promise<string> => readFile(join(root, file), 'utf8');
  const write = (file: string, what: string): Promise<void> => writeFile(join(root, file), what);
  /** What somebody does in Fauxton. */
  const edit = async (id: string, change: (doc: Json) => Json): Promise<void> => {
    const doc = await store.get(id);
    if (doc === undefined) throw new Error(`There is no ${id}.`);
    await put(change(doc));
  };
  const remove = async (id: string): Promise<void> =>
    edit(id, (doc) => ({ ...doc, _deleted: true }));
  return { ...opened, read, write, edit, remove };
}

const withParams = (params: Json) => (doc: Json) => ({ ...doc, params });

describe('tws pull', () => {
  // Shows A-14.
  it('writes what has changed in the database into the file, and leaves the rest as it is written', async () => {
    const { tws, read, edit, root } = await pushed();
    const before = await read(aFile);
    const idle = await tws(pull);
    expect(idle.out).toBe(`skipped: ${aFile} (already up to date)`);
    const { mtimeMs } = await stat(join(root, aFile));
    await edit('task:DEFAULT:a', withParams({ x: 2, y: 1 }));
    const tried = await tws(pull, { flags: { dryRun: true } });
    expect(tried.out).toBe(`would be updated: ${aFile}: params.x`);
    expect((await stat(join(root, aFile))).mtimeMs).toBe(mtimeMs);
    const { exit, out, json } = await tws(pull);
    expect([exit, out]).toEqual([0, `updated: ${aFile}: params.x`]);
    expect(json).toEqual({
      documents: [{ file: aFile, id: 'task:DEFAULT:a', action: 'updated', keys: ['params.x'] }],
    });
    expect(await read(aFile)).toBe(before.replace('"x": 1', '"x": 2'));
    expect((await tws(push, { flags: { map: true } })).out).not.toContain('updating');
  });

  it('merges what both have changed, and a later push stores both', async () => {
    const { tws, read, write, edit, store } = await pushed();
    await write(aFile, (await read(aFile)).replace('"y": 1', '"y": 5'));
    await edit('task:DEFAULT:a', withParams({ x: 2, y: 1 }));
    expect((await tws(pull)).out).toBe(`updated: ${aFile}: params.x`);
    expect((await tws(pull)).out).toBe(`skipped: ${aFile} (changed here only; push it)`);
    await tws(push, { flags: { map: true } });
    expect(await store.get('task:DEFAULT:a')).toMatchObject({ params: { x: 2, y: 5 } });
  });

  it('tells of a key that both have changed, and settles it for the side that is asked for', async () => {
    const { tws, read, write, edit } = await pushed();
    const mine = (await read(aFile)).replace('"x": 1', '"x": 5');
    await write(aFile, mine);
    await edit('task:DEFAULT:a', (doc) => ({ ...doc, params: { x: 2, y: 1 }, retry: 3 }));
    const told = await tws(pull);
    expect([told.exit, told.error?.code]).toEqual([1, 'pull_conflicts']);
    expect(told.err).toContain(`conflict: ${aFile}: changed here and in the database: params.x`);
    expect(told.json).toMatchObject({ documents: [{ action: 'conflict', keys: ['params.x'] }] });
    expect(await read(aFile)).toBe(mine);
    expect((await tws(pull, { flags: { ours: true, theirs: true } })).error?.code).toBe('usage');
    expect((await tws(pull, { flags: { ours: true } })).exit).toBe(0);
    expect(JSON.parse(await read(aFile))).toMatchObject({ params: { x: 5, y: 1 }, retry: 3 });
    expect((await tws(pull)).exit).toBe(0);
    await edit('task:DEFAULT:a', withParams({ x: 7, y: 1 }));
    expect((await tws(pull, { flags: { theirs: true } })).exit).toBe(0);
    expect(JSON.parse(await read(aFile))).toMatchObject({ params: { x: 7, y: 1 }, retry: 3 });
  });

  it('writes new definitions into new files, named as tws new names them, and nothing of other projects', async () => {
    const { tws, read, put, root, store } = await pushed();
    await put(
      { ...task('fresh', { pushed_from: 'elsewhere' }), _id: 'task:DEFAULT:theirs' },
      { ...task('b/../c', { params: { z: 1 } }), _id: 'task:DEFAULT:b' },
      { ...flow('order', ['a'], { version: '2', enabled: false }), _id: 'flow:DEFAULT:order@2' },
      {
        ...{
          _id: 's1',
          type: 'schedule',
          name: 's',
          owner: 'DEFAULT',
          flow: 'order',
          every: 60_000,
        },
        ...{ next_due: 5, problems: [], paused: true },
      },
    );
    const { exit, out } = await tws(pull);
    expect([exit, out.split('\n').toSorted()]).toEqual([
      0,
      [
        'created: couch/tws/flows/order@2.json (flow:DEFAULT:order@2)',
        'created: couch/tws/schedules/s.json (s1)',
        'created: couch/tws/tasks/b%2F..%2Fc.json (task:DEFAULT:b)',
        `skipped: ${aFile} (already up to date)`,
      ],
    ]);
    expect(JSON.parse(await read('couch/tws/schedules/s.json'))).toEqual({
      ...{ _id: 's1', $schema: '../../schemas/schedule.json', type: 'schedule', name: 's' },
      ...{ owner: 'DEFAULT', flow: 'order', every: 60_000, paused: true },
    });
    expect(await read('couch/tws/flows/order@2.json')).toMatch(
      /^\{\n {2}"_id": "flow:DEFAULT:order@2",\n {2}"\$schema": "..\/..\/schemas\/flow.json",\n/,
    );
    const before = (await store.get('flow:DEFAULT:order@2'))?.['enabled'];
    expect((await tws(push, { flags: { map: true } })).exit).toBe(0);
    expect((await store.get('flow:DEFAULT:order@2'))?.['enabled']).toBe(before);
    expect((await tws(pull)).out).not.toMatch(/created|updated/);
    expect(existsSync(join(root, 'couch/tws/tasks/fresh.json'))).toBe(false);
  });

  it('tells of documents that are gone, and removes their files only with --prune', async () => {
    const { tws, read, write, remove, root } = await pushed({
      'couch/tws/tasks/b.json': task('b'),
      'couch/tws/tasks/own.json': task('own'),
    });
    await remove('task:DEFAULT:a');
    await remove('task:DEFAULT:b');
    await remove('task:DEFAULT:own');
    const own = 'couch/tws/tasks/own.json';
    await write(own, JSON.stringify({ ...JSON.parse(await read(own)), retry: 9 }));
    const told = await tws(pull);
    expect(told.exit).toBe(1);
    expect(told.out).toContain(
      `gone: ${aFile} (removed in the database; --prune removes the file)`,
    );
    expect(told.err).toContain('own.json: changed here, and removed in the database');
    expect(existsSync(join(root, aFile))).toBe(true);
    const asked = await tws(pull, { flags: { prune: true } });
    expect(asked.error?.code).toBe('confirmation_needed');
    const pruned = await tws(pull, { flags: { prune: true, ours: true, confirm: false } });
    expect(pruned.exit).toBe(0);
    expect(existsSync(join(root, aFile))).toBe(false);
    expect(existsSync(join(root, own))).toBe(true);
    expect((await tws(pull)).out).toBe(`skipped: ${own} (not in the database; push it)`);
  });

  it('removes no file that somebody saved while the question was asked', async () => {
    const { read, root } = await pushed();
    const shown = aFile;
    const file = { path: join(root, aFile), shown, named: false };
    const step = { kind: 'gone', shown, id: 'a', file: { file, text: 'before', doc: {} } };
    const { io, printed } = testIo({ cwd: root });
    const steps = [{ ...step, file: { ...step.file, isDraft: false } }] as const;
    const book = openBook(
      root,
      {},
      { from: undefined, keyOf: async () => 'k', isOld: () => false },
    );
    await runPull(steps as unknown as readonly PullStep[], { root, prune: true, book }, io);
    expect(await read(aFile)).toContain('noop');
    expect(printed().err).toContain('saved by somebody else at the same time');
  });

  it('leaves a document without a file whose file was removed here, unless it has changed', async () => {
    const { tws, edit, root } = await pushed();
    await rm(join(root, aFile));
    expect((await tws(pull)).out).toContain('its file was removed here');
    await edit('task:DEFAULT:a', withParams({ x: 2 }));
    expect((await tws(pull)).err).toContain('removed here, and changed in the database');
    expect((await tws(pull, { flags: { theirs: true } })).out).toBe(
      `created: ${aFile} (task:DEFAULT:a)`,
    );
  });

  it('brings a copy of the project that has never pushed together without losing a key', async () => {
    const { tws, write, read, edit, root } = await pushed();
    await rm(join(root, '.tws-synced.json'));
    await write(aFile, JSON.stringify({ type: 'task', name: 'a', plugin: 'noop', retry: 1 }));
    await edit('task:DEFAULT:a', (doc) => ({ ...doc, timeout: 5 }));
    expect((await tws(pull)).exit).toBe(0);
    expect(JSON.parse(await read(aFile))).toEqual({
      ...{ _id: 'task:DEFAULT:a', type: 'task', name: 'a', plugin: 'noop', retry: 1 },
      ...{ timeout: 5, params: { x: 1, y: 1 } },
    });
  });

  it('leaves what operators switch out, unless the file says something of it', async () => {
    const { tws, read, edit } = await pushed({
      'couch/tws/flows/f.json': flow('f', ['a']),
      'couch/tws/flows/g.json': flow('g', ['a'], { enabled: true }),
    });
    for (const id of ['flow:DEFAULT:f', 'flow:DEFAULT:g'])
      await edit(id, (doc) => ({ ...doc, enabled: false }));
    expect((await tws(pull)).out).toContain('updated: couch/tws/flows/g.json: enabled');
    expect(JSON.parse(await read('couch/tws/flows/f.json'))).not.toHaveProperty('enabled');
    expect(JSON.parse(await read('couch/tws/flows/g.json'))).toMatchObject({ enabled: false });
  });

  it('writes no secret in clear into a file, nor into what it remembers', async () => {
    const { tws, read, edit, put } = await pushed();
    const smtp = { auth: { user: 'me', pass: 'hunter2' } };
    await edit('task:DEFAULT:a', withParams({ x: 1, y: 1, smtp }));
    await put({ ...task('n', { params: { smtp } }), _id: 'task:DEFAULT:n' });
    for (const flags of [{}, { theirs: true }]) {
      const { exit, out, err } = await tws(pull, { flags });
      expect(exit).toBe(1);
      expect(err).toContain(`${aFile}: the database holds a secret in clear`);
      expect(err).toContain('n.json: the database holds a secret in clear');
      expect(`${out}${err}`).not.toContain('hunter2');
    }
    expect(await read(aFile)).not.toContain('hunter2');
    await tws(push, { flags: { map: true } });
    const clear = { ...task('c', { params: { smtp } }) };
    const other = await pushed({ 'couch/tws/tasks/c.json': clear });
    expect(await other.read('.tws-synced.json')).not.toContain('hunter2');
    expect((await other.tws(pull)).exit).toBe(0);
  });

  it('tells of what the database holds that no push would take, and of two files of one document', async () => {
    const { tws, read, edit, write } = await pushed();
    const before = await read(aFile);
    await edit('task:DEFAULT:a', (doc) => ({ ...doc, timeout: -1 }));
    expect((await tws(pull)).err).toContain('what the database holds is not valid: timeout');
    expect(await read(aFile)).toBe(before);
    await edit('task:DEFAULT:a', (doc) => ({ ...doc, timeout: 5 }));
    await write('couch/tws/tasks/b.json', before);
    expect((await tws(pull)).err).toContain('b.json: another file stands for "task:DEFAULT:a"');
    await write('couch/tws/tasks/b.json', '{');
    expect((await tws(pull)).error?.code).toBe('file_unusable');
  });

  it('pulls the files and the kinds that are named, and no others', async () => {
    const { tws, edit } = await pushed({ 'couch/tws/flows/f.json': flow('f', ['a']) });
    await edit('task:DEFAULT:a', withParams({ x: 2 }));
    await edit('flow:DEFAULT:f', (doc) => ({ ...doc, timeout: 7 }));
    expect((await tws(pull, { flags: { flows: true, dryRun: true } })).out).toBe(
      'would be updated: couch/tws/flows/f.json: timeout',
    );
    expect((await tws(pull, { args: [aFile] })).out).toMatch(/^updated: .*a\.json: params/);
    expect((await tws(pull, { args: ['couch/tws/none.json'] })).error?.code).toBe('file_missing');
    expect((await tws(pull, { args: ['package.json'] })).error?.code).toBe('usage');
  });
});

describe('what files and database last had in common', () => {
  const recordFile = '.tws-synced.json';

  it('is that of the database, whatever its address is, and not of another one at its address', async () => {
    const { tws, read, write, edit, store, root } = await pushed();
    const [[id, entries] = ['', {}]] = Object.entries(
      JSON.parse(await read(recordFile)) as Readonly<Record<string, Json>>,
    );
    expect(id).toMatch(/^[\w-]{36}$/);
    const { url, database } = store.connection;
    const { origin } = new URL(url);
    await edit('task:DEFAULT:a', withParams({ x: 2, y: 1 }));
    await write(aFile, (await read(aFile)).replace('"y": 1,', ''));
    // Another spelling of the address, as `tws dev --port 0` has another one each time.
    const settings = { url: `${origin}/`, database };
    const merged = await tws(pull, { settings });
    expect(merged.out).toBe(`updated: ${aFile}: params.x`);
    // An earlier version kept it by the address.
    await write(recordFile, JSON.stringify({ [`${origin}/${database}`]: entries }));
    expect((await tws(pull)).exit).toBe(0);
    expect(Object.keys(JSON.parse(await read(recordFile)) as Json)).toEqual([id]);
    const others = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`other-${i}`, {}]));
    const fresh = await openProject();
    const address = `${origin}/${fresh.store.connection.database}`;
    await write(recordFile, JSON.stringify({ ...others, [address]: entries }));
    const elsewhere = { cwd: root, env: fresh.env };
    const { out } = await tws(push, { ...elsewhere, flags: { map: true } });
    expect(out).toContain(`inserting: ${aFile}`);
    const kept = Object.keys(JSON.parse(await read(recordFile)) as Json);
    expect([kept.length, kept.includes(address), kept.includes('other-29')]).toEqual([
      20,
      false,
      true,
    ]);
  });
});

describe('tws push after a change in the database', () => {
  const map = { flags: { map: true } };

  it('keeps what only the database has changed, says so, and stores the rest of the file', async () => {
    const { tws, read, write, edit, store } = await pushed();
    await edit('task:DEFAULT:a', withParams({ x: 2, y: 1 }));
    const kept = 'changed in the database: params.x; `tws pull` brings it into the file';
    const told = async (): Promise<void> => {
      const { exit, out } = await tws(push, map);
      expect([exit, out]).toEqual([0, expect.stringContaining(`skipping: ${aFile} (${kept})`)]);
    };
    await told();
    await told();
    const { json } = await tws(push, { ...map, mode: 'json' });
    expect(json).toMatchObject({ documents: [{ action: 'skipped', kept: ['params.x'] }] });
    await write(aFile, (await read(aFile)).replace('"y": 1', '"y": 5'));
    const tried = await tws(push, { flags: { map: true, dryRun: true } });
    expect(tried.out).toContain(`would keep: ${aFile} (${kept})`);
    const merged = await tws(push, map);
    expect([merged.exit, merged.out]).toEqual([
      0,
      expect.stringContaining(`kept: ${aFile} (${kept})`),
    ]);
    expect(await store.get('task:DEFAULT:a')).toMatchObject({ params: { x: 2, y: 5 } });
    await tws(push, map);
    expect(await store.get('task:DEFAULT:a')).toMatchObject({ params: { x: 2, y: 5 } });
    expect((await tws(pull)).out).toBe(`updated: ${aFile}: params.x`);
    expect((await tws(push, map)).out).toContain(`skipping: ${aFile} (already up to date)`);
  });

  it('refuses the same key changed on both sides, and stores nothing until it is settled', async () => {
    const opened = await pushed({ 'couch/tws/tasks/b.json': task('b') });
    const { tws, read, write, edit, store } = opened;
    await edit('task:DEFAULT:a', (doc) => ({ ...doc, params: { x: 2, y: 1 }, timeout: 7 }));
    await write(aFile, (await read(aFile)).replace('"x": 1', '"x": 5'));
    const other = 'couch/tws/tasks/b.json';
    await write(other, JSON.stringify({ ...JSON.parse(await read(other)), retry: 4 }));
    const { exit, err, error } = await tws(push, map);
    const { json } = await tws(push, { ...map, mode: 'json' });
    expect([exit, error?.code]).toEqual([1, 'push_conflicts']);
    expect(err).toContain(`${aFile}: params.x changed in the file and in the database`);
    expect(json).toMatchObject({ problems: [{ file: aFile, keys: ['params.x'] }] });
    expect(await store.get('task:DEFAULT:b')).not.toHaveProperty('retry');
    expect((await tws(push, { flags: { map: true, force: true } })).exit).toBe(0);
    const stored = await store.get('task:DEFAULT:a');
    expect([stored?.['params'], stored?.['timeout']]).toEqual([{ x: 5, y: 1 }, undefined]);
    expect(await store.get('task:DEFAULT:b')).toMatchObject({ retry: 4 });
  });

  it('leaves what was removed there, unless its file has changed; --force stores it again', async () => {
    const { tws, read, write, remove, store, root } = await pushed();
    await remove('task:DEFAULT:a');
    const removed =
      'removed in the database; `tws pull --prune` removes the file, `tws push --force` stores it again';
    for (const flags of [{ map: true }, { tasks: true, prune: true }])
      expect((await tws(push, { flags })).out).toContain(`skipping: ${aFile} (${removed})`);
    expect(await store.get('task:DEFAULT:a')).toBeUndefined();
    await write(aFile, (await read(aFile)).replace('"x": 1', '"x": 5'));
    const refused = await tws(push, map);
    expect([refused.exit, refused.error?.code]).toEqual([1, 'push_conflicts']);
    expect(refused.err).toContain(`${aFile}: changed here, and removed in the database`);
    expect((await tws(push, { flags: { map: true, force: true } })).exit).toBe(0);
    expect(await store.get('task:DEFAULT:a')).toMatchObject({ params: { x: 5, y: 1 } });
    expect((await tws(push, map)).out).toContain('already up to date');
    // What --prune removes both sides agree on: the same file is stored when it comes again.
    const text = await read(aFile);
    await rm(join(root, aFile));
    await tws(push, { flags: { map: true, prune: true, confirm: false } });
    expect(await store.get('task:DEFAULT:a')).toBeUndefined();
    await write(aFile, text);
    expect((await tws(push, map)).out).toContain(`inserting: ${aFile}`);
  });

  it('is the same when tws dev pushes', async () => {
    const { tws, read, write, edit, store, root, env } = await pushed();
    await edit('task:DEFAULT:a', withParams({ x: 2, y: 1 }));
    const config = loadConfig({ flags: {}, env, cwd: root });
    const told = async () => {
      const { io, said } = listening({ cwd: root, env });
      const { client, close } = openDatabase(config);
      await pushFolders({ paths: [join(root, 'couch/tws')], config, client }, io).finally(close);
      return said.join('\n');
    };
    expect(await told()).toContain('changed in the database: params.x; `tws pull`');
    await write(aFile, (await read(aFile)).replace('"x": 1', '"x": 5'));
    const refused = await told();
    expect(refused).toContain('params.x changed in the file and in the database');
    expect(refused).toContain('nothing was pushed');
    expect(await store.get('task:DEFAULT:a')).toMatchObject({ params: { x: 2, y: 1 } });
    expect((await tws(pull, { flags: { ours: true } })).exit).toBe(0);
    expect(await told()).toContain('updating');
  });
});

function listening(where: { cwd: string; env: Readonly<Record<string, string>> }) {
  const { io } = testIo(where);
  const said: string[] = [];
  const tell = (line = ''): void => void said.push(line);
  return { said, io: { ...io, out: tell, warn: tell } };
}
