import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disable } from '../../src/cli/commands/enable.js';
import { pull } from '../../src/cli/commands/pull.js';
import { push } from '../../src/cli/commands/push.js';
import { validate } from '../../src/cli/commands/validate.js';
import { loadConfig } from '../../src/config/load.js';
import { openProject } from './database.js';
import { flow, project, run, task, testIo } from './terminal.js';

const files = {
  'couch/tws/tasks/a.json': '{\n    "type": "task",\n    "name": "a", "plugin": "noop"\n}\n',
  'couch/tws/tasks/_draft.json': '{ not json',
  'couch/tws/flows/f.json': flow('f', ['a']),
  'couch/tws/jobs/f.json': { type: 'job', flow: 'f', params: { 'a-0': { to: '[[to]]' } } },
};

/** The flows that come with the package, as the view has them. */
const shipped = [
  'approval',
  'batch',
  'decider',
  'etl',
  'mailtest',
  'map',
  's3',
  'saga',
  'templatemail',
].map((name) => `${name}::DEFAULT`);

describe('a copied file', () => {
  const copied = 'couch/tws/flows/express.json';

  async function withCopy(change: object) {
    const opened = await openProject(files);
    await opened.tws(push, { flags: { map: true } });
    const text = await readFile(join(opened.root, 'couch/tws/flows/f.json'), 'utf8');
    const copy = { ...(JSON.parse(text) as object), ...change };
    await writeFile(join(opened.root, copied), JSON.stringify(copy));
    return opened;
  }

  it.each([
    ['of another name', { name: 'express' }, 'flow "express" of owner "DEFAULT"'],
    ['of another owner', { owner: 'ada' }, 'flow "f" of owner "ada"'],
  ])('%s does not take the place of its original', async (_title, change, what) => {
    const { tws, store, root } = await withCopy(change);
    const before = await store.get('flow:DEFAULT:f');
    const told = `${copied}: _id: "flow:DEFAULT:f" is flow "f" of owner "DEFAULT", and this file is ${what}; remove _id from the file, and it is stored as a document of its own.`;
    for (const command of [push, validate]) {
      const { exit, err } = await tws(command, { args: [copied] });
      expect([exit, err]).toEqual([3, expect.stringContaining(told)]);
    }
    const pulled = await tws(pull, { args: [copied] });
    expect([pulled.exit, `${pulled.out}${pulled.err}`]).toEqual([1, expect.stringContaining(what)]);
    expect(await store.get('flow:DEFAULT:f')).toEqual(before);
    const {
      $schema: _,
      _id,
      ...rest
    } = JSON.parse(await readFile(join(root, copied), 'utf8')) as Record<string, unknown>;
    await writeFile(join(root, copied), JSON.stringify(rest));
    expect((await tws(push, { args: [copied] })).out).toMatch(/^inserting: /);
  });

  it('and its original are told by their common _id where no database answers', async () => {
    const { root } = await withCopy({ version: '2' });
    const env = { COUCH_URL: 'http://127.0.0.1:9' };
    const { exit, err } = await run(validate, { cwd: root, env, args: ['~tws'] });
    expect([exit, err]).toEqual([
      3,
      expect.stringContaining(
        '"flow:DEFAULT:f" stands in couch/tws/flows/f.json, too; remove _id from the file that is the copy.',
      ),
    ]);
  });
});

