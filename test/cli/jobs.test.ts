import { describe, expect, it } from 'vitest';
import { list } from '../../src/cli/commands/list.js';
import { push } from '../../src/cli/commands/push.js';
import { remove } from '../../src/cli/commands/remove.js';
import { cancel, pause, resume } from '../../src/cli/commands/request.js';
import { submit } from '../../src/cli/commands/submit.js';
import { view } from '../../src/cli/commands/view.js';
import { openProject } from './database.js';
import { flow, task } from './terminal.js';

const plugins = {
  'hold.mjs': `export default ({ signal }) => new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });`,
};
const files = {
  'd/echo.json': task('echo'),
  'd/bad.json': task('bad', { plugin: 'fail', params: { message: 'broken on purpose' } }),
  'd/hold.json': task('hold', { plugin: 'hold', timeout: 0 }),
  'd/f1.json': flow('greet', ['echo']),
  'd/f2.json': flow('break', ['bad']),
  'd/f3.json': flow('wait', ['hold'], { timeout: 0 }),
  'd/f4.json': flow('two', ['hold', 'echo'], { timeout: 0 }),
  'greet.json': { type: 'job', flow: 'greet', params: { 'echo-0': { name: '[[name]]' } } },
  'break.json': { type: 'job', flow: 'break' },
  'wait.json': { type: 'job', flow: 'wait' },
};

async function ready() {
  const opened = await openProject(files, plugins);
  await opened.tws(push, { args: ['d'] });
  return opened;
}

describe('tws submit', () => {
  // Shows B-11, L-04.
  it('waits for the end and ends as the job does', async () => {
    const { tws, engine } = await ready();
    await engine();
    const good = await tws(submit, { args: ['greet'], flags: { wait: true, set: ['name=Ada'] } });
    expect(good.exit).toBe(0);
    expect(good.out).toContain('"name": "Ada"');
    expect(good.err).toContain('$$complete succeeded');
    const bad = await tws(submit, { args: ['break.json'], flags: { wait: true } });
    expect(bad.exit).toBe(2);
    expect(bad.out).toMatch(/^submitted: \S+$/);
    expect(bad.err.match(/broken on purpose/g)).toHaveLength(1);
    expect(bad.err).toContain('failed at step "bad": broken on purpose');
  });

  // Shows B-13.
  it('stores nothing while a label is open', async () => {
    const { tws, store } = await ready();
    const { error, exit } = await tws(submit, { args: ['greet.json'] });
    expect(exit).toBe(2);
    expect(error?.message).toContain('[[name]] at params.echo-0.name');
    expect(await store.view('jobs')).toEqual([]);
  });

  // Shows B-15.
  it('submits a job of the same id once', async () => {
    const { tws, store } = await ready();
    const again = { args: ['break'], flags: { id: 'order-7' } };
    expect((await tws(submit, again)).out).toBe('submitted: order-7');
    expect((await tws(submit, again)).out).toContain('already submitted as order-7');
    expect(await store.view('jobs')).toHaveLength(1);
    const other = await tws(submit, { args: ['wait'], flags: { id: 'order-7' } });
    expect(other.error).toMatchObject({ code: 'id_taken', exit: 1 });
    expect(other.error?.message).toContain('it differs in flow.');
  });

  it('reads stdin for -', async () => {
    const { tws, store } = await ready();
    const input = JSON.stringify({ _id: 'piped', type: 'job', flow: 'greet' });
    expect((await tws(submit, { args: ['-'], input })).exit).toBe(0);
    expect(await store.get('piped')).toMatchObject({ flow: 'greet' });
  });

  it('warns when nobody knows the flow, and refuses what is no job', async () => {
    const { tws } = await ready();
    const input = JSON.stringify({ type: 'job', flow: 'nix' });
    expect((await tws(submit, { args: ['-'], input })).err).toContain('no flow "nix"');
    const sample = JSON.stringify({ type: 'job', flow: 'mailtest' });
    expect((await tws(submit, { args: ['-'], input: sample })).err).toContain(
      'It is one of the samples: store them with `tws push --samples`.',
    );
    const close = JSON.stringify({ type: 'job', flow: 'gret' });
    expect((await tws(submit, { args: ['-'], input: close })).err).toContain('mean "greet"?');
    expect((await tws(submit, { args: ['d/f1.json'] })).error?.code).toBe('file_unusable');
    expect((await tws(submit, { args: ['nix'] })).error?.code).toBe('nothing_to_submit');
    const wrong = JSON.stringify({ type: 'job', flow: 'greet', priority: 'high' });
    expect((await tws(submit, { args: ['-'], input: wrong })).exit).toBe(3);
  });

  it('stops waiting when it is stopped, and the job goes on', async () => {
    const { tws, store } = await ready();
    const stop = new AbortController();
    const flags = { id: 'w', wait: true };
    const waiting = tws(submit, { args: ['wait'], flags, stop: stop.signal });
    stop.abort();
    expect((await waiting).exit).toBe(130);
    expect((await store.get('w'))?.['state']).toBeUndefined();
  });
});

