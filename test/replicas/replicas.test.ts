import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmbedded } from '../../src/embedded/start.js';
import { startCopiesProxy } from '../support/copies-proxy.js';
import { openWorkspace } from '../support/workspace.js';
import { storageOfTests } from '../support/storage.js';

const echo = `export default ({ step }) => step.attempt;`;
const gated = `import { existsSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  export default async ({ params, step }) => {
    while (!existsSync(params.gate)) await sleep(10);
    return step.attempt;
  };`;

/** A workspace on a database that says it keeps three copies; the server behind it is real. */
async function severalCopies(plugins: Readonly<Record<string, string>>) {
  const dir = await mkdtemp(join(tmpdir(), 'tws-copies-'));
  const server = await startEmbedded({ dir, ...storageOfTests() });
  onTestFinished(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const { user, password } = server;
  const behind = Object.assign(new URL(server.url), { username: user, password });
  const proxy = await startCopiesProxy(behind.href);
  const space = await openWorkspace(plugins, proxy.url);
  proxy.keep(3);
  await space.put(
    { _id: 'task:DEFAULT:echo', type: 'task', name: 'echo', retry: 1 },
    { _id: 'task:DEFAULT:gated', type: 'task', name: 'gated', params: { gate: join(dir, 'gate') } },
    { _id: 'flow:me:two', type: 'flow', name: 'two', owner: 'me', tasks: ['echo', 'echo'] },
    { _id: 'flow:me:slow', type: 'flow', name: 'slow', owner: 'me', tasks: ['gated', 'echo'] },
  );
  /** Stores a revision with its history beside what is there, as replication does. */
  const graft = async (doc: Record<string, unknown>, ids: readonly string[]): Promise<void> => {
    const { database } = space.store.connection;
    const [newest = ''] = ids;
    const revisions = { start: ids.length, ids };
    const grafted = { ...doc, _rev: `${ids.length}-${newest}`, _revisions: revisions };
    const answer = await fetch(`${server.url}/${database}/_bulk_docs`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
      },
      body: JSON.stringify({ docs: [grafted], new_edits: false }),
    });
    expect([answer.status, await answer.text()]).toEqual([201, expect.stringMatching(/^\[\]/)]);
  };
  return { space, proxy, graft, openGate: () => writeFile(join(dir, 'gate'), '') };
}

const job = { type: 'job', flow: 'two', owner: 'me' };
const generationOf = (rev: string): number => Number.parseInt(rev, 10);
const hashOf = (rev: string): string => rev.slice(rev.indexOf('-') + 1);

describe('on a database with several copies an engine', () => {
  it('writes each claim twice and looks at all copies before it starts', async () => {
    const { space, proxy } = await severalCopies({ 'echo.mjs': echo });
    await space.engine();
    const [id] = await space.put(job);
    const ended = await space.ended(String(id));
    expect(ended.steps.map((step) => [step['attempt'], step.state])).toEqual([
      [1, '$$complete'],
      [1, '$$complete'],
    ]);
    expect(generationOf(ended._rev)).toBe(6);
    const looks = proxy.paths.filter((path) => path.includes(`/${id}?open_revs=all&r=3`));
    expect(looks).toHaveLength(7);
    expect(proxy.paths.some((path) => /_changes\?.*conflicts=true/.test(path))).toBe(true);
    await space.logged(({ message }) => message.includes('keeps 3 copies'));
  });

  it('E3: starts nothing twice when writes are only accepted', async () => {
    const { space, proxy } = await severalCopies({ 'echo.mjs': echo });
    await space.engine();
    await space.engine();
    proxy.accept(40);
    await Promise.allSettled(Array.from({ length: 20 }, () => space.put(job)));
    const documents = await space.store.view('jobs');
    expect(documents).toHaveLength(20);
    for (const { id } of documents) {
      const ended = await space.ended(id);
      expect(ended).toMatchObject({ exit: 0 });
      const begun = ended.steps.filter((step) => 'start' in step);
      expect(begun.map((step) => step['path'])).toEqual(['0', '1']);
    }
  });

  it('brings a running attempt into a revision that has won without it', async () => {
    const { space, graft, openGate } = await severalCopies({
      'echo.mjs': echo,
      'gated.mjs': gated,
    });
    await space.engine();
    const [id] = await space.put({ ...job, _id: 'job-1', flow: 'slow' });
    const first = await space.until(String(id), () => true);
    await space.until(String(id), (doc) => generationOf(doc._rev) === 3);
    const longer = ['f4', 'f3', 'f2', hashOf(first._rev)];
    await graft({ ...job, _id: id, flow: 'slow', note: 'edited' }, longer);
    await space.until(
      String(id),
      (doc) => generationOf(doc._rev) > 4 && doc['state'] === 'gated-0',
    );
    await openGate();
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0, note: 'edited' });
    expect(ended.steps.map((step) => [step['path'], step.state, step['result']])).toEqual([
      ['0', '$$complete', 1],
      ['1', '$$complete', 1],
    ]);
    expect(await space.store.leaves(String(id), 3)).toHaveLength(1);
  });

  it('keeps an outcome that stands in a losing revision', async () => {
    const { space, graft } = await severalCopies({ 'echo.mjs': echo });
    const [id] = await space.put({ ...job, _id: 'job-1' });
    const engine = await space.engine();
    const ended = await space.ended(String(id));
    await engine.stop();
    // The same history up to the first claim, and then a longer one in which nothing has ended.
    const { steps, exit: _exit, end: _end, ...rest } = ended;
    const {
      end: _ended,
      exit: _code,
      result: _result,
      ...begun
    } = steps[0] as Record<string, unknown>;
    const running = { ...rest, state: 'echo-0', steps: [{ ...begun, state: '$$active' }] };
    await graft(running, ['ff', 'fe', 'fd', 'fc', 'fb', 'fa', 'f9']);
    await space.engine();
    const again = await space.until(
      String(id),
      (doc) => generationOf(doc._rev) > 7 && doc['exit'] === 0,
    );
    expect((again['steps'] as unknown[]).length).toBe(2);
    expect(again['steps']).toEqual(steps);
    expect(await space.store.leaves(String(id), 3)).toHaveLength(1);
  });

  it('reads nothing when requests and locks are deleted, but jobs that it knows', async () => {
    const { space, proxy } = await severalCopies({ 'echo.mjs': echo });
    await space.engine();
    const [id] = await space.put(job);
    await space.ended(String(id));
    const asked = { type: 'request', job: id, action: 'note', text: 'a' };
    await space.put({ ...asked, _id: 'request-1' });
    await space.until(String(id), (doc) => doc['notes'] !== undefined);
    await space.logged(({ message }) => message.includes('was applied'));
    const { _rev } = (await space.store.get(String(id))) ?? { _rev: '' };
    await space.store.remove(String(id), _rev);
    const reads = (of: string): boolean =>
      proxy.paths.some((path) => path.startsWith('GET') && path.includes(`/${of}`));
    await space.put({ ...asked, _id: 'request-2' });
    await space.logged(({ message }) => message.includes(`There is no job ${id}`));
    expect([reads('request-1'), reads(String(id))]).toEqual([false, true]);
  });

  it('notices when the database becomes one with a single copy', async () => {
    const { space, proxy } = await severalCopies({ 'echo.mjs': echo });
    await space.engine();
    const [first] = await space.put(job);
    await space.ended(String(first));
    proxy.keep(1);
    proxy.cut();
    await space.logged(({ message }) => message.includes('is back'));
    const [id] = await space.put(job);
    expect(generationOf((await space.ended(String(id)))._rev)).toBe(4);
  });
});
