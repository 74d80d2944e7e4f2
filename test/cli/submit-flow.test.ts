import { describe, expect, it } from 'vitest';
import { submit } from '../../src/cli/commands/submit.js';
import { withRequired } from '../../src/cli/stored-flow.js';
import { openProject } from './database.js';
import { flow, task, testIo } from './terminal.js';

const plugins = { 'echo.mjs': `export default ({ params }) => params;` };
const schema = {
  type: 'object',
  required: ['who', 'times', 'tone', 'from'],
  properties: {
    who: { type: 'string', description: 'whom to greet' },
    times: { type: 'integer' },
    tone: { type: 'string', default: 'kind' },
    from: {},
  },
};
const greeting = { ...flow('greet', ['echo'], { schema, params: { from: 'TWS' } }), _id: 'f1' };

async function ready(files: Readonly<Record<string, unknown>> = {}) {
  const opened = await openProject(files, plugins);
  await opened.put(
    { ...task('echo', { plugin: 'echo' }), _id: 't1' },
    greeting,
    { ...flow('own', ['echo'], { owner: 'me' }), _id: 'f2' },
    { ...flow('twice', ['echo'], { owner: 'me' }), _id: 'f3' },
    { ...flow('twice', ['echo'], { owner: 'you' }), _id: 'f4' },
  );
  const stored = async (id: string): Promise<Readonly<Record<string, unknown>>> =>
    (await opened.store.get(id)) ?? {};
  return { ...opened, stored };
}

