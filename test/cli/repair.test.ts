import { describe, expect, it } from 'vitest';
import { history } from '../../src/cli/commands/history.js';
import { push } from '../../src/cli/commands/push.js';
import { note, retry, skip } from '../../src/cli/commands/repair.js';
import { submit } from '../../src/cli/commands/submit.js';
import { openProject } from './database.js';
import { flow, task } from './terminal.js';

const plugins = {
  'echo.mjs': `export default ({ params }) => params;`,
  // Fails until its parameter says that it is well.
  'moody.mjs': `export default ({ params }) => {
    if (params.well !== true) throw Object.assign(new Error('not well'), { name: params.as ?? 'Unwell' });
    return params;
  };`,
};
const files = {
  'd/echo.json': task('echo', { plugin: 'echo' }),
  'd/moody.json': task('moody', { plugin: 'moody' }),
  'd/f.json': flow('f', ['echo', 'moody']),
  'd/g.json': flow('g', ['moody']),
  'd/outer.json': flow('outer', [{ flow: 'g' }]),
};
const well = '{"moody": {"well": true}}';

/** A project with an engine, and jobs that have failed. */
async function failed(...jobs: readonly (readonly [id: string, flow: string, as?: string])[]) {
  const opened = await openProject(files, plugins);
  await opened.tws(push, { args: ['d'] });
  await opened.engine();
  for (const [id, name, as = 'Unwell'] of jobs) {
    await opened.put({ _id: id, type: 'job', flow: name, params: { moody: { as } } });
    expect(await opened.ended(id)).toMatchObject({ exit: 2, failure: { name: as } });
  }
  /** Waits until the job is final again, in that run. */
  const again = (id: string, run = 2) =>
    opened.until(id, (doc) => doc['run'] === run && doc['state'] === '$$complete');
  return { ...opened, again };
}

type StepDoc = { readonly task: string; readonly state: string; readonly params?: unknown };
const trail = (doc: Readonly<Record<string, unknown>>): readonly string[] =>
  (doc['steps'] as readonly StepDoc[]).map(({ task: name, state }) => `${name} ${state}`);

describe('tws retry', () => {
  // Shows I-05, L-04.
  it('lets a failed job go on at the step that failed, with other parameters', async () => {
    const { tws, again } = await failed(['j', 'f']);
    const said = { by: 'ann', reason: 'it is well now' };
    const { exit, json } = await tws(retry, { args: ['j'], flags: { params: well, ...said } });
    expect(exit).toBe(0);
    expect(json).toMatchObject({ kind: 'applied', id: 'j' });
    const ended = await again('j');
    expect(trail(ended)).toEqual(['echo $$complete', 'moody $$error', 'moody $$complete']);
    expect(ended).toMatchObject({ exit: 0, requests: [{ action: 'retry', ...said }] });
  });

  // Shows X-26.
  it('begins again at the step that --from names', async () => {
    const { tws, again } = await failed(['j', 'f']);
    const params = '{"moody": {"well": true}, "echo": {"n": 2}}';
    await tws(retry, { args: ['j'], flags: { from: 'echo', params } });
    const ended = await again('j');
    const steps = ['echo $$complete', 'moody $$error', 'echo $$complete', 'moody $$complete'];
    expect(trail(ended)).toEqual(steps);
    expect((ended['steps'] as StepDoc[])[2]?.params).toEqual({ n: 2 });
  });

  // Shows B-04, X-27.
  it('goes by the definitions of today with --latest, and else by those of then', async () => {
    const { tws, again, store } = await failed(['old', 'g'], ['new', 'g']);
    const stored = await store.get('task:DEFAULT:moody');
    await store.write({ ...stored, _id: 'task:DEFAULT:moody', params: { well: true } });
    await tws(retry, { args: ['old'] });
    await tws(retry, { args: ['new'], flags: { latest: true } });
    expect(await again('old')).toMatchObject({ exit: 2 });
    expect(await again('new')).toMatchObject({ exit: 0 });
  });

  it('takes several jobs, and one that refuses does not keep the others from it', async () => {
    const { tws, again, put, ended } = await failed(['a', 'g'], ['b', 'g']);
    await put({ _id: 'done', type: 'job', flow: 'g', params: { moody: { well: true } } });
    await ended('done');
    const { exit, err, json } = await tws(retry, {
      args: ['a', 'done', 'b'],
      flags: { params: well },
    });
    expect(exit).toBe(1);
    expect(err).toContain('done');
    expect(json).toMatchObject([{ kind: 'applied' }, { kind: 'refused' }, { kind: 'applied' }]);
    for (const id of ['a', 'b']) expect(await again(id)).toMatchObject({ exit: 0 });
  });

  it('says of a child that its parent has ended and stays as it is', async () => {
    const { tws, again, ended } = await failed(['j', 'outer', 'ChildFailed']);
    expect(await ended('j:0:1')).toMatchObject({ exit: 2 });
    const { err, json } = await tws(retry, { args: ['j:0:1'], flags: { params: well } });
    expect(err).toContain(
      'Its parent job j, whose step "g" failed with this job, has ended: failed.',
    );
    expect(err).toContain('Let it go on with `tws retry j`');
    expect(json).toMatchObject({
      kind: 'applied',
      notice: expect.stringContaining('`tws retry j`') as unknown,
    });
    expect(await again('j:0:1')).toMatchObject({ exit: 0 });
    await tws(retry, { args: ['j'] });
    expect(await again('j')).toMatchObject({ exit: 0 });
  });

  it('chooses failed jobs by flow and failure', async () => {
    const { tws, again, store } = await failed(
      ['a', 'f', 'Cold'],
      ['b', 'g', 'Cold'],
      ['c', 'g', 'Flu'],
    );
    const chosen = { failed: true, flow: 'g', failure: 'Cold', params: well };
    expect((await tws(retry, { flags: chosen })).exit).toBe(0);
    expect(await again('b')).toMatchObject({ exit: 0 });
    for (const id of ['a', 'c']) expect(await store.get(id)).toMatchObject({ exit: 2, run: 1 });
    const none = await tws(retry, { flags: { ...chosen, failure: 'Cough' } });
    expect(none).toMatchObject({ exit: 0, out: 'No job matches.', json: [] });
  });

  it('refuses a step that there is not, and needs to know which jobs', async () => {
    const { tws } = await failed(['j', 'g']);
    const wrong = await tws(retry, { args: ['j'], flags: { from: 'zzz' } });
    expect(wrong.error).toMatchObject({ code: 'request_refused' });
    expect(wrong.error?.message).toContain('no step "zzz"');
    expect((await tws(retry, {})).exit).toBe(2);
  });
});

