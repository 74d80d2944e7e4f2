import { describe, expect, it } from 'vitest';
import { retain } from '../../src/cli/commands/retain.js';
import { openProject } from './database.js';
import { tws as start } from './executable.js';
import { vaultOf } from '../support/vault.js';
import { flow } from './terminal.js';

const day = 86_400_000;

/** A job that ended so many days ago. */
const ended = (_id: string, days: number, more: object = {}) => ({
  ...{ _id, type: 'job', flow: 'f', owner: 'DEFAULT', state: '$$complete', exit: 0, steps: [] },
  ...{ start: Date.now() - days * day - 1_000, end: Date.now() - days * day },
  ...more,
});
const failed = { exit: 2, failure: { name: 'Failed', message: 'no' } };
const parent = (job: string) => ({ parent: { job, step: 's' } });
const settings = { 'tws.json': { project: 'p', retain: { succeeded: { age: 'P30D' } } } };

describe('tws retain', () => {
  it('says how to configure it when nothing is', async () => {
    const { tws, put, store } = await openProject({});
    await put({ _id: 'f', ...flow('f', ['a']) }, ended('old', 900));
    const { exit, out, err } = await tws(retain);
    expect(exit).toBe(0);
    expect(out).toBe('No retention is configured: all jobs stay.');
    expect(err).toContain('"retain": {"succeeded": {"age": "P30D"}');
    expect(await store.get('retention')).toBeUndefined();
    const { json } = await tws(retain, { mode: 'json' });
    expect(json).toMatchObject({ configured: false, rows: [], documents: 0 });
  });

  it('says with --dry-run what would be removed, and removes nothing', async () => {
    const { tws, put, store } = await openProject(settings);
    await put({ _id: 'f', ...flow('g', ['a'], { retain: { failed: { count: 1 } } }) });
    await put(
      ended('old', 31),
      ended('child', 31, parent('old')),
      ended('live', 31),
      { ...ended('l', 31, parent('live')), state: '$$paused' },
      ended('new', 29),
      ...[1, 2, 3].map((days) => ended(`g${days}`, days, { ...failed, flow: 'g' })),
    );
    const { exit, out, err } = await tws(retain, { flags: { dryRun: true } });
    expect(exit).toBe(0);
    expect(out.split('\n')).toEqual([
      'f::DEFAULT  succeeded  1  1',
      'g::DEFAULT  failed     2  0',
      'would be removed: 3 jobs (4 documents)',
    ]);
    expect(err).toBe('kept: live: job l, which goes with it, has not ended.');
    expect((await store.getMany(['old', 'child', 'g3'])).size).toBe(3);
    const { json } = await tws(retain, { flags: { dryRun: true }, mode: 'json' });
    expect(json).toMatchObject({ dryRun: true, documents: 4, kept: [{ id: 'live', job: 'l' }] });
  });

  it('asks before it removes, and removes with --no-confirm', async () => {
    const { tws, put, store } = await openProject(settings);
    await put(ended('old', 31), ended('new', 1));
    const asked = await tws(retain);
    expect(asked.error?.code).toBe('confirmation_needed');
    expect(await store.get('old')).toBeDefined();
    const { exit, out } = await tws(retain, { flags: { confirm: false } });
    expect(exit).toBe(0);
    expect(out).toBe('f::DEFAULT  succeeded  1  0\nremoved: 1 job');
    expect(await store.get('old')).toBeUndefined();
    expect(await store.get('new')).toBeDefined();
    expect(await store.get('retention')).toMatchObject({ last: { removed: { succeeded: 1 } } });
    const again = await tws(retain, { flags: { confirm: false } });
    expect(again).toMatchObject({ exit: 0, out: 'removed: no job' });
  });

  it('destroys the keys of subjects whose sensitive values are past their time', async () => {
    const space = await openProject({ 'tws.json': { project: 'p', sensitive_retain: 'P30D' } });
    const { vault } = await vaultOf(space, () => Date.now() - 31 * day);
    const { subject } = await vault.put('DEFAULT', 'maria', { iban: 'DE02 1203' });
    const kept = { who: 'test', retain: 0 };
    const ever = await vault.put('DEFAULT', 'ada', { iban: 'DE02 1203' }, kept);
    const dry = await space.tws(retain, { flags: { dryRun: true } });
    expect(dry.out).toBe(
      'would be removed: no job\nwould be removed: sensitive values of 1 subject',
    );
    expect((await space.tws(retain)).error?.code).toBe('confirmation_needed');
    expect(await vault.list()).toHaveLength(2);
    const { exit, out } = await space.tws(retain, { flags: { confirm: false } });
    expect([exit, out]).toEqual([0, 'removed: no job\nremoved: sensitive values of 1 subject']);
    expect(await vault.list()).toMatchObject([{ subject: ever.subject }]);
    const who = expect.stringMatching(/^tws retain/) as string;
    expect((await vault.accesses()).at(-1)).toMatchObject({ how: 'purge', subject, who });
    const { json } = await space.tws(retain, { mode: 'json' });
    expect(json).toMatchObject({ configured: false, subjects: 0 });
  });

  it('removes nothing while another process does', async () => {
    const { tws, put, store } = await openProject(settings);
    const running = { by: 'engine:box', since: 0, until: Date.now() + 60_000 };
    await put(ended('old', 31), { _id: 'retention', type: 'retention', next: 0, running });
    const { exit, error } = await tws(retain, { flags: { confirm: false } });
    expect(exit).toBe(1);
    expect(error?.message).toContain(
      'engine:box has been removing old jobs since 1970-01-01T00:00:00.000Z',
    );
    expect(error?.message).toContain(
      `Its claim ends at ${new Date(running.until).toISOString()} unless it is renewed.`,
    );
    expect(await store.get('old')).toBeDefined();
  });

  it('exits with 1 when a flow says what cannot be followed', async () => {
    const { tws, put } = await openProject({});
    await put({ _id: 'f', ...flow('f', ['a'], { retain: { failed: 1 } }) });
    const { exit, err } = await tws(retain, { flags: { dryRun: true } });
    expect(exit).toBe(1);
    expect(err).toContain(
      'No job of flow f::DEFAULT is removed: retain.failed must be {age, count}, or one of them; it is 1.',
    );
  });

  it('is interrupted with 130', async () => {
    const { tws, put } = await openProject(settings);
    await put(ended('old', 31));
    const stop = AbortSignal.abort();
    const { exit, err } = await tws(retain, { stop, flags: { confirm: false } });
    expect(exit).toBe(130);
    expect(err).toContain('Broken off. Repeat the command to go on.');
    const looked = await tws(retain, { stop, flags: { dryRun: true } });
    expect(looked.error?.code).toBe('interrupted');
    expect(looked.exit).toBe(130);
  });
});

describe('tws start', () => {
  it('removes old jobs in one of several processes, and ends when it is told to', async () => {
    const { root, env, put, until, store } = await openProject(settings);
    await put(...[1, 2, 3].map((i) => ended(`old${i}`, 31)), ended('new', 1));
    const engines = ['a', 'b'].map((name) => start(['start', '--name', name], { cwd: root, env }));
    const { last, running } = await until('retention', ({ last: done }) => done !== undefined);
    expect(running).toBeUndefined();
    expect(last).toMatchObject({ removed: { succeeded: 3, failed: 0, cancelled: 0 }, kept: 0 });
    expect([...(await store.getMany(['old1', 'old2', 'old3', 'new'])).keys()]).toEqual(['new']);
    await expect
      .poll(() => engines.filter(({ err }) => err().includes('Removed 3 old jobs')).length)
      .toBe(1);
    for (const { kill } of engines) kill('SIGTERM');
    expect(await Promise.all(engines.map(({ ended: end }) => end))).toEqual([0, 0]);
    // Taken, given back: the other process has written nothing.
    expect((await store.get('retention'))?._rev).toMatch(/^2-/);
  });
});
