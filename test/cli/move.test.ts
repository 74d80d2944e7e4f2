import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { move } from '../../src/cli/commands/move.js';
import { openStore } from '../../src/store/store.js';
import { removeAfterwards } from '../support/couch.js';
import { openProject } from './database.js';
import { tws } from './executable.js';
import { vaultOf } from '../support/vault.js';

const count = (name: string, usual: number): number => Number(process.env[name] ?? usual);
/** `TWS_MOVE_JOBS=10000 TWS_MOVE_LIVE=200` is the whole of it. */
const [jobs, live] = [count('TWS_MOVE_JOBS', 300), count('TWS_MOVE_LIVE', 20)];

const plugins = {
  'tell.mjs': `import { appendFile } from 'node:fs/promises';
    import { join } from 'node:path';
    export default async ({ job, step }) => {
      await appendFile(join(import.meta.dirname, 'calls'), job._id + ' ' + step.path + '\\n');
      await new Promise((resolve) => setTimeout(resolve, 50));
    };`,
};
const definitions = [
  { _id: 'task:DEFAULT:tell', type: 'task', name: 'tell' },
  {
    ...{ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me' },
    tasks: ['tell', { delay: 1_500 }, 'tell', { delay: 1_500 }, 'tell'],
  },
];
const endedJob = (n: number) => ({
  ...{ _id: `old-${n}`, type: 'job', flow: 'f', owner: 'me', state: '$$complete', exit: 0 },
  ...{ start: n, end: n + 1, steps: [] },
});

async function places(files: Readonly<Record<string, unknown>> = {}) {
  const space = await openProject(files, plugins);
  const { url, user, password, database } = space.store.connection;
  const moved = `${database}-moved`;
  removeAfterwards(moved);
  const to = new URL(`${url}/${moved}`);
  to.username = user ?? '';
  to.password = password ?? '';
  const target = openStore({ ...space.store.connection, database: moved });
  return { ...space, moved, to: to.href, target };
}

describe('tws move', () => {
  // Shows X-60.
  it('loses nothing and runs no step twice when it is killed twice while engines work', async () => {
    const { put, engine, store, target, to, root, env, folder } = await places();
    await put(...definitions);
    for (let from = 0; from < jobs; from += 500) {
      const most = Math.min(500, jobs - from);
      await put(...Array.from({ length: most }, (_, i) => endedJob(from + i)));
    }
    const engines = [await engine(), await engine()];
    const ids = Array.from({ length: live }, (_, n) => `live-${n}`);
    await put(...ids.map((_id) => ({ _id, type: 'job', flow: 'f', owner: 'me' })));
    const call = () => tws(['move', '--to', to, '--no-confirm'], { cwd: root, env });
    for (const stage of [/copying/, /waiting|cutting over/]) {
      const killed = call();
      await killed.prints(stage);
      killed.kill('SIGKILL');
      expect(await killed.ended).toBe('SIGKILL');
    }
    const last = call();
    expect(await last.ended, last.err()).toBe(0);
    expect(last.out()).toMatch(/^moved: \d+ documents, each compared$/m);
    await Promise.all(engines.map(async ({ failed, stop }) => (await failed, stop())));
    const [there, here] = [await target.info(), await store.info()];
    // Two more here: what says that it has moved, and the control for all engines.
    expect(there.documents).toBe(here.documents - 2);

    await Promise.all([engine({ store: target }), engine({ store: target })]);
    for (const id of ids) {
      await expect.poll(async () => (await target.get(id))?.['state']).toBe('$$complete');
    }
    const calls = (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
    expect(calls.toSorted()).toEqual(
      ids.flatMap((id) => ['0', '2', '4'].map((path) => `${id} ${path}`)).toSorted(),
    );
  });

  it('prints what it did, and says afterwards where the database is', async () => {
    const { put, tws: run, to, moved, store } = await places();
    await put(endedJob(1));
    const { database } = store.connection;
    const url = new URL(store.connection.url).origin;
    const asked = await run(move, { flags: { to, confirm: false } });
    expect(asked.exit).toBe(0);
    expect(asked.out.split('\n')).toEqual([
      expect.stringMatching(/^moved: \d+ documents?, each compared$/),
      `from: ${url}/${database}, which refuses writes from now on`,
      `to: ${url}/${moved}`,
      'Set COUCH_URL and COUCH_DATABASE to it (or url and database in tws.json), and start the engines again.',
    ]);
    expect(`${asked.out}${asked.err}`).not.toContain(String(store.connection.password));
    const again = await run(move, { flags: { to, confirm: false } });
    expect(again.out).toMatch(/^already moved: nothing to do$/m);
    const back = await run(move, { flags: { to, undo: true } });
    expect(back.out).toBe(`${url}/${database} takes writes again; engines may work there.`);
  });

  it('takes the place from a variable, and refuses what is none', async () => {
    const { tws: run, env, to } = await places();
    const given = { ...env, TWS_MOVE_TO: to };
    const moved = await run(move, { flags: { confirm: false }, env: given });
    expect(moved.exit).toBe(0);
    expect((await run(move, { flags: { confirm: false } })).error).toMatchObject({ code: 'usage' });
    expect((await run(move, { flags: { to: 'ftp://x/y', confirm: false } })).error).toMatchObject({
      code: 'setting_invalid',
    });
    expect((await run(move, { flags: { to } })).error).toMatchObject({
      code: 'confirmation_missing',
    });
  });

  // Shows M-04, X-60.
  it('takes sensitive values and keys along, sealed, with what was purged left out, and back again', async () => {
    const { tws: run, to, target, moved, store } = await places();
    removeAfterwards(`${moved}_sensitive`);
    removeAfterwards(`${moved}_subject_keys`);
    const { vault } = await vaultOf({ store });
    const { vault: there } = await vaultOf({ store: target }, Date.now, false);
    const iban = 'DE02120300000000202051';
    const by = { who: 'test' };
    const [ann, bob, dora] = [
      await vault.put('me', 'ann', { iban }, by),
      await vault.put('me', 'bob', { iban }, by),
      await vault.put('me', 'dora', { iban }, by),
    ];
    const asked = await run(move, { flags: { to, confirm: false } });
    // Three subjects, their keys and that of references, and three records of accesses.
    expect(asked.out).toContain('moved: 10 documents of sensitive values and keys');
    expect(await there.open(ann, 'iban')).toBe(iban);
    for (const name of ['sensitive', 'subject_keys']) {
      const copy = openStore({ ...target.connection, database: `${moved}_${name}` });
      const stored = JSON.stringify(await copy.range('')).concat(asked.out, asked.err);
      await copy.close();
      expect([stored.includes(ann.subject), stored.includes(iban)]).toEqual([true, false]);
    }
    expect(await there.reference('me', 'bob')).toBe(bob.subject);
    expect(await there.accesses()).toHaveLength(3);
    await expect(vault.put('me', 'carl', { iban })).rejects.toMatchObject({
      code: 'document_refused',
    });
    // Undone, two subjects purged, one of them stored anew, and moved again.
    expect((await run(move, { flags: { to, undo: true } })).exit).toBe(0);
    await vault.purge([bob, dora], by);
    await vault.put('me', 'bob', { iban: 'stored anew' });
    const again = await run(move, { flags: { to, confirm: false } });
    expect([again.exit, again.err]).toEqual([0, expect.any(String)]);
    expect(await there.open(ann, 'iban')).toBe(iban);
    expect(await there.open(bob, 'iban')).toBe('stored anew');
    expect((await there.list()).map(({ subject }) => subject)).toEqual(
      [ann.subject, bob.subject].toSorted(),
    );
    await there.put('me', 'ann', { iban: 'another one' });
    const refused = await run(move, { flags: { to, undo: true } });
    expect(refused.error).toMatchObject({ code: 'move_in_use' });
  });
});