describe('tws skip', () => {
  // Shows I-05.
  it('leaves a step out that has not begun, and says who wished it', async () => {
    const { tws, store, engine, ended } = await openProject(files, plugins);
    await tws(push, { args: ['d'] });
    const input = JSON.stringify({ _id: 'j', type: 'job', flow: 'f', paused: true });
    await tws(submit, { args: ['-'], input });
    await engine();
    const ran = await tws(skip, { args: ['j', 'moody'], flags: { by: 'ann', reason: 'by hand' } });
    expect(ran.exit).toBe(0);
    const doc = await store.get('j');
    await store.write({ ...doc, _id: 'j', paused: false });
    const end = await ended('j');
    expect(end).toMatchObject({ exit: 0 });
    expect(trail(end)).toEqual(expect.arrayContaining(['echo $$complete', 'moody $$skipped']));
    // The pause and its end were edits of the document, which are on record, too.
    expect(end['requests']).toMatchObject([
      { action: 'pause', edited: true },
      { action: 'skip', by: 'ann', reason: 'by hand' },
      { action: 'resume', edited: true },
    ]);
  });

  it('refuses a step that there is not', async () => {
    const { tws } = await failed(['j', 'g']);
    const { error } = await tws(skip, { args: ['j', 'zzz'] });
    expect(error).toMatchObject({ code: 'request_refused' });
    expect(error?.message).toContain('zzz');
  });
});

describe('tws note', () => {
  // Shows I-06.
  it('keeps a remark in a job, also in one that has ended, and history tells it', async () => {
    const { tws, store } = await failed(['j', 'g']);
    const ran = await tws(note, { args: ['j', 'asked', 'the bank'], flags: { by: 'ann' } });
    expect(ran.exit).toBe(0);
    expect(await store.get('j')).toMatchObject({
      state: '$$complete',
      notes: [{ text: 'asked the bank', by: 'ann' }],
    });
    const told = await tws(history, { args: ['j'] });
    expect(told.out).toMatch(/external NoteAdded .*asked the bank/);
    const kinds = (told.json as readonly { readonly kind: string }[]).map(({ kind }) => kind);
    expect(kinds.slice(0, 5)).toEqual([
      'JobStarted',
      'StepScheduled',
      'StepStarted',
      'StepFailed',
      'JobFailed',
    ]);
    expect(kinds).toContain('NoteAdded');
  });

  it('of no job is refused', async () => {
    const { tws } = await failed();
    const { error } = await tws(note, { args: ['nix', 'text'] });
    expect(error).toMatchObject({ code: 'document_missing' });
  });
});