describe('tws cancel, pause and resume', () => {
  it('are applied by an engine', async () => {
    const { tws, engine, until, ended } = await ready();
    await engine();
    await tws(submit, { args: ['wait'], flags: { id: 'w' } });
    await until('w', ({ state }) => state === 'hold-0');
    const cancelled = await tws(cancel, { args: ['w'], flags: { reason: 'enough' } });
    expect(cancelled.out).toContain('applied: cancel w');
    expect(await ended('w')).toMatchObject({ state: '$$cancelled', exit: 130 });
    const again = await tws(cancel, { args: ['w'] });
    expect(again).toMatchObject({ exit: 1, error: { code: 'job_ended' } });
  });

  it('hold a job back and let it go on', async () => {
    const { tws, put, engine, ended } = await ready();
    await put({ _id: 'p', type: 'job', flow: 'greet', exec_after: Date.now() + 600_000 });
    await engine();
    expect((await tws(pause, { args: ['p'] })).out).toContain('applied: pause p');
    expect((await tws(resume, { args: ['p'] })).out).toContain('applied: resume p');
    await tws(cancel, { args: ['p'] });
    expect(await ended('p')).toMatchObject({ state: '$$cancelled' });
  });

  it('say that the request is stored while no engine runs', async () => {
    const { tws, put } = await ready();
    await put({ _id: 'n', type: 'job', flow: 'greet' });
    const { exit, out, json } = await tws(cancel, { args: ['n'] });
    expect(exit).toBe(0);
    expect(out).toContain('no engine has taken it yet');
    expect(json).toMatchObject({ kind: 'stored' });
  });

  it('know only jobs', async () => {
    const { tws } = await ready();
    expect((await tws(pause, { args: ['nix'] })).error?.code).toBe('document_missing');
    expect((await tws(pause, { args: ['task:DEFAULT:echo'] })).error?.code).toBe('document_kind');
  });
});

