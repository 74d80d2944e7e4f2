import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { newThing } from '../../src/cli/commands/new.js';
import { test } from '../../src/cli/commands/test.js';
import { project, run } from './terminal.js';

const documents = {
  'couch/tws/tasks/a.json': { type: 'task', name: 'a', params: { key: 'tws:v2:AAAA' } },
  'couch/tws/tasks/b.json': { type: 'task', name: 'b', retry: 1 },
  'couch/tws/flows/f.json': { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: ['a', 'b'] },
};

/** A project with these files besides. */
async function withFiles(files: Readonly<Record<string, unknown>>): Promise<string> {
  const cwd = await project();
  for (const [path, doc] of Object.entries({ ...documents, ...files })) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), JSON.stringify(doc));
  }
  return cwd;
}

describe('tws test', () => {
  // Shows X-28.
  it('runs a case by a version of its flow, and moves its job to another one', async () => {
    const order = (version: string, last: string, more: object = {}) => ({
      ...{ type: 'flow', name: 'order', owner: 'DEFAULT', version, timeout: 0 },
      ...{ tasks: ['a', { wait: { signal: 'go' } }, last], ...more },
    });
    const cwd = await withFiles({
      'couch/tws/flows/order@1.json': order('1', 'b', { current: true }),
      'couch/tws/flows/order@2.json': order('2', 'a'),
      'test/order.test.json': {
        flow: 'order',
        mocks: { a: { result: 1 }, b: { result: 2 } },
        signals: [{ name: 'go', after: 5_000 }],
        cases: [
          { name: 'by the current one', expect: { path: ['a', 'wait', 'b'], version: '1' } },
          { name: 'by version 2', version: 2, expect: { path: ['a', 'wait', 'a'], version: '2' } },
          {
            name: 'moves',
            requests: [{ action: 'migrate', to: '2', after: 1_000 }],
            expect: { path: ['a', 'wait', 'a'], version: '2' },
          },
          { name: 'is not as expected', expect: { version: '2' } },
        ],
      },
    });
    const { out } = await run(test, { cwd });
    expect(
      out
        .replaceAll(/\(\d+ .*\)/g, '')
        .split('\n')
        .slice(0, -1),
    ).toEqual([
      'ok   test/order.test.json: by the current one ',
      'ok   test/order.test.json: by version 2 ',
      'ok   test/order.test.json: moves ',
      'FAIL test/order.test.json: is not as expected',
      '       version: expected "2", was "1"',
    ]);
  });

  it('gives sensitive values to tasks that read them, or a text in their place', async () => {
    const cwd = await withFiles({
      'couch/tws/tasks/a.json': {
        ...{ type: 'task', name: 'a', plugin: 'set', sensitive: ['name', 'iban'] },
        params: { n: 1, text: 'Dear {{$sensitive.name}}', iban: { $sensitive: 'iban' } },
      },
      'couch/tws/flows/f.json': { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: ['a'] },
      'test/f.test.json': {
        flow: 'f',
        cases: [
          {
            name: 'with values, which are hidden as always',
            sensitive: { name: 'Maria', iban: 'DE02 1203' },
            expect: { results: { a: { n: 1, text: '[secret]', iban: '[secret]' } } },
          },
          {
            name: 'without',
            expect: { results: { a: { n: 1, text: '[secret]', iban: '[secret]' } } },
          },
          {
            name: 'to a stand-in',
            sensitive: { name: 'Maria', iban: 'DE02 1203' },
            mocks: { a: { result: 1 } },
            expect: { results: { a: 1 } },
          },
        ],
      },
    });
    const { out, exit } = await run(test, { cwd });
    expect([exit, out]).toEqual([0, expect.not.stringContaining('FAIL')]);
  });

  it('hides secrets and sensitive values in what plugins print', async () => {
    const cwd = await withFiles({
      'couch/tws/tasks/a.json': {
        ...{ type: 'task', name: 'a', plugin: 'talk', sensitive: ['iban', 'name'] },
        params: { iban: { $sensitive: 'iban' } },
      },
      'couch/tws/flows/f.json': { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: ['a'] },
      'test/f.test.json': {
        ...{ flow: 'f', real: ['talk'], sensitive: { iban: 'DE02 1203', name: 'Maria' } },
        cases: [{ name: 'talks', expect: { status: 'succeeded' } }],
      },
    });
    await mkdir(join(cwd, 'plugins'), { recursive: true });
    await writeFile(
      join(cwd, 'plugins/talk.mjs'),
      `import { AsyncResource } from 'node:async_hooks';
       console.log('loaded');
       export default async ({ params, sensitive }) => {
         console.log('iban', params.iban);
         globalThis.sayLate = AsyncResource.bind(() => console.log('late', params.iban));
         const { name } = await sensitive('name');
         console.error({ name: encodeURIComponent(name + '!') }, 'x\\ny');
       };`,
    );
    const print = vi.spyOn(console, 'log');
    onTestFinished(() => print.mockRestore());
    const { out, err, exit } = await run(test, { cwd });
    expect([exit, out]).toEqual([0, expect.not.stringContaining('talk:')]);
    expect(err.split('\n').filter((line) => line.startsWith('talk:'))).toEqual([
      'talk: loaded',
      'talk: iban [secret]',
      "talk: { name: '[secret]!' } x",
      'talk: y',
    ]);
    (globalThis as unknown as { readonly sayLate: () => void }).sayLate();
    expect(print).not.toHaveBeenCalled();
  });

  it('runs the cases of files, and tells each difference', async () => {
    const cwd = await withFiles({
      'test/good.test.json': {
        flow: 'f',
        mocks: { a: { result: '{{params.key}}' }, b: { result: 2 }, c: {} },
        expect: { path: ['a', 'b'], status: 'succeeded' },
      },
      'test/deep/bad.test.json': {
        flow: 'f',
        mocks: { a: { result: 1 } },
        cases: [
          { name: 'fails without a mock', expect: { failure: { name: 'NotMocked' } } },
          { name: 'succeeds', expect: { status: 'succeeded' } },
          {
            name: 'survives a death',
            mocks: { b: [{ takes: 10_000 }, { result: 3 }] },
            deaths: [5_000],
            expect: { attempts: { b: 2 }, results: { b: 3 } },
          },
          {
            name: 'is cancelled',
            mocks: { b: { takes: 10_000 } },
            requests: [{ action: 'cancel', after: 1_000, by: 'ann', reason: 'no' }],
            expect: { status: 'cancelled', failure: { message: 'Cancelled by ann: no.' } },
          },
        ],
      },
      'test/notes.json': {},
    });
    const ran = await run(test, { cwd });
    expect(ran.exit).toBe(1);
    expect(ran.out.replaceAll(/\(\d+ .*\)/g, '(so long)').split('\n')).toEqual([
      'ok   test/deep/bad.test.json: fails without a mock (so long)',
      'FAIL test/deep/bad.test.json: succeeds',
      '       status: expected "succeeded", was "failed"',
      '       The job failed with NotMocked: There is no plugin "b" in this test, and nothing stands in for it',
      'ok   test/deep/bad.test.json: survives a death (so long)',
      'ok   test/deep/bad.test.json: is cancelled (so long)',
      'ok   test/good.test.json: f (so long)',
      '5 cases in 2 files: 1 not as expected',
    ]);
    expect(ran.err).toContain('The mock "c" was not used.');
    const one = await run(test, { cwd, mode: 'json', flags: { case: 'death' } });
    expect([one.exit, one.json]).toMatchObject([
      0,
      { cases: [{ file: 'test/deep/bad.test.json', ok: true, problems: [] }] },
    ]);
  });

  it('tells what is wrong with a file, and where there is none', async () => {
    const cwd = await withFiles({
      'test/bad.test.json': { flow: 'f', mocks: { a: { results: 1 } }, expect: { state: 1 } },
    });
    const bad = await run(test, { cwd });
    expect([bad.exit, bad.error?.code]).toEqual([3, 'documents_invalid']);
    expect(bad.err).toContain('test/bad.test.json: expect');
    const none = await run(test, { cwd: await project() });
    expect([none.exit, none.error?.message]).toEqual([
      4,
      'There are no files of test cases (*.test.json) in test.',
    ]);
    expect((await run(test, { cwd, args: ['nothing'] })).error?.code).toBe('file_missing');
  });

  it('refuses to choose cases by a text that no name has', async () => {
    const cwd = await withFiles({ 'test/f.test.json': { flow: 'f' } });
    const none = await run(test, { cwd, flags: { case: 'refund' } });
    expect([none.exit, none.error?.message]).toEqual([2, 'No case has "refund" in its name.']);
  });

  it('runs what tws new has written', async () => {
    const cwd = await project();
    await run(newThing, { cwd, args: ['project', 'p'] });
    const made = await run(newThing, {
      cwd: join(cwd, 'p'),
      args: ['flow', 'x'],
      flags: { test: true },
    });
    expect(made.out).toContain('Next: npx tws test');
    const ran = await run(test, { cwd: join(cwd, 'p') });
    expect([ran.exit, ran.out.split('\n').at(-1)]).toEqual([
      0,
      '3 cases in 2 files: all as expected',
    ]);
    const wrong = await run(newThing, { cwd, args: ['task', 'x'], flags: { test: true } });
    expect(wrong.error?.message).toBe('--test is for tws new plugin and tws new flow.');
  });
});