describe('tws push', () => {
  it('refuses a file that is not UTF-8', async () => {
    const { tws, store, root } = await openProject(files);
    const latin = Buffer.from('{"type":"task","name":"prüf"}', 'latin1');
    await writeFile(join(root, 'couch/tws/tasks/b.json'), latin);
    const { exit, err } = await tws(push, { flags: { map: true } });
    expect([exit, err]).toEqual([
      3,
      expect.stringContaining('couch/tws/tasks/b.json: The file is not a text in UTF-8'),
    ]);
    expect(await store.get('task:DEFAULT:a')).toBeUndefined();
  });

  // Shows.
  it('inserts tasks before flows, writes ids back and then has nothing to do', async () => {
    const { tws, store, root } = await openProject(files);
    const first = await tws(push, { flags: { map: true } });
    expect(first.exit).toBe(0);
    expect(first.out.split('\n').map((line) => line.replace(/ \d+-\w+$/, ''))).toEqual([
      'skipping: _design/tws (already up to date)',
      'skipping: couch/tws/tasks/_draft.json (its name begins with _)',
      'inserting: couch/tws/tasks/a.json => ok task:DEFAULT:a',
      'inserting: couch/tws/flows/f.json => ok flow:DEFAULT:f',
    ]);
    expect(await store.get('task:DEFAULT:a')).toMatchObject({ type: 'task', plugin: 'noop' });
    expect(await readFile(join(root, 'couch/tws/tasks/a.json'), 'utf8')).toBe(
      '{\n    "_id": "task:DEFAULT:a",\n    "type": "task",\n    "name": "a", "plugin": "noop"\n}\n',
    );
    const second = await tws(push, { flags: { map: true } });
    expect(second.out).toContain('skipping: couch/tws/tasks/a.json (already up to date)');
    expect(second.out).not.toContain('updating');
  });

  // Shows A-14.
  it('updates what has changed, found by name where the file has no id', async () => {
    const { tws, store, root, put } = await openProject({ 'a.json': task('a', { timeout: 5 }) });
    await put({ ...task('a'), _id: 'chosen-by-hand' });
    const { out, json } = await tws(push, { args: ['a.json'] });
    expect(out).toMatch(/^updating: a\.json => ok chosen-by-hand 2-/);
    expect(json).toMatchObject({ documents: [{ action: 'updated', id: 'chosen-by-hand' }] });
    expect(await store.get('chosen-by-hand')).toMatchObject({ timeout: 5 });
    expect(await readFile(join(root, 'a.json'), 'utf8')).toContain('"_id": "chosen-by-hand"');
  });

  it('keeps a flow disabled that an operator has disabled', async () => {
    const { tws, store, root } = await openProject({ 'f.json': flow('f', []) });
    await tws(push, { args: ['f.json'] });
    await tws(disable, { args: ['f'] });
    expect((await tws(push, { args: ['f.json'] })).out).toContain('already up to date');
    await writeFile(join(root, 'f.json'), JSON.stringify(flow('f', [], { timeout: 9 })));
    await tws(push, { args: ['f.json'] });
    expect(await store.get('flow:DEFAULT:f')).toMatchObject({ enabled: false, timeout: 9 });
  });

  it('writes nothing at all when one file is wrong, and tells every problem', async () => {
    const { tws, store } = await openProject({
      'd/a.json': task('a'),
      'd/b.json': task('b', { timeout: -1, retry: 'x' }),
      'd/c.json': '{',
      'd/d.json': flow('d', ['a'], { error: 'loop' }),
      'd/e.json': task('loop', { error: 'loop' }),
    });
    const { exit, err, error } = await tws(push, { args: ['d'] });
    expect(exit).toBe(3);
    expect(error?.code).toBe('documents_invalid');
    expect(err).toMatch(/^d\/b\.json: timeout must be a duration/m);
    expect(err).toMatch(/^d\/b\.json: retry must be /m);
    expect(err).toMatch(/^d\/c\.json: line 1, column 2: /m);
    expect(err).toMatch(/^d\/e\.json: error: .*circle \(loop -> loop\)/m);
    expect(await store.get('task:DEFAULT:a')).toBeUndefined();
  });

  it('warns of names that are nowhere and of plugins that are not here, and pushes', async () => {
    const { tws } = await openProject({
      'f.json': flow('f', ['gone']),
      't.json': task('t', { plugin: 'mine' }),
      'd.json': flow('d', [{ decider: 'nobody' }]),
    });
    const { exit, err } = await tws(push, { args: ['f.json', 't.json', 'd.json'] });
    expect(exit).toBe(0);
    expect(err).toContain('warning: f.json: tasks.sequence[0] names ');
    expect(err).toContain('There is no plugin "mine"');
    expect(err).toContain('d.json: tasks.sequence[0].decider: There is no plugin "nobody" in ');
  });

  it('warns of passwords that everybody can read', async () => {
    const auth = { params: { smtp: { auth: { user: 'me', pass: 'hunter2' } } } };
    const { tws } = await openProject({ 't.json': task('t', auth) });
    const { err } = await tws(push, { args: ['t.json'] });
    expect(err).toContain('params.smtp.auth.pass');
    expect(err).not.toContain('hunter2');
  });

  it('refuses a second document for one name and owner', async () => {
    const { tws, put } = await openProject({ 'a.json': task('a', { _id: 'mine' }) });
    await put({ ...task('a'), _id: 'theirs' });
    const { exit, err } = await tws(push, { args: ['a.json'] });
    expect(exit).toBe(3);
    expect(err).toContain('is stored as "theirs" already');
  });

  it('submits jobs only when they are asked for, and each once', async () => {
    const { tws, store } = await openProject({
      'couch/tws/jobs/open.json': files['couch/tws/jobs/f.json'],
      'couch/tws/jobs/j.json': { type: 'job', flow: 'f' },
    });
    expect((await tws(push, { args: ['couch'] })).out).toContain('submit it, or push --jobs');
    expect(await store.view('jobs')).toEqual([]);
    const { out } = await tws(push, { flags: { jobs: true } });
    expect(out).toContain('inserting: couch/tws/jobs/j.json => ok ');
    expect(out).toContain('skipping: couch/tws/jobs/open.json ([[to]] open: submit it)');
    expect((await tws(push, { flags: { jobs: true } })).out).toContain('already submitted');
    expect(await store.view('jobs')).toHaveLength(1);
  });

  it('pushes the samples from wherever it is called, and leaves their files alone', async () => {
    const { tws, store } = await openProject();
    const { exit, err } = await tws(push, { flags: { map: true } });
    expect([exit, err]).toEqual([0, '']);
    expect((await store.view('flows')).map(({ key }) => key)).toEqual(shipped);
  });

  it('stores the samples in a project that has documents of its own', async () => {
    const { tws, store } = await openProject(files);
    const { exit, err, out } = await tws(push, { flags: { samples: true } });
    expect([exit, err]).toEqual([0, '']);
    expect(out).toMatch(/^inserting: ~tws\/tasks\/mail\.json => ok task:DEFAULT:mail/m);
    const names = (await store.view('flows')).map(({ key }) => key);
    expect(names).toEqual(shipped);
    expect((await tws(push, { flags: { samples: true } })).out).not.toContain('inserting');
  });

  it('never puts a sample in the place of a task of your own', async () => {
    const { tws, store, put } = await openProject();
    const own = task('mail', { plugin: 'noop' });
    await put({ ...own, _id: 'task:DEFAULT:mail' }, { ...task('s3'), _id: 'mine' });
    const { exit, out } = await tws(push, { flags: { samples: true } });
    expect(exit).toBe(0);
    expect(out).toContain('skipping: ~tws/tasks/mail.json (you have one of your own');
    expect(out).toContain('skipping: ~tws/tasks/s3.json (you have one of your own');
    expect(await store.get('task:DEFAULT:mail')).toMatchObject(own);
    expect(await store.get('task:DEFAULT:s3')).toBeUndefined();
  });

  it.each([
    ['a sample', 'mail', 'It is one of the samples: store them with `tws push --samples`.'],
    ['a mistyped one', 'ehco', 'Did you mean "echo"?'],
    ['any other', 'elsewhere', 'Push that task, too, or jobs for it fail.'],
  ])('says before it stores a flow what to do about a missing task: %s', async (_t, name, todo) => {
    const opened = await openProject({ 'f.json': flow('f', [name]), 'echo.json': task('echo') });
    const { env, root } = opened;
    const warned: (string | undefined)[] = [];
    const { io } = testIo({ cwd: root, env });
    const watched = { ...io, warn: (line: string) => void warned.push(line), out: checkWarned };
    function checkWarned(line: string): void {
      if (line.includes('f.json')) expect(warned.join()).toContain(todo);
    }
    const config = () => loadConfig({ flags: {}, env, cwd: root });
    const args = ['f.json', 'echo.json'];
    expect(await push({ args, flags: {}, config }, watched)).toBe(0);
    expect(warned.join()).toContain(`names the task "${name}"`);
  });

  it('wants to know what', async () => {
    const { tws } = await openProject();
    expect((await tws(push)).error?.code).toBe('usage');
  });
});

