import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.js';
import { offerName } from '../../src/model/work.js';
import { flow, task } from '../cli/terminal.js';
import { openWorkspace } from '../support/workspace.js';
import { isOffered, openOjs, work, type Answered, type Envelope, type Fetched } from './ojs-api.js';

describe('workers', () => {
  // Shows X-54.
  it('fetch what is offered, by priority, and say what came of it', async () => {
    const api = await openOjs();
    await api.put(work);
    const low = await api.enqueue({ type: 'email.send', args: ['low'], priority: -10 });
    const high = await api.enqueue({ type: 'email.send', args: ['high'], priority: 10 });
    await api.engine();
    for (const { id } of [low, high]) {
      await api.until(id, isOffered);
    }
    expect((await api.ojs<Answered>('GET', `/v1/jobs/${low.id}`)).body.job.state).toBe('available');
    const jobs = await api.fetched({ count: 5 });
    expect(jobs.map(({ id, args, state }) => [id, args, state])).toEqual([
      [high.id, ['high'], 'active'],
      [low.id, ['low'], 'active'],
    ]);
    expect((await api.ojs<Answered>('GET', `/v1/jobs/${low.id}`)).body.job.state).toBe('active');
    const body = { job_id: high.id, result: { sent: true } };
    const done = await api.ojs('POST', '/v1/workers/ack', { body });
    expect(done).toMatchObject({ status: 200, body: { acknowledged: true, state: 'completed' } });
    await api.ended(high.id);
    const { body: after } = await api.ojs<Answered>('GET', `/v1/jobs/${high.id}`);
    expect(after.job).toMatchObject({ state: 'completed', result: { sent: true } });
    const again = await api.ojs('POST', '/v1/workers/ack', { body });
    expect(again).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', details: { current_state: 'completed' } } },
    });
    const others = { job_id: low.id, worker_id: 'w2' };
    expect((await api.ojs('POST', '/v1/workers/ack', { body: others })).status).toBe(409);
  });

  it('never get the same attempt, however many ask at once', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const jobs = Array.from({ length: 12 }, (_, n) => ({ type: 'email.send', args: [n] }));
    const { body } = await api.ojs<Fetched>('POST', '/v1/jobs/batch', { body: { jobs } });
    for (const { id } of body.jobs) {
      await api.until(id, isOffered);
    }
    const got: string[] = [];
    const ask = async (worker: string): Promise<void> => {
      for (;;) {
        const wish = { queues: ['default'], worker_id: worker, count: 2 };
        const { body: answer } = await api.ojs<Fetched>('POST', '/v1/workers/fetch', {
          body: wish,
        });
        if (answer.jobs.length === 0) return;
        got.push(...answer.jobs.map(({ id }) => id));
      }
    };
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(ask));
    expect(new Set(got).size).toBe(got.length);
    await ask('last');
    expect(got.toSorted()).toEqual(body.jobs.map(({ id }) => id).toSorted());
  });

  it('that fail have the job tried again, until it is a dead letter', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const retry = { max_attempts: 2, initial_interval_ms: 1, non_retryable_errors: ['auth.*'] };
    const { id } = await api.enqueue({ type: 'email.send', args: [], options: { retry } });
    await api.fetched();
    const error = { type: 'smtp.refused', message: 'Connection refused.', details: { port: 25 } };
    const nack = { body: { job_id: id, error } };
    expect((await api.ojs('POST', '/v1/workers/nack', nack)).body).toMatchObject({
      ...{ job_id: id, state: 'retryable', attempt: 1, max_attempts: 2 },
      next_attempt_at: expect.any(String) as string,
    });
    expect(await api.fetched()).toMatchObject([{ id, attempt: 2 }]);
    expect((await api.ojs('POST', '/v1/workers/nack', nack)).body).toMatchObject({
      ...{ state: 'discarded', attempt: 2, discarded_at: expect.any(String) as string },
    });
    await api.ended(id);
    const list = await api.ojs<Fetched>('GET', '/v1/dead-letter?queue=default');
    expect(list.body).toMatchObject({
      jobs: [{ id, error: { type: 'smtp.refused', details: { port: 25 } } }],
      pagination: { total: 1, has_more: false },
    });
    expect((await api.ojs('GET', '/v1/dead-letter?queue=other')).body).toMatchObject({ jobs: [] });
    expect((await api.ojs('POST', `/v1/dead-letter/${id}/retry`)).status).toBe(200);
    await api.fetched();
    const fatal = { job_id: id, error: { type: 'auth.expired', message: 'Sign in.' } };
    expect((await api.ojs('POST', '/v1/workers/nack', { body: fatal })).body).toMatchObject({
      state: 'discarded',
    });
    await api.until(id, ({ run, state }) => run === 2 && state === '$$complete');
    const gone = await api.ojs('DELETE', `/v1/dead-letter/${id}`);
    expect(gone.body).toEqual({ deleted: true, job_id: id });
    expect((await api.ojs('GET', `/v1/jobs/${id}`)).status).toBe(404);
  });

  it('that are lost lose the job when their lease is over, and keep it by heartbeats', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const retry = { max_attempts: 2, initial_interval_ms: 1 };
    const { id } = await api.enqueue({ type: 'email.send', args: [], retry });
    await api.fetched({ worker_id: 'gone', visibility_timeout_ms: 100 });
    const [again] = await api.fetched({ worker_id: 'w2', visibility_timeout_ms: 60_000 });
    expect(again).toMatchObject({ id, attempt: 2 });
    expect(await api.client.get(id)).toMatchObject({
      steps: [{ state: '$$timeout', worker: 'gone', failure: { name: 'WorkerLost' } }, {}],
    });
    const late = { job_id: id, worker_id: 'gone' };
    expect((await api.ojs('POST', '/v1/workers/ack', { body: late })).status).toBe(409);
    const beat = (worker: string) =>
      api.ojs('POST', '/v1/workers/heartbeat', {
        body: { worker_id: worker, active_jobs: [id, 'nix'], visibility_timeout_ms: 120_000 },
      });
    expect((await beat('w2')).body).toMatchObject({ state: 'running', jobs_extended: [id] });
    expect((await beat('gone')).body).toMatchObject({ jobs_extended: [] });
    const [, step] = (await api.client.get(id))?.['steps'] as readonly Record<string, number>[];
    expect(Number(step?.['until']) - Number(step?.['renewed'])).toBe(120_000);
    expect((await api.ojs('DELETE', `/v1/jobs/${id}`)).status).toBe(200);
    expect((await beat('w2')).body).toMatchObject({ jobs_extended: [] });
  });

  it('do steps of a flow, several of one job at once, each by a name of its own', async () => {
    const api = await openOjs();
    await api.put(
      task('resize', { plugin: 'worker' }),
      task('sum', { plugin: 'noop' }),
      flow('album', [
        {
          parallel: [
            { task: 'resize', name: 'small', params: { size: 1 } },
            {
              task: 'resize',
              name: 'large',
              params: { args: ['{{job.keys.album}}', 2], worker: { type: 'photo.large' } },
            },
          ],
        },
        { task: 'sum', params: { small: '{{results.small}}', large: '{{results.large}}' } },
      ]),
    );
    await api.engine();
    await api.put({ _id: 'a/b', type: 'job', flow: 'album', keys: { album: 'x' } });
    const jobs: Envelope[] = [];
    while (jobs.length < 2) jobs.push(...(await api.fetched({ count: 2 })));
    expect(jobs.toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
      { id: 'a/b/0.parallel.0', type: 'resize', args: [{ size: 1 }], tws: { job: 'a/b' } },
      { id: 'a/b/0.parallel.1', type: 'photo.large', args: ['x', 2] },
    ]);
    for (const { id } of jobs) {
      const body = { job_id: id, worker_id: 'w1', result: id };
      expect((await api.ojs('POST', '/v1/workers/ack', { body })).body).toMatchObject({
        state: 'completed',
      });
    }
    const { steps } = await api.ended('a/b');
    expect(steps.at(-1)).toMatchObject({
      result: { small: 'a/b/0.parallel.0', large: 'a/b/0.parallel.1' },
    });
  });

  it('find work in the queue that was asked for, whatever queues engines serve', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const { id } = await api.enqueue({ type: 'email.send', args: [], queue: 'mail' });
    const [job] = await api.fetched({ queues: ['other', 'mail'] });
    expect(job).toMatchObject({ id, queue: 'mail' });
    const { body } = await api.ojs<Answered>('GET', `/v1/jobs/${id}`);
    expect(body.job).toMatchObject({ queue: 'mail', state: 'active' });
  });

  it('that ask early get what comes a moment later', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const asked = api.fetched();
    const { id } = await api.enqueue({ type: 'email.send', args: [] });
    expect(await asked).toMatchObject([{ id }]);
  });

  it('answer with a result of any length, which the next step gets', async () => {
    const api = await openOjs();
    await api.put(
      work,
      task('measure', { plugin: 'noop' }),
      flow('long', [
        'email.send',
        { task: 'measure', params: { text: '{{results.[email.send]}}' } },
      ]),
    );
    await api.engine();
    await api.put({ _id: 'j', type: 'job', flow: 'long' });
    const [{ id } = { id: '' }] = await api.fetched();
    const result = 'x'.repeat(5_000_000);
    const body = { job_id: id, worker_id: 'w1', result };
    const { body: done } = await api.ojs('POST', '/v1/workers/ack', { body });
    expect(done).toMatchObject({ state: 'completed' });
    const { steps, ...job } = await api.ended('j');
    expect(job).toMatchObject({ exit: 0 });
    expect(steps[0]?.result).toMatchObject({ bytes: result.length + 2 });
    expect(steps[1]).toMatchObject({ state: '$$complete' });
    expect(JSON.stringify([steps[0], job])).not.toContain('xxxx');
    const whole = await api.ask<{ result: string }>('GET', '/jobs/j/results/email.send');
    expect(whole.body.result).toBe(result);
  });

  it('that say very much of a failure have it kept in short', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const { id } = await api.enqueue({ type: 'email.send', args: [], retry: { max_attempts: 1 } });
    await api.fetched();
    const long = 'y'.repeat(1_000_000);
    const error = { type: long, code: long, message: long, details: { long } };
    const nack = await api.ojs('POST', '/v1/workers/nack', { body: { job_id: id, error } });
    expect(nack.body).toMatchObject({ state: 'discarded' });
    const ended = await api.ended(id);
    expect(ended).toMatchObject({ failure: { details: { $omitted: long.length + 11 } } });
    expect(JSON.stringify(ended).length).toBeLessThan(50_000);
  });

  it('get what is theirs, however much of others or of paused jobs lies before it', async () => {
    const api = await openOjs({ settings: { sign_in: 'always' } });
    await api.put(work);
    const others = Array.from({ length: 2_400 }, (_, n) => {
      const signal = offerName({ queue: 'default', priority: 0, at: n, id: String(n) });
      const steps = [{ state: '$$waiting', signal }];
      const whose = n % 2 === 0 ? { owner: 'zeta' } : { owner: 'acme', paused: true };
      return { type: 'job', ...whose, state: 'a-0', tasks: ['x'], start: 1, steps };
    });
    const engine = await api.engine();
    const token = await api.tokenOf('tws-operator', 'tws-owner:acme');
    const { id } = await api.enqueue({ type: 'email.send', args: [] }, { token });
    await api.until(id, isOffered);
    // Nobody looks at what these jobs lack.
    await engine.stop();
    await api.put(...others);
    const body = { queues: ['default'] };
    const got = await api.ojs<Fetched>('POST', '/v1/workers/fetch', { token, body });
    expect(got.body.jobs).toMatchObject([{ id }]);
  });

  it('may have a step whose name is also the id of another job', async () => {
    const api = await openOjs();
    await api.put(work, flow('two', ['email.send', 'email.send']));
    await api.engine();
    await api.put({ _id: 'a/0', type: 'job', tasks: [{ delay: 600_000 }] });
    await api.put({ _id: 'a', type: 'job', flow: 'two' });
    const [step] = await api.fetched();
    expect(step).toMatchObject({ id: 'a/0', tws: { job: 'a' } });
    const body = { job_id: 'a/0', worker_id: 'w1' };
    const done = await api.ojs('POST', '/v1/workers/ack', { body });
    expect(done).toMatchObject({ status: 200, body: { state: 'completed' } });
  });

  it('keep many steps of one job by one heartbeat', async () => {
    const api = await openOjs();
    await api.put(work, flow('many', [{ parallel: Array(12).fill('email.send') }]));
    await api.engine();
    await api.put({ _id: 'j', type: 'job', flow: 'many' });
    const ids: string[] = [];
    while (ids.length < 12) ids.push(...(await api.fetched({ count: 12 })).map(({ id }) => id));
    const body = { worker_id: 'w1', active_jobs: ids };
    const beats = await Promise.all(
      [1, 2].map(() => api.ojs('POST', '/v1/workers/heartbeat', { body })),
    );
    for (const beat of beats) expect(beat.body['jobs_extended']).toEqual(ids);
  });

  it('get nothing of a paused job', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const { id } = await api.enqueue({ type: 'email.send', args: [] });
    await api.until(id, isOffered);
    await api.ask('POST', `/jobs/${id}/pause`);
    const body = { queues: ['default'] };
    const none = await api.ojs<Fetched>('POST', '/v1/workers/fetch', { body });
    expect(none.body).toEqual({ jobs: [] });
    await api.ask('POST', `/jobs/${id}/resume`);
    expect(await api.fetched()).toMatchObject([{ id }]);
  });

  it('get nothing from a paused queue, into which jobs still come', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const options = { queue: 'mail' };
    const { id } = await api.enqueue({ type: 'email.send', args: [], options });
    await api.until(id, isOffered);
    const pause = await api.ojs('POST', '/v1/queues/mail/pause');
    expect(pause.body).toMatchObject({ queue: { name: 'mail', paused: true }, status: 'paused' });
    expect(pause.body).toHaveProperty('paused_at');
    const again = await api.ojs('POST', '/v1/queues/mail/pause');
    expect(again.body).toEqual({ queue: { name: 'mail', paused: true }, status: 'paused' });
    expect((await api.ojs('GET', '/v1/queues/mail/stats')).body).toMatchObject({
      status: 'paused',
    });
    expect((await api.ojs('GET', '/v1/queues')).body).toMatchObject({
      queues: [{ name: 'default' }, { name: 'mail', status: 'paused' }],
    });
    const later = await api.enqueue({ type: 'email.send', args: [], options });
    await api.until(later.id, isOffered);
    const body = { queues: ['mail'] };
    const none = await api.ojs<Fetched>('POST', '/v1/workers/fetch', { body });
    expect(none.body).toEqual({ jobs: [] });
    const resume = await api.ojs('POST', '/v1/queues/mail/resume');
    expect(resume.body).toEqual({ queue: { name: 'mail', paused: false }, status: 'active' });
    const some = await api.ojs<Fetched>('POST', '/v1/workers/fetch', { body });
    expect(some.body.jobs).toMatchObject([{ id }]);
  });
});

