import { describe, expect, it } from 'vitest';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

const echo = `export default ({ params }) => params;`;

describe('an engine', () => {
  it('runs a job of three steps in at most six revisions after the submit', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(
      task('a', { plugin: 'echo', params: { x: 1 } }),
      task('b', { plugin: 'echo', params: { from: '{{results.a.x}}' } }),
      task('c', { plugin: 'echo', params: { text: 'b gave {{results.b.from}}' } }),
      flow('abc', ['a', 'b', 'c']),
    );
    await space.engine();
    const [id] = await space.put(job('abc'));
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ state: '$$complete', exit: 0 });
    expect(ended.steps.map((step) => step['result'])).toEqual([
      { x: 1 },
      { from: 1 },
      { text: 'b gave 1' },
    ]);
    expect(Number.parseInt(ended._rev, 10)).toBeLessThanOrEqual(7);
  });

  // Shows B-01, J-07.
  it('E4: runs jobs that were stored while no engine ran', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    const [, , id] = await space.put(task('echo'), flow('one', ['echo']), job('one'));
    await space.engine();
    expect(await space.ended(String(id))).toMatchObject({ exit: 0 });
  });

  it('tries a failing step again and then runs its error handler', async () => {
    const space = await openWorkspace({
      'echo.mjs': echo,
      'boom.mjs': `export default () => { throw Object.assign(new Error('no'), { code: 'E1' }); };`,
    });
    await space.put(
      task('boom', { retry: { limit: 2, delay: 20 }, error: 'echo' }),
      task('echo'),
      flow('f', ['boom', 'echo']),
    );
    await space.engine();
    const [id] = await space.put(job('f'));
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps.map((step) => [step['path'], step.state])).toEqual([
      ['0', '$$error'],
      ['0', '$$error'],
      ['0', '$$error'],
      ['0.error', '$$complete'],
      ['1', '$$complete'],
    ]);
  });

  // Shows E-01.
  it('ends an attempt that takes too long with a timeout and aborts its signal', async () => {
    const space = await openWorkspace({
      'slow.mjs': `export default ({ signal }) => new Promise((r) => signal.addEventListener('abort', r));`,
    });
    await space.put(task('slow', { timeout: 50 }), flow('f', ['slow']));
    await space.engine();
    const [id] = await space.put(job('f'));
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 1, failure: { name: 'StepTimeout', step: 'slow' } });
    expect(ended.steps[0]).toMatchObject({ state: '$$timeout', exit: 1 });
  });

  // Shows I-01.
  it('cancels a running job on request and tells the plugin', async () => {
    const space = await openWorkspace({
      'slow.mjs': `export default ({ signal }) => new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)));`,
    });
    await space.put(task('slow'), flow('f', ['slow']));
    await space.engine();
    const [id] = await space.put(job('f'));
    await space.until(String(id), (doc) => doc['state'] === 'slow-0');
    const [request] = await space.put({
      type: 'request',
      job: id,
      action: 'cancel',
      by: 'ann',
      reason: 'enough',
    });
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({
      state: '$$cancelled',
      exit: 130,
      failure: { name: 'Cancelled', message: 'Cancelled by ann: enough.' },
    });
    expect(await space.store.get(String(request))).toBeUndefined();
  });

  it('writes into a malformed request what is wrong with it', async () => {
    const space = await openWorkspace();
    await space.engine();
    const [id] = await space.put({ type: 'request', job: 'j', action: 'explode' });
    const told = await space.until(String(id), (doc) => doc['failure'] !== undefined);
    expect(told).toMatchObject({ action: 'explode', failure: { name: 'InvalidRequest' } });
    expect((told['failure'] as { message: string }).message).toContain('cancel, pause, resume');
  });

  it('writes into a malformed event what is wrong with it, and releases nothing', async () => {
    const space = await openWorkspace();
    await space.engine();
    const wait = { wait: { event: 'paid', timeout: 1_500 } };
    const [job] = await space.put({ type: 'job', owner: 'ann', tasks: [wait] });
    const [id] = await space.put({ type: 'event', event: 'paid', key: 7 });
    const told = await space.until(String(id), (doc) => doc['failure'] !== undefined);
    expect(told).toMatchObject({ event: 'paid', failure: { name: 'InvalidEvent' } });
    const ended = await space.ended(String(job));
    expect(ended).toMatchObject({ exit: 1, failure: { name: 'WaitTimeout' } });
  });

  // Shows I-04.
  it('lets a paused job wait and go on', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(task('echo'), flow('f', ['echo']));
    await space.engine();
    const [id] = await space.put(job('f', { paused: true }));
    await space.until(String(id), (doc) => doc['state'] === '$$paused');
    await space.put({ type: 'request', job: id, action: 'resume' });
    expect(await space.ended(String(id))).toMatchObject({ exit: 0 });
  });

  // Shows B-07.
  it('does not begin before exec_after', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(task('echo'), flow('f', ['echo']));
    await space.engine();
    const at = Date.now() + 600;
    const [id] = await space.put(job('f', { exec_after: new Date(at).toISOString() }));
    const waiting = await space.until(String(id), (doc) => doc['state'] === '$$ready');
    expect(waiting['next_due']).toBe(at);
    const ended = await space.ended(String(id));
    expect(ended.steps[0]?.['start']).toBeGreaterThanOrEqual(at);
  });

  // Shows X-11.
  it('starts a job that slept beyond what is kept in memory when its time has come', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(task('echo'), flow('f', ['echo']));
    await Promise.all([space.engine({ sweepMs: 300 }), space.engine({ sweepMs: 300 })]);
    const at = Date.now() + 2_000;
    const [id] = await space.put(job('f', { exec_after: at }));
    const ended = await space.ended(String(id));
    const start = Number(ended.steps[0]?.['start']);
    expect(start).toBeGreaterThanOrEqual(at);
    expect(start).toBeLessThan(at + 15_000);
    expect(ended.steps).toHaveLength(1);
  });

  it('starts a job whose time came while no engine ran, once', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(task('echo'), flow('f', ['echo']));
    const first = await space.engine();
    const at = Date.now() + 3_000;
    const [id] = await space.put(job('f', { exec_after: at }));
    await space.until(String(id), (doc) => doc['state'] !== undefined);
    await first.stop();
    await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
    await Promise.all([space.engine(), space.engine()]);
    const ended = await space.ended(String(id));
    expect(ended.steps).toHaveLength(1);
  });

  // Shows C-15.
  it('ends a job that nobody can serve with the flow timeout and names the plugin', async () => {
    const space = await openWorkspace();
    await space.put(task('exotic'), flow('f', ['exotic'], { timeout: 200 }));
    await space.engine();
    const [id] = await space.put(job('f'));
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 1, failure: { name: 'NotServed' } });
    expect(ended.failure?.message).toContain('plugin "exotic"');
  });

  it('skips a step whose condition is false', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(
      task('echo', { params: { n: 3 } }),
      flow('f', ['echo', { task: 'echo', name: 'second', when: 'results.echo.n > 5' }]),
    );
    await space.engine();
    const [id] = await space.put(job('f'));
    const ended = await space.ended(String(id));
    expect(ended.steps.map((step) => step.state)).toEqual(['$$complete', '$$skipped']);
  });

  it('runs a task that is a flow as a child job', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(
      task('echo', { params: { n: 3 } }),
      task('sub', { flow: 'inner' }),
      flow('inner', ['echo'], { output: 'results.echo.n * 2' }),
      flow('outer', ['sub', { task: 'echo', params: { got: '{{results.sub}}' } }]),
    );
    await space.engine();
    const [id] = await space.put(job('outer'));
    const ended = await space.ended(String(id));
    expect(ended.failure).toBeUndefined();
    expect(ended.steps[1]).toMatchObject({ result: { n: 3, got: 6 } });
  });

  it('E5: hands a running attempt back when it stops, and another engine finishes the job', async () => {
    const space = await openWorkspace({
      'once.mjs': `export default ({ step, signal }) => step.attempt > 1 ? 'done' :
        new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)));`,
    });
    await space.put(task('once'), flow('f', ['once']));
    const first = await space.engine({ drainMs: 50 });
    const [id] = await space.put(job('f'));
    await space.until(String(id), (doc) => doc['state'] === 'once-0');
    await space.engine();
    await first.stop();
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps.map((step) => step.state)).toEqual(['$$cancelled', '$$complete']);
    expect(await space.store.get(first.id)).toBeUndefined();
  });

  // Shows J-04.
  it('takes over from an engine that died', async () => {
    const space = await openWorkspace({
      'once.mjs': `export default ({ step, signal }) => step.attempt > 1 ? 'done' :
        new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)));`,
    });
    await space.put(task('once'), flow('f', ['once']));
    const fast = { leaseMs: 500, renewMs: 100 };
    const first = await space.engine(fast);
    const [id] = await space.put(job('f'));
    await space.until(String(id), (doc) => doc['state'] === 'once-0');
    await space.engine(fast);
    await first.kill();
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps[0]).toMatchObject({
      state: '$$error',
      exit: 4,
      failure: { name: 'EngineLost' },
    });
  });

  // Shows B-02, C-01.
  it('shares 200 jobs with another engine and runs every step once', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(task('echo'), flow('f', ['echo', 'echo', 'echo']));
    await Promise.all([space.engine(), space.engine()]);
    const ids = await space.put(...Array.from({ length: 200 }, () => job('f')));
    for (const id of ids) {
      const ended = await space.ended(id);
      expect(ended.exit).toBe(0);
      expect(ended.steps.map((step) => step['path'])).toEqual(['0', '1', '2']);
    }
  });

  it('ends a job that the database refuses to store as it would go on', async () => {
    const space = await openWorkspace({ 'echo.mjs': echo });
    await space.put(
      {
        _id: '_design/house',
        validate_doc_update:
          "function (doc) { if (doc.state === 'echo-0') throw { forbidden: 'No steps today.' }; }",
      },
      task('echo'),
      flow('f', ['echo']),
    );
    await space.engine();
    const [id] = await space.put(job('f'));
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 3, failure: { name: 'StoreRefused' } });
    expect(ended.failure?.message).toContain('No steps today.');
  });

  it('ends a malformed job with exit 3 and names the field', async () => {
    const space = await openWorkspace();
    await space.engine();
    const [id] = await space.put(job('f', { priority: 'high' }));
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 3, failure: { name: 'InvalidJob' } });
    expect(ended.failure?.message).toContain('priority');
  });
});