describe('tws validate', () => {
  // Shows L-04.
  it('checks and writes nothing', async () => {
    const { tws, store } = await openProject(files);
    expect(await tws(validate)).toMatchObject({ exit: 0 });
    expect(await store.view('tasks')).toEqual([]);
  });

  it('warns of what is hardly meant, and names the mistyped key that a problem comes from', async () => {
    const { tws } = await openProject({
      'a.json': task('a', { plugin: 'http-request', params: { url: 5 }, retry: { limt: 2 } }),
      'f.json': flow('f', [{ task: 'a', wen: 'results.b = 1', when: 'results.b = 1' }, 'a']),
      'n.json': { type: 'task', nmae: 'n' },
    });
    const { exit, err } = await tws(validate, { args: ['a.json', 'f.json', 'n.json'] });
    expect(exit).toBe(3);
    expect(err).toContain('n.json: name is missing.');
    expect(err).toContain(
      'n.json: nmae is no key that TWS knows, so nothing reads it; did you mean "name"?',
    );
    expect(err).toContain('a.json: retry.limt is no key');
    expect(err).toContain(
      'a.json: params does not suit plugin "http-request": url must be string.',
    );
    expect(err).toContain('f.json: tasks.sequence[0].when asks for results.b');
    expect(err).not.toMatch(/(\b[\w.[\]]+): \1\b/);
  });

  it('checks the files also when no database answers', async () => {
    const root = await project({
      'f.json': flow('f', ['elsewhere']),
      'b.json': task('b', { retry: -1 }),
    });
    const env = { COUCH_URL: 'http://127.0.0.1:2' };
    const good = await run(validate, { cwd: root, env, args: ['f.json'] });
    expect(good.exit).toBe(0);
    expect(good.err).toContain('not checked against a database');
    expect(good.err).toContain('warning: f.json: tasks.sequence[0] names the task "elsewhere"');
    expect((await run(validate, { cwd: root, env, args: ['b.json'] })).exit).toBe(3);
  });
});
