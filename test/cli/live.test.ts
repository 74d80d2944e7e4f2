import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProxy } from '../store/tcp-proxy.js';
import { couchUrl } from '../support/couch.js';
import { openProject, type Project } from './database.js';
import { tws } from './executable.js';
import { twsOnTerminal } from './pseudo-terminal.js';
import { flow, task } from './terminal.js';

const plugins = {
  'fail.mjs': `export default () => { throw new Error('The disk is full.'); };`,
  'brief.mjs': `export default () => new Promise((resolve) => setTimeout(resolve, 700));`,
};
const documents = [
  { _id: 't1', ...task('echo') },
  { _id: 't2', ...task('fail', { plugin: 'fail' }) },
  { _id: 't3', ...task('brief', { plugin: 'brief' }) },
  { _id: 'f1', ...flow('greet', ['echo', { wait: { signal: 'go' } }, 'brief']) },
  { _id: 'f2', ...flow('bad', ['echo', 'fail']) },
];

async function ready(): Promise<Project> {
  const space = await openProject({}, plugins);
  await space.put(...documents);
  await space.engine({ drainMs: 100 });
  return space;
}

const shown = (screen: string): string => screen.replaceAll('\u001B', 'ESC');
const signal = (job: string) => ({ _id: `s-${job}`, type: 'signal', job, name: 'go' });