describe('tws list, view and remove', () => {
  // Shows, L-03.
  it('list one line each: name => what it is (id)', async () => {
    const { tws, put } = await ready();
    await put({ _id: 'j1', type: 'job', flow: 'greet', owner: 'DEFAULT' });
    const tasks = await tws(list, { flags: { tasks: true } });
    expect(tasks.out.split('\n')).toEqual([
      'bad => fail (task:DEFAULT:bad)',
      'echo => noop (task:DEFAULT:echo)',
      'hold => hold (task:DEFAULT:hold)',
    ]);
    const flows = await tws(list, { flags: { flows: true } });
    expect(flows.out).toContain('greet::DEFAULT => ["echo"] (flow:DEFAULT:greet)');
    await put({ ...flow('old', []), _id: 'flow:DEFAULT:old', deprecated: true });
    const offered = await tws(list, { flags: { flows: true } });
    expect(offered.out).not.toContain('old::DEFAULT');
    expect(offered.err).toContain('1 deprecated flow is not shown; --all shows them, too.');
    const every = await tws(list, { flags: { flows: true, all: true } });
    expect(every.out).toContain('old::DEFAULT => [] deprecated (flow:DEFAULT:old)');
    await put({ ...flow('night', [], { tags: ['nightly', 7] }), _id: 'flow:DEFAULT:night' });
    const tagged = await tws(list, { flags: { flows: true, tag: 'nightly' } });
    expect(tagged.out).toBe('night::DEFAULT => [] (flow:DEFAULT:night)');
    const none = await tws(list, { flags: { flows: true, tag: 'daily' } });
    expect([none.out, none.err]).toEqual(['', 'No flow has these tags.']);
    const views = await tws(list, { flags: { views: true } });
    expect(views.out.split('\n')).toContain('tasks => _design/tws');
    expect((await tws(list, { flags: { views: true, verbose: true } })).out).toContain('"map"');
    expect((await tws(list, { flags: { jobs: true } })).out).toBe(
      'greet::DEFAULT  queued  new  -  -  -  j1',
    );
    expect((await tws(list)).json).toMatchObject({ jobs: [{ id: 'j1', status: 'queued' }] });
    expect((await tws(list, { flags: { tasks: true, verbose: true } })).out).toContain('"_rev"');
  });

  it('list jobs by how they stand', async () => {
    const { tws, engine, put, ended } = await ready();
    await engine();
    await put(
      { _id: 'good', type: 'job', flow: 'greet' },
      { _id: 'failed', type: 'job', flow: 'break' },
      { _id: 'gone', type: 'job', flow: 'wait', cancel: true },
    );
    await Promise.all(['good', 'failed', 'gone'].map((id) => ended(id)));
    const ids = async (name: string): Promise<string[]> => {
      const { json } = await tws(list, { flags: { [name]: true } });
      return (json as { jobs: { id: string }[] }).jobs.map(({ id }) => id).sort();
    };
    expect(await ids('active')).toEqual([]);
    expect(await ids('complete')).toEqual(['failed', 'good']);
    expect(await ids('failed')).toEqual(['failed']);
    expect(await ids('cancelled')).toEqual(['gone']);
    expect(await ids('all')).toEqual(['failed', 'gone', 'good']);
    const { out } = await tws(list, { flags: { failed: true } });
    expect(out).toMatch(
      /^break::DEFAULT {2}failed {2}\$\$complete {2}\d{4}-\S+Z {2}[\d.]+ m?s +Failed \(exit 2\) {2}failed$/,
    );
    const { out: all } = await tws(list, { flags: { all: true } });
    const columns = all.split('\n').map((line) => line.indexOf('$$'));
    expect(new Set(columns).size).toBe(1);
    const limited = await tws(list, { flags: { all: true, limit: '2' } });
    expect(limited.out.split('\n')).toHaveLength(2);
    expect(limited.err).toContain('1 job more not shown; `--limit N` shows more than 2.');
    expect((await tws(list, { flags: { all: true, failed: true } })).error?.code).toBe('usage');
  });

  it('list the engines and whether they live', async () => {
    const { tws, engine, put } = await ready();
    const { id } = await engine();
    const dead = { type: 'engine', host: 'h', pid: 1, version: '0', plugins: [], labels: [] };
    await put({ ...dead, _id: 'engine:old', slots: 1, started: 1, beat: 1, state: 'running' });
    const { out } = await tws(list, { flags: { engines: true } });
    expect(out).toContain(`${id} => running`);
    expect(out).toContain('engine:old => lost');
  });

  it('list the plugins, also the broken ones, with those of the project first', async () => {
    const { tws } = await openProject({ 'plugins/mine.mjs': 'export const x = 1;' });
    const { out } = await tws(list, { flags: { plugins: true } });
    expect(out).toContain('noop => ready: ');
    expect(out).toMatch(/^mine => broken: .*exports no function/);
  });

  it('list jobs with the newest first, with times in ISO 8601 for programs', async () => {
    const { tws, engine, put, ended } = await ready();
    await engine();
    await put({ _id: 'old', type: 'job', flow: 'greet' });
    const { end } = await ended('old');
    await put({ _id: 'new', type: 'job', flow: 'greet' });
    await ended('new');
    const due = new Date(Date.now() + 3_600_000).toISOString();
    await put({ _id: 'late', type: 'job', flow: 'greet', exec_after: due });
    const { json, out } = await tws(list, { flags: { all: true }, terminal: true });
    expect(out).toMatch(/^FLOW +STATUS +STATE +STARTED +TOOK +FAILURE +ID\n/);
    expect(out).toMatch(/ scheduled +\$\$ready +in \S+ \S+ +- +- +late/);
    expect(json).toMatchObject({
      jobs: [
        { id: 'late', status: 'scheduled', due },
        { id: 'new', took_ms: expect.any(Number) as number },
        { id: 'old', end: new Date(Number(end)).toISOString() },
      ],
    });
  });

  // Shows L-04.
  it('view prints a document by id or by name', async () => {
    const { tws, put } = await ready();
    expect((await tws(view, { args: ['task:DEFAULT:echo'] })).json).toMatchObject({ name: 'echo' });
    expect((await tws(view, { args: ['greet'] })).json).toMatchObject({ type: 'flow' });
    expect(await tws(view, { args: ['nix'] })).toMatchObject({ exit: 4 });
    await put({ ...task('echo', { owner: 'me' }), _id: 'mine' });
    expect((await tws(view, { args: ['echo::me'] })).json).toMatchObject({ _id: 'mine' });
    const owned = await tws(view, { args: ['echo'], settings: { owner: 'me' } });
    expect(owned.json).toMatchObject({ _id: 'mine' });
    expect((await tws(view, { args: ['echo::you'] })).error?.code).toBe('name_missing');
  });

  it('view prints the result of a step, also one that is kept as an attachment', async () => {
    const { tws, store } = await ready();
    const at = (path: string, attempt: number) => ({
      path,
      attempt,
      index: 0,
      name: 'n',
      task: 'echo',
    });
    const data = Buffer.from('"much"').toString('base64');
    await store.write({
      _id: 'j1',
      ...{ type: 'job', flow: 'greet', state: '$$complete', exit: 0 },
      steps: [
        { ...at('0', 1), state: '$$complete', result: { n: 1 } },
        { ...at('1', 1), task: 'big', result: { $attachment: 'result-1-1.json', bytes: 6 } },
        { ...at('2', 1), name: 'gone', result: { $attachment: 'result-2-1.json', bytes: 6 } },
      ],
      _attachments: { 'result-1-1.json': { content_type: 'application/json', data } },
    });
    const result = (step: string) => tws(view, { args: ['j1'], flags: { result: step } });
    expect((await result('0')).json).toEqual({ n: 1 });
    expect((await result('big-0')).json).toBe('much');
    expect((await result('gone')).error?.code).toBe('result_missing');
    expect((await result('none')).error?.code).toBe('result_missing');
  });

  it('view lists what a name may mean, and takes a kind', async () => {
    const { tws, put } = await ready();
    await put(
      { ...task('greet'), _id: 'task-of-that-name' },
      { _id: 'j1', type: 'job', flow: 'greet' },
      { _id: 'g1', type: 'job', flow: 'gone' },
    );
    const both = await tws(view, { args: ['greet'] });
    expect(both).toMatchObject({ exit: 2, out: '', error: { code: 'name_ambiguous' } });
    expect(both.err).toBe(
      'task  greet => noop (task-of-that-name)\nflow  greet::DEFAULT => ["echo"] (flow:DEFAULT:greet)',
    );
    const one = { args: ['greet'], flags: { flow: true } };
    expect((await tws(view, one)).json).toMatchObject({ _id: 'flow:DEFAULT:greet' });
    const job = { args: ['greet'], flags: { job: true } };
    expect((await tws(view, job)).json).toMatchObject({ _id: 'j1' });
    expect((await tws(view, { args: ['gone'] })).json).toMatchObject({ _id: 'g1' });
    const none = await tws(view, { args: ['j1'], flags: { task: true } });
    expect(none.error?.message).toBe('There is no document "j1", and no task of that name.');
  });

  // Shows L-04.
  it('remove deletes, but no job that has not ended', async () => {
    const { tws, put, store } = await ready();
    await put({ _id: 'j', type: 'job', flow: 'greet' });
    const refused = await tws(remove, {
      args: ['task:DEFAULT:echo', 'j'],
      flags: { confirm: false },
    });
    expect(refused.error?.code).toBe('job_running');
    expect(await store.get('task:DEFAULT:echo')).toBeDefined();
    const forced = { args: ['j', 'task:DEFAULT:echo'], flags: { confirm: false, force: true } };
    expect((await tws(remove, forced)).exit).toBe(0);
    expect(await store.get('j')).toBeUndefined();
    const unasked = await tws(remove, { args: ['task:DEFAULT:bad'] });
    expect(unasked.error?.code).toBe('confirmation_needed');
    expect(unasked.error?.hint).toContain('--no-confirm');
  });
});
