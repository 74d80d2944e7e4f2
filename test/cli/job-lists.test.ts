import { describe, expect, it } from 'vitest';
import { list } from '../../src/cli/commands/list.js';
import { logs } from '../../src/cli/commands/logs.js';
import { openProject } from './database.js';
import { task } from './terminal.js';

const hour = 3_600_000;

describe('tws list', () => {
  it('lists jobs by time, failure and tag, in the order that is asked for', async () => {
    const { tws, put } = await openProject();
    const now = Date.now();
    const ended = (id: string, start: number, took: number, more: object = {}) => ({
      ...{ _id: id, type: 'job', flow: 'f', owner: 'DEFAULT', steps: [], tasks: [] },
      ...{ state: '$$complete', exit: 0, start, end: start + took, ...more },
    });
    const failure = { name: 'Odd', message: 'It is odd.' };
    await put(
      ended('old', now - 3 * hour, 500),
      ended('slow', now - hour / 2, 900, { tags: ['a'] }),
      ended('fast', now - hour / 4, 10, { exit: 2, failure, tags: ['a', 'b'] }),
    );
    const ids = async (flags: Readonly<Record<string, unknown>>): Promise<string[]> => {
      const { json } = await tws(list, { flags });
      return (json as { jobs: { id: string }[] }).jobs.map(({ id }) => id);
    };
    expect(await ids({ since: '1h' })).toEqual(['fast', 'slow']);
    expect(await ids({ since: '1h', status: 'succeeded' })).toEqual(['slow']);
    expect(await ids({ all: true, sort: 'took' })).toEqual(['slow', 'old', 'fast']);
    expect(await ids({ failure: 'Odd' })).toEqual(['fast']);
    expect(await ids({ all: true, tag: 'a,b' })).toEqual(['fast']);
    const limited = await tws(list, { flags: { all: true, sort: '-took', limit: '1' } });
    expect(limited.err).toBe('2 jobs more not shown; `--limit N` shows more than 1.');
    expect((await tws(list, { flags: { sort: 'size' } })).error?.message).toContain(
      '--sort must be one of started, ended, took, flow, status',
    );
    expect((await tws(list, { flags: { since: 'monday' } })).error?.code).toBe('usage');
  });
});

describe('tws logs', () => {
  const plugins = {
    'tell.mjs': `export default ({ log, params, step }) => {
      log('told', { n: params.n });
      if (step.attempt === 1) throw new Error('again');
    };`,
  };

  it('prints the lines of all attempts, or follows them to the end of the job', async () => {
    const { tws, put, engine, ended } = await openProject({}, plugins);
    await put({ ...task('tell', { plugin: 'tell', retry: 1, params: { n: 7 } }), _id: 'tell' });
    await put({ _id: 'j', type: 'job', tasks: ['tell'] });
    expect(await tws(logs, { args: ['j'] })).toMatchObject({
      exit: 0,
      out: '',
      err: 'No step of job j has logged anything yet.',
    });
    const following = tws(logs, { args: ['j'], flags: { follow: true } });
    await engine();
    await ended('j');
    const lines = /^\S+Z {2}tell {2}told n=7\n\S+Z {2}tell#2 {2}told n=7$/;
    expect((await following).out).toMatch(lines);
    const { out, json } = await tws(logs, { args: ['j'] });
    expect(out).toMatch(lines);
    expect(json).toMatchObject([
      { step: 'tell', path: '0', attempt: 1, message: 'told', data: { n: 7 } },
      { step: 'tell', path: '0', attempt: 2, message: 'told', data: { n: 7 } },
    ]);
    expect(await tws(logs, { args: ['j'], flags: { step: 'other' } })).toMatchObject({
      ...{ out: '', err: 'No step "other" of job j has logged anything yet.' },
    });
    const log = [{ at: 0, message: 'priced' }];
    const item = { name: 'price', path: '0.map.7', attempt: 2, log };
    await put({ _id: 'm', type: 'job', flow: 'f', state: '$$complete', exit: 0, steps: [item] });
    const slice = { name: 'all', path: '0.slice.0', child: 's:0.slice.0:1' };
    await put({ _id: 's', type: 'job', flow: 'f', state: '$$complete', exit: 0, steps: [slice] });
    expect((await tws(logs, { args: ['s'] })).err).toBe(
      'No step of job s has logged anything yet. Its child jobs have logs of their own: s:0.slice.0:1.',
    );
    const of = await tws(logs, { args: ['m'] });
    expect(of.out).toBe('1970-01-01T00:00:00.000Z  price#2 (0.map.7)  priced');
  });

  it('knows only jobs', async () => {
    const { tws, put } = await openProject();
    await put({ ...task('tell'), _id: 'tell' });
    expect((await tws(logs, { args: ['tell'] })).error?.code).toBe('document_kind');
    expect((await tws(logs, { args: ['nix'] })).error?.code).toBe('name_missing');
  });
});