describe('tws watch of a job', () => {
  // Shows X-44.
  it('prints a line for each thing that happens, and ends with its exit', async () => {
    const { root: cwd, env, put } = await ready();
    const watching = tws(['watch', 'bad'], { cwd, env });
    expect(await watching.ended).toBe(4);
    await put({ _id: 'j', type: 'job', flow: 'bad' });
    const { ended, out } = tws(['watch', 'j'], { cwd, env });
    expect(await ended).toBe(2);
    expect(out()).toMatch(/0 echo done/);
    expect(out()).toMatch(/1 fail failed.*The disk is full\./);
    expect(out()).toMatch(/j: \$\$complete failed at step "fail": The disk is full\.\n$/);
    expect(out()).not.toContain('\u001B');
  });

  it('draws its steps in their place on a terminal, in colours', async () => {
    const { root: cwd, env, put } = await ready();
    await put({ _id: 'j', type: 'job', flow: 'greet' });
    const watching = twsOnTerminal(['watch', 'j'], { cwd, env });
    await watching.shows(/1 of 3 steps done, now: wait waiting/);
    await put(signal('j'));
    expect(await watching.ended).toBe(0);
    const screen = watching.screen();
    expect(shown(screen)).toMatch(/ESC\[\d+A\r/);
    expect(shown(screen)).toMatch(/ESC\[32m✔ brief *ESC\[39m +done/);
    expect(screen).toContain('3 of 3 steps done');
  });

  it('prints a line of JSON for each revision with --json', async () => {
    const { root: cwd, env, put } = await ready();
    await put({ _id: 'j', type: 'job', flow: 'bad' });
    const { ended, out } = tws(['watch', 'j', '--json'], { cwd, env });
    expect(await ended).toBe(2);
    const lines = out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines.at(-1)).toMatchObject({
      id: 'j',
      status: 'failed',
      exit: 2,
      steps: [{ name: 'echo' }, { failed: true }],
    });
  });

  it('ends with 130 at Ctrl-C, and the job goes on', async () => {
    const { root: cwd, env, put } = await ready();
    await put({ _id: 'j', type: 'job', flow: 'greet' });
    const watching = tws(['watch', 'j'], { cwd, env });
    await watching.prints(/wait/);
    watching.kill('SIGINT');
    expect(await watching.ended).toBe(130);
    expect(watching.err()).toContain('Job j goes on');
  });

  it('lasts while the database is away', async () => {
    const { root: cwd, env, put } = await ready();
    await put({ _id: 'j', type: 'job', flow: 'greet' });
    const proxy = await startProxy(couchUrl());
    const watching = tws(['watch', 'j'], { cwd, env: { ...env, COUCH_URL: proxy.url } });
    await watching.prints(/wait-1 waiting/);
    await proxy.listen(false);
    await watching.prints(/does not answer/);
    await put(signal('j'));
    await proxy.listen(true);
    expect(await watching.ended).toBe(0);
    expect(watching.err()).toContain('answers again');
  });
});

describe('tws watch of all jobs', () => {
  it('prints the changes of those that are wanted until it is stopped', async () => {
    const { root: cwd, env, put, ended } = await ready();
    const watching = tws(['watch', '--flow', 'bad', '--status', 'failed'], { cwd, env });
    await watching.prints(/Watching jobs of flow bad that are failed; Ctrl-C ends it\./);
    await put({ _id: 'a', type: 'job', flow: 'greet' }, { _id: 'b', type: 'job', flow: 'bad' });
    await watching.prints(/bad::DEFAULT {2}b: \$\$complete failed/);
    await ended('b');
    watching.kill('SIGTERM');
    expect(await watching.ended).toBe(130);
    expect(watching.out()).not.toMatch(/greet|running/);
  });

  it.each<[string, readonly string[], object?]>([
    ['all jobs', []],
    ['jobs of flow bad', ['--flow', 'bad']],
    ['jobs of flows bad, greet', ['--flow', 'bad,greet']],
    [
      'jobs of owner ann that are queued or failed',
      ['--status', 'queued,failed'],
      { owner: 'ann' },
    ],
  ])('says that it watches %s', async (what, args, settings = {}) => {
    const { root: cwd, env } = await openProject({ 'tws.json': settings });
    const watching = tws(['watch', ...args], { cwd, env });
    await watching.prints(/Watching.*\n/);
    expect(watching.err()).toContain(`Watching ${what}; Ctrl-C ends it.`);
  });

  it('refuses a status that there is not', async () => {
    const { root: cwd, env } = await ready();
    const { ended, err } = tws(['watch', '--status', 'broken'], { cwd, env });
    expect(await ended).toBe(2);
    expect(err()).toMatch(/--status must be of queued, /);
  });
});

describe('tws submit --wait', () => {
  it('tells on a terminal how far the job is, in one line that changes', async () => {
    const { root: cwd, env, put } = await ready();
    await put({ _id: 'f3', ...flow('two', ['brief', 'echo']) });
    await writeFile(join(cwd, 'two.json'), JSON.stringify({ type: 'job', flow: 'two' }));
    const submitting = twsOnTerminal(['submit', 'two.json', '--id', 'j', '--wait'], { cwd, env });
    expect(await submitting.ended).toBe(0);
    expect(submitting.screen()).toMatch(/0 of 2 steps done, now: brief/);
    expect(shown(submitting.screen())).toMatch(/ESC\[1A\r/);
  });
});

describe('tws top', () => {
  it('prints once how things stand, also as JSON', async () => {
    const { root: cwd, env, put, ended } = await ready();
    await put({ _id: 'a', type: 'job', flow: 'greet' }, { _id: 'b', type: 'job', flow: 'bad' });
    await ended('b');
    await expect.poll(async () => JSON.stringify(await topOf(cwd, env))).toContain('"waiting":1');
    expect(await topOf(cwd, env)).toMatchObject({
      counts: { waiting: 1, failed: 1 },
      engines: [{ used: 0, slots: expect.any(Number) as number, state: 'running' }],
      flows: [{ flow: 'greet::DEFAULT', jobs: 1 }],
      waiting: [{ id: 'a', status: 'waiting' }],
    });
    const { ended: over, out } = tws(['top'], { cwd, env });
    expect(await over).toBe(0);
    expect(out()).toMatch(/Jobs .*waiting 1.*failed 1/);
    expect(out()).toMatch(/1 engine alive, 0 of \d+ slots in use/);
  });

  const left = '\u001B[?25h\u001B[?1049l';
  it.each<readonly [string, number, (top: ReturnType<typeof twsOnTerminal>) => void]>([
    ['q', 0, ({ press }) => press('q')],
    ['Ctrl-C', 130, ({ press }) => press('\u0003')],
    ['SIGTERM', 130, ({ kill }) => kill('SIGTERM')],
  ])('gives the terminal back at %s', async (_title, exit, leave) => {
    const { root: cwd, env } = await ready();
    const top = twsOnTerminal(['top'], { cwd, env });
    await top.shows(/1 engine alive/);
    leave(top);
    expect(await top.ended).toBe(exit);
    expect(top.screen()).toContain(left);
    expect(top.screen()).toMatch(/ icanon .*[^-]echo /s);
  });

  it('gives the terminal back when it fails', async () => {
    const { root: cwd, env } = await ready();
    const top = twsOnTerminal(['top', '--database', 'tws-test-none'], { cwd, env });
    expect(await top.ended).not.toBe(0);
    expect(top.screen()).toContain(left);
  });

  it('says that a terminal is too small', async () => {
    const { root: cwd, env } = await ready();
    const top = twsOnTerminal(['top'], { cwd, env, columns: 30, rows: 6 });
    await top.shows(/Too small: 30×6;/);
    top.press('q');
    expect(await top.ended).toBe(0);
  });
});

async function topOf(cwd: string, env: Project['env']): Promise<unknown> {
  const { ended, out } = tws(['top', '--once', '--json'], { cwd, env });
  await ended;
  return JSON.parse(out()) as unknown;
}