describe('tws submit of a stored flow', () => {
  it('submits a job of the flow with its parameters, and can wait for it', async () => {
    const { tws, engine, stored } = await ready();
    await engine();
    const flags = { params: '{"who": "Ada", "times": 1}', set: ['times=2', 'priority=7'] };
    const ran = await tws(submit, { args: ['greet'], flags: { ...flags, id: 'j', wait: true } });
    expect(ran).toMatchObject({ exit: 0 });
    expect(ran.out).toContain('submitted: j');
    expect(await stored('j')).toMatchObject({
      ...{ type: 'job', flow: 'greet', owner: 'DEFAULT', priority: 7 },
      params: { who: 'Ada', times: 2, tone: 'kind' },
    });
  });

  it('takes parameters from a file, for a job file, too', async () => {
    const { tws, stored } = await ready({
      'p.json': { echo: { n: 1 } },
      'job.json': { type: 'job', flow: 'own', owner: 'me', params: { echo: { a: 1, n: 0 }, b: 2 } },
    });
    const flags = { params: '@p.json' };
    await tws(submit, { args: ['own::me'], flags: { ...flags, id: 'a' } });
    expect(await stored('a')).toMatchObject({ owner: 'me', params: { echo: { n: 1 } } });
    await tws(submit, { args: ['job.json'], flags: { ...flags, id: 'b' } });
    expect((await stored('b'))['params']).toEqual({ echo: { a: 1, n: 1 }, b: 2 });
    for (const params of ['@none.json', '[1]', '{']) {
      const { error } = await tws(submit, { args: ['own'], flags: { params } });
      expect(error?.code).toBe(params.startsWith('@') ? 'file_missing' : 'usage');
    }
  });

  it('warns of keys that nothing reads, with --json in the answer', async () => {
    const { tws } = await ready({
      'job.json': { type: 'job', flow: 'own', owner: 'me', cron: '* * * * *' },
      'good.json': { type: 'job', flow: 'own', owner: 'me' },
    });
    const ran = await tws(submit, { args: ['job.json'], flags: { id: 'a' } });
    expect(ran.out).toContain('submitted: a');
    expect(ran.err).toMatch(/warning:.*job\.json: cron has no effect here/);
    expect(ran.json).toMatchObject({ id: 'a', warnings: [{ file: 'job.json', path: 'cron' }] });
    for (const what of ['good.json', 'own::me']) {
      const { err, json } = await tws(submit, { args: [what] });
      expect(err).toBe('');
      expect(Object.keys(json as object).sort()).toEqual(['existed', 'id', 'rev']);
    }
  });

  it('refuses what a task seals, in a file as for a stored flow, and stores nothing', async () => {
    const job = { type: 'job', flow: 'call', owner: 'me', params: { http: { url: 'evil' } } };
    const { tws, put, stored } = await ready({ 'job.json': job });
    const params = { url: 'good' };
    await put(
      { ...task('http', { plugin: 'echo', params, sealed: ['url'] }), _id: 's1' },
      { ...flow('call', ['http'], { owner: 'me' }), _id: 's2' },
    );
    const byFile = await tws(submit, { args: ['job.json'], flags: { id: 'a' } });
    const flags = { id: 'a', set: ['http.url=evil'] };
    const byFlow = await tws(submit, { args: ['call::me'], flags });
    for (const { error, err } of [byFile, byFlow]) {
      expect(error?.code).toBe('documents_invalid');
      expect(err).toContain('The parameter url of task "http" is sealed');
    }
    expect(await stored('a')).toEqual({});
    const fine = { id: 'a', set: ['http.url=good'] };
    expect(await tws(submit, { args: ['call::me'], flags: fine })).toMatchObject({ exit: 0 });
  });

  it('belongs to the owner of the flow, or to the one that was chosen', async () => {
    const { tws, stored } = await ready();
    await tws(submit, { args: ['own'], flags: { id: 'a', queue: 'nightly' } });
    expect(await stored('a')).toMatchObject({ flow: 'own', owner: 'me', queue: 'nightly' });
    const wrong = await tws(submit, { args: ['own'], flags: { queue: '' } });
    expect([wrong.exit, wrong.err]).toEqual([3, expect.stringContaining('queue must be a name')]);
    const flags = { set: ['who=Ada', 'times=1'], id: 'b' };
    await tws(submit, { args: ['greet'], flags, settings: { owner: 'you' } });
    expect(await stored('b')).toMatchObject({ flow: 'greet', owner: 'you' });
    await tws(submit, { args: ['f2'], flags: { id: 'c' } });
    expect(await stored('c')).toMatchObject({ flow: 'own', owner: 'me' });
  });

  it('has to be one flow: the others are told', async () => {
    const { tws, store } = await ready();
    const twice = await tws(submit, { args: ['twice'] });
    expect(twice.error).toMatchObject({ code: 'name_ambiguous', exit: 2 });
    expect(twice.err).toContain('twice::me');
    expect(twice.err).toContain('twice::you');
    const none = await tws(submit, { args: ['gret'] });
    expect(none.error).toMatchObject({ code: 'nothing_to_submit', exit: 4 });
    expect(none.error?.message).toContain('Did you mean "greet"?');
    const other = await tws(submit, { args: ['own'], settings: { owner: 'you' } });
    expect(other.error?.message).toContain('no stored flow "own" of owner "you" or DEFAULT');
    expect((await tws(submit, { args: ['x/own'] })).error?.code).toBe('file_missing');
    expect(await store.view('jobs')).toEqual([]);
    await tws(submit, { args: ['twice::me'], flags: { id: 'a' } });
    expect(await store.get('a')).toMatchObject({ owner: 'me' });
  });

  it('leaves the word to a job file of that name, and says so', async () => {
    const { tws, stored } = await ready({
      'couch/tws/jobs/own.json': { type: 'job', flow: 'own', owner: 'me', tags: ['file'] },
    });
    const file = await tws(submit, { args: ['own'], flags: { id: 'a' } });
    expect(await stored('a')).toMatchObject({ tags: ['file'] });
    expect(file.err).toContain('--stored-flow takes the flow "own" without it');
    const taken = await tws(submit, { args: ['own'], flags: { id: 'b', storedFlow: true } });
    expect(await stored('b')).not.toHaveProperty('tags');
    expect(taken.err).toBe('');
  });

  it('needs what the schema of the flow requires', async () => {
    const { tws } = await ready();
    const { error, exit } = await tws(submit, { args: ['greet'], flags: { set: ['times=1'] } });
    expect(exit).toBe(2);
    expect(error?.message).toBe('Flow "greet" requires parameters that were not given: who.');
  });

  it('asks for it on a terminal, until there is an answer', async () => {
    const { io } = testIo({ cwd: '.' });
    const asked: string[] = [];
    const answers = ['', 'Ada', '3'];
    const text = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve(answers.shift() ?? '');
    };
    const never = () => Promise.reject(new Error('not asked'));
    const ask = () => Promise.resolve({ text, hidden: never, confirm: never });
    const doc = { ...greeting, _rev: '1-x' };
    const job = await withRequired({ type: 'job' }, doc, { ...io, interactive: true }, ask);
    expect(job['params']).toEqual({ who: 'Ada', times: 3, tone: 'kind' });
    expect(asked).toEqual(['who (whom to greet):', 'who (whom to greet):', 'times:']);
  });
});
