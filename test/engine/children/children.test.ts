import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { flow } from '../../support/documents.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const plugins = { 'echo.mjs': `export default ({ params }) => ({ got: params.n ?? null });` };
const task = { _id: 'task:DEFAULT:echo', type: 'task', name: 'echo' };
const inner = flow('inner', ['echo'], { output: 'results.echo' });
const params = { echo: { n: '{{job.params.n}}' } };

describe('a job with a child flow', () => {
  it('has its own child also when a former job of its id has left one', async () => {
    const space = await openWorkspace(plugins);
    await space.put(task, inner, flow('outer', [{ flow: 'inner', params }]));
    await space.engine();
    const job = { _id: 'nightly', type: 'job', flow: 'outer', owner: 'me' };
    await space.put({ ...job, params: { n: 1 } });
    const one = await space.ended('nightly');
    expect(one.steps).toMatchObject([{ child: 'nightly:0:1', result: { got: 1 } }]);
    await space.store.remove('nightly', one._rev);
    await space.put({ ...job, params: { n: 2 } });
    const two = await space.until(
      'nightly',
      (doc) => doc['state'] === '$$complete' && doc._rev !== one._rev,
    );
    expect(two['steps']).toMatchObject([
      { child: `nightly:0:1:${String(two['start'])}`, result: { got: 2 } },
    ]);
  });
});

describe('a child whose document is deleted while it runs', () => {
  const hold = `
    import { appendFileSync, existsSync } from 'node:fs';
    export default async ({ cwd, signal }) => {
      appendFileSync(cwd + '/runs', 'run ');
      if (existsSync(cwd + '/open')) return 'through';
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };`;

  it('runs again from its beginning, and its parent says so once', async () => {
    const space = await openWorkspace({ 'hold.mjs': hold });
    const holds = { _id: 'task:DEFAULT:hold', type: 'task', name: 'hold' };
    const held = flow('inner', ['hold'], { output: 'results.hold' });
    await space.put(holds, held, flow('outer', [{ flow: 'inner' }]));
    await Promise.all([space.engine(), space.engine()]);
    await space.put({ _id: 'p', type: 'job', flow: 'outer', owner: 'me' });
    const isRunning = ({ steps }: Readonly<Record<string, unknown>>): boolean =>
      Array.isArray(steps) && steps.some(({ state }) => state === '$$active');
    const child = await space.until('p:0:1', isRunning);
    // The claim is stored before the plugin runs, which must have found the door shut.
    await vi.waitFor(() => access(join(space.folder, 'runs')), { timeout: 240_000 });
    await writeFile(join(space.folder, 'open'), '');
    const removed = await space.store.remove('p:0:1', child._rev);
    expect(removed).toMatchObject({ kind: 'written' });
    const ended = await space.ended('p');
    expect(ended).toMatchObject({
      exit: 0,
      steps: [{ child: 'p:0:1', result: 'through', remade: expect.any(Number) as unknown }],
    });
    expect(ended['problems']).toEqual([
      {
        path: 'steps[0].child',
        message: expect.stringContaining('The document of child job p:0:1') as unknown,
      },
    ]);
    expect(await readFile(join(space.folder, 'runs'), 'utf8')).toBe('run run ');
  });
});

describe('a flow that calls itself', () => {
  const selfy = flow('selfy', [{ flow: 'selfy' }]);

  it('fails where the chain is too long', async () => {
    const space = await openWorkspace(plugins);
    await space.put(selfy);
    await space.engine();
    await space.put({ _id: 's', type: 'job', flow: 'selfy', owner: 'me' });
    const ended = await space.ended('s', 30_000);
    expect(ended).toMatchObject({ exit: 3, failure: { name: 'ChildFailed' } });
    expect(ended.failure?.message).toContain('No child job is made for flow "selfy"');
    expect(await jobs(space)).toEqual(Array.from({ length: 25 }, () => '$$complete'));
  });

  it('leaves no job behind when the first one is cancelled meanwhile', async () => {
    const space = await openWorkspace(plugins);
    await space.put(selfy);
    await Promise.all([space.engine(), space.engine()]);
    await space.put({ _id: 's', type: 'job', flow: 'selfy', owner: 'me' });
    await space.until(`s${':0:1'.repeat(3)}`, () => true);
    await space.put({ type: 'request', job: 's', action: 'cancel' });
    expect(await space.ended('s')).toMatchObject({ state: '$$cancelled', exit: 130 });
    const isOpen = (state: unknown) => !/^\$\$(complete|cancelled)$/.test(String(state));
    const open = async () => (await jobs(space)).filter(isOpen);
    await expect.poll(open).toEqual([]);
  });
});

describe('a flow that calls itself twice', () => {
  it('makes no more jobs when the first one is cancelled, however fast they became more', async () => {
    const space = await openWorkspace(plugins);
    await space.put(flow('twice', [{ parallel: [{ flow: 'twice' }, { flow: 'twice' }] }]));
    await Promise.all([space.engine(), space.engine()]);
    await space.put({ _id: 's', type: 'job', flow: 'twice', owner: 'me' });
    await space.until(`s${':0.parallel.0:1'.repeat(2)}`, () => true);
    await space.put({ type: 'request', job: 's', action: 'cancel' });
    expect(await space.ended('s')).toMatchObject({ state: '$$cancelled', exit: 130 });
    const isOpen = (state: unknown) => !/^\$\$(complete|cancelled)$/.test(String(state));
    const open = async () => (await jobs(space)).filter(isOpen);
    await expect.poll(open, { interval: 500 }).toEqual([]);
  });
});

describe('a child that the database refuses', () => {
  it('fails its step at once', async () => {
    const space = await openWorkspace(plugins);
    const rule = `function (doc) { if (doc.parent) throw { forbidden: 'no children here' }; }`;
    await space.put({ _id: '_design/rule', language: 'javascript', validate_doc_update: rule });
    await space.put(task, inner, flow('outer', [{ flow: 'inner' }]));
    await space.engine();
    await space.put({ _id: 'p', type: 'job', flow: 'outer', owner: 'me' });
    const ended = await space.ended('p');
    expect(ended).toMatchObject({ exit: 3, failure: { name: 'StoreRefused' } });
    expect(ended.failure?.message).toContain('no children here');
    expect(Number.parseInt(ended._rev, 10)).toBeLessThan(6);
  });
});

/** The states of all jobs. */
async function jobs({ store }: Workspace): Promise<readonly unknown[]> {
  const rows = await store.view('children', { includeDocs: true });
  const root = await store.get('s');
  return [...rows.map(({ doc }) => doc), root].map((doc) => doc?.['state']);
}