describe('owners', () => {
  it('see and get only what is theirs, and say which they mean', async () => {
    const api = await openOjs({ settings: { sign_in: 'always' } });
    await api.put(work);
    await api.engine();
    const acme = await api.tokenOf('tws-operator', 'tws-owner:acme');
    const both = await api.tokenOf('tws-operator', 'tws-owner:acme', 'tws-owner:zeta');
    const zeta = await api.tokenOf('tws-operator', 'tws-owner:zeta');
    const order = { type: 'email.send', args: [] };
    const { id } = await api.enqueue(order, { token: acme });
    expect(await api.client.get(id)).toMatchObject({ owner: 'acme' });
    const unclear = await api.ojs('POST', '/v1/jobs', { token: both, body: order });
    expect(unclear.status).toBe(400);
    const headers = { 'x-ojs-tenant-id': 'zeta' };
    const other = await api.enqueue(order, { token: both, headers });
    expect(await api.client.get(other.id)).toMatchObject({ owner: 'zeta' });
    expect((await api.ojs('GET', `/v1/jobs/${id}`, { token: zeta })).status).toBe(404);
    expect((await api.ojs('GET', `/v1/jobs/${id}`, { token: both, headers })).status).toBe(404);
    expect((await api.ojs('GET', `/v1/jobs/${id}`, { token: acme, headers })).status).toBe(403);
    for (const one of [id, other.id]) {
      await api.until(one, isOffered);
    }
    const asking = { token: zeta, body: { queues: ['default'], count: 9 } };
    const { body } = await api.ojs<Fetched>('POST', '/v1/workers/fetch', asking);
    expect(body.jobs.map((job) => job.id)).toEqual([other.id]);
    const theirs = { token: acme, body: { job_id: other.id } };
    expect((await api.ojs('POST', '/v1/workers/ack', theirs)).status).toBe(404);
    const taken = await api.ojs('POST', '/v1/jobs', {
      token: acme,
      body: { ...order, id: other.id },
    });
    expect(taken.status).toBe(409);
    expect(taken.text).not.toContain('zeta');
  });

  it('that are gone when something was taken for them have given it back', async () => {
    const space = await openWorkspace({});
    const client = createClient({ store: space.store });
    let close = (): Promise<void> => Promise.resolve();
    const takeWork: typeof client.takeWork = async (wanted) => {
      const taken = await client.takeWork(wanted);
      expect(taken.works).toHaveLength(1);
      // All requests are over with it.
      void close();
      return taken;
    };
    const api = await openOjs({ workspace: space, client: { ...client, takeWork } });
    ({ close } = api);
    await api.put(work);
    const { id } = await api.enqueue({ type: 'email.send', args: [] });
    const body = { queues: ['default'], worker_id: 'w1' };
    await api.ojs('POST', '/v1/workers/fetch', { body }).catch(() => undefined);
    await api.close();
    expect(isOffered((await space.store.get(id)) ?? {})).toBe(true);
  });
});
