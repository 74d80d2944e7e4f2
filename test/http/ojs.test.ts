import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openOjs, work, type Answered, type Envelope, type Fetched } from './ojs-api.js';

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('a job that is to be unique', () => {
  const unique = (more: object) => ({
    type: 'email.send',
    args: [{ to: 'a', at: Math.random() }],
    options: { unique: { keys: ['type', 'args'], args_keys: ['to'], period: 'PT1H', ...more } },
  });

  it('is rejected, ignored, or replaces the one with the same key, as the specification says', async () => {
    const api = await openOjs();
    await api.put(work);
    await api.engine();
    const order = (more: object) => ({ body: unique(more) });
    const first = await api.enqueue(unique({}));
    expect(await api.ojs('POST', '/v1/jobs', order({}))).toMatchObject({
      status: 409,
      body: { error: { code: 'duplicate', details: { existing_job_id: first.id } } },
    });
    expect(await api.ojs('POST', '/v1/jobs', order({ on_conflict: 'ignore' }))).toMatchObject({
      status: 200,
      body: { job: { id: first.id } },
    });
    const later = { scheduled_at: '2099-12-31T23:59:59Z' };
    const second = await api.ojs<Answered>('POST', '/v1/jobs', {
      body: { ...unique({ on_conflict: 'replace', states: ['active', 'available'] }), ...later },
    });
    expect(second).toMatchObject({ status: 201, body: { job: { state: 'scheduled' } } });
    const replaced = await api.ojs<Answered>('GET', `/v1/jobs/${first.id}`);
    expect(replaced.body.job.state).toBe('cancelled');
    const third = await api.enqueue(unique({ on_conflict: 'replace_except_schedule' }));
    expect(third['scheduled_at']).toMatch(/^2099/);
  });

  it('keeps a batch from being stored when its key is taken, also within the batch', async () => {
    const api = await openOjs();
    await api.put(work);
    const order = (to: string, more: object = {}) => ({ ...unique(more), args: [{ to }] });
    const first = await api.enqueue(order('a'));
    const send = (...jobs: readonly object[]) =>
      api.ojs('POST', '/v1/jobs/batch', { body: { jobs } });
    const duplicate = (id: unknown) => ({
      status: 409,
      body: { error: { code: 'duplicate', details: { existing_job_id: id } } },
    });
    expect(await send(order('b'), order('a'))).toMatchObject(duplicate(first.id));
    const twice = await send(order('b'), order('b'));
    expect(twice).toMatchObject(duplicate(expect.any(String)));
    expect(await api.store.view('jobs')).toHaveLength(1);
    const ignoring = order('a', { on_conflict: 'ignore' });
    expect((await send(order('b'), ignoring)).status).toBe(201);
    expect(await api.store.view('jobs')).toHaveLength(2);
  });

  it('compares its type, its queue and its meta where they are named', async () => {
    const api = await openOjs();
    await api.put(work);
    const sent = async (keys: readonly string[], more: object) => {
      const body = {
        type: 'email.send',
        args: [],
        unique: { key: keys, meta_keys: ['m'] },
        ...more,
      };
      return (await api.ojs('POST', '/v1/jobs', { body })).status;
    };
    expect(await sent(['queue', 'meta'], { queue: 'a', meta: { m: 1 } })).toBe(201);
    expect(await sent(['queue', 'meta'], { queue: 'a', meta: { m: 1, n: 1 } })).toBe(409);
    expect(await sent(['queue', 'meta'], { queue: 'b', meta: { m: 1 } })).toBe(201);
    expect(await sent(['queue', 'meta'], { queue: 'a', meta: { m: 2 } })).toBe(201);
  });
});

describe('every answer of the façade', () => {
  it('has the version, an id of the request and the media type', async () => {
    const { ojs } = await openOjs();
    const { headers, status } = await ojs('GET', '/manifest');
    expect(status).toBe(200);
    expect(headers.get('ojs-version')).toBe('1.0');
    expect(headers.get('content-type')).toBe('application/openjobspec+json');
    expect(headers.get('x-request-id')).toMatch(/^req_/);
    const own = await ojs('GET', '/v1/queues', { headers: { 'x-request-id': 'req_mine' } });
    expect(own.headers.get('x-request-id')).toBe('req_mine');
  });

  it('tells an error in the form of the specification', async () => {
    const { ojs } = await openOjs();
    const { status, body, headers } = await ojs('GET', '/v1/jobs/nix');
    expect(status).toBe(404);
    expect(body).toEqual({
      error: {
        code: 'not_found',
        message: 'There is no document "nix".',
        retryable: false,
        hint: expect.any(String) as string,
        docs_url: '/_tws/docs/reference/errors.html',
        details: { reason: 'document_missing' },
        request_id: headers.get('x-request-id'),
      },
    });
  });

  it('says what is not there, and why', async () => {
    const { ojs } = await openOjs();
    for (const path of ['/v1/schemas/x', '/v1/admin/stats']) {
      expect(await ojs('GET', path)).toMatchObject({
        status: 422,
        body: { error: { code: 'unsupported', retryable: false } },
      });
    }
    expect(await ojs('GET', '/v1/nonsense')).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
    expect((await ojs('PUT', '/v1/jobs')).status).toBe(405);
    const broken = await ojs('GET', '/v1/jobs/%ff');
    expect(broken).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', details: { reason: 'request_invalid' } } },
    });
    expect(broken.headers.get('ojs-version')).toBe('1.0');
  });

  it('tells programs how much they may still ask', async () => {
    const api = await openOjs({
      settings: { sign_in: 'always', rate: { per_second: 1, burst: 2 } },
    });
    const token = await api.tokenOf('tws-viewer');
    const first = await api.ojs('GET', '/v1/queues', { token });
    expect(first.headers.get('x-ratelimit-limit')).toBe('2');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('1');
    expect(Number(first.headers.get('x-ratelimit-reset'))).toBeGreaterThan(0);
  });

  it('takes its own media type, which the rest of the API does not', async () => {
    const api = await openOjs();
    await api.put(task('echo', { plugin: 'noop' }));
    const headers = { 'content-type': 'application/openjobspec+json; charset=utf-8' };
    const order = { type: 'echo', args: [] };
    expect((await api.enqueue(order, { headers })).state).toBe('available');
    const other = await api.ask('POST', '/jobs', { body: { flow: 'x' }, headers });
    expect(other.status).toBe(415);
  });
});

describe('a job that is enqueued', () => {
  it('runs the flow of its type, with the one object of its args as parameters', async () => {
    const api = await openOjs();
    await api.put(task('greet', { plugin: 'noop' }), flow('hello', ['greet']));
    const job = await api.enqueue({
      type: 'hello',
      args: [{ greet: { who: 'Ada' } }],
      meta: { trace_id: 't1' },
      options: { priority: 10, queue: 'default', tags: ['x'] },
      color: 'blue',
    });
    expect(job).toMatchObject({
      ...{ specversion: '1.0', type: 'hello', state: 'available', queue: 'default', attempt: 0 },
      ...{ priority: 10, meta: { trace_id: 't1' }, tags: ['x'], color: 'blue' },
    });
    expect(job.id).toMatch(uuid7);
    await api.engine();
    const ended = await api.ended(job.id);
    expect(ended).toMatchObject({ flow: 'hello', owner: 'DEFAULT', priority: 490, exit: 0 });
    const { body } = await api.ojs<Answered>('GET', `/v1/jobs/${job.id}`);
    expect(body.job).toMatchObject({
      ...{ state: 'completed', args: [{ greet: { who: 'Ada' } }], result: { who: 'Ada' } },
      ...{ attempt: 1, color: 'blue', completed_at: expect.any(String) as string },
    });
  });

  it('runs the task of its type with its own retries and time', async () => {
    const api = await openOjs({
      files: {
        'flaky.mjs':
          'export default ({ step, params }) => { if (step.attempt < 3) throw new Error("again"); return params; };',
      },
    });
    await api.put(task('flaky', { plugin: 'flaky' }));
    const retry = { max_attempts: 3, initial_interval: 'PT0.01S', jitter: false };
    const job = await api.enqueue({ type: 'flaky', args: ['a', 1], timeout: 5, retry });
    expect(job).toMatchObject({ max_attempts: 3 });
    await api.engine();
    await api.ended(job.id);
    const { body } = await api.ojs<Answered>('GET', `/v1/jobs/${job.id}`);
    expect(body.job).toMatchObject({
      ...{ state: 'completed', attempt: 3, max_attempts: 3, result: { args: ['a', 1] } },
    });
  });

  it('waits for its time, or for whoever activates it, and not longer than it may', async () => {
    const api = await openOjs();
    await api.put(task('echo', { plugin: 'noop' }));
    const later = await api.enqueue({ type: 'echo', args: [], options: { scheduled_at: '+PT1H' } });
    expect(later.state).toBe('scheduled');
    const order = { type: 'echo', args: [], expires_at: '2020-01-01T00:00:00Z' };
    const expired = await api.enqueue(order);
    const pending = await api.enqueue({ type: 'echo', args: [], options: { pending: true } });
    expect(pending.state).toBe('pending');
    await api.engine();
    await api.ended(expired.id);
    const letter = await api.ojs<Answered>('GET', `/v1/dead-letter/${expired.id}`);
    expect(letter.body.job).toMatchObject({ state: 'discarded', error: { type: 'Expired' } });
    expect((await api.ojs<Answered>('GET', `/v1/jobs/${pending.id}`)).body.job.state).toBe(
      'pending',
    );
    expect(await api.ojs('POST', `/v1/jobs/${pending.id}/activate`)).toMatchObject({
      status: 200,
      body: { job: { previous_state: 'pending' } },
    });
    expect(await api.ended(pending.id)).toMatchObject({ exit: 0 });
    const cancelled = await api.ojs<Answered>('DELETE', `/v1/jobs/${later.id}`);
    expect(cancelled.body.job).toMatchObject({ state: 'cancelled', previous_state: 'scheduled' });
  });

  it.each<[string, number, string, object]>([
    ['without args', 400, 'args', { type: 'echo' }],
    ['with args that are no list', 400, 'args', { type: 'echo', args: {} }],
    ['of a type that is no word', 400, 'type', { type: 'a b', args: [] }],
    ['of a type that nobody knows', 400, 'There is no flow and no task', { type: 'nix', args: [] }],
    ['with an id that is no UUID of version 7', 400, 'id', { id: 'x', type: 'echo', args: [] }],
    ['in a queue of another form', 400, 'queue', { type: 'echo', args: [], queue: 'A B' }],
    [
      'with an option that nobody knows',
      400,
      'speed',
      { type: 'echo', args: [], options: { speed: 1 } },
    ],
    ['with a priority out of range', 400, 'priority', { type: 'echo', args: [], priority: 101 }],
    ['with a type in capitals', 400, 'type', { type: 'Echo', args: [] }],
    [
      'at a time without a zone',
      400,
      'scheduled_at',
      { type: 'echo', args: [], scheduled_at: '2030-01-01T00:00:00' },
    ],
    [
      'that contradicts itself',
      400,
      'different things',
      { type: 'echo', args: [], queue: 'a', options: { queue: 'b' } },
    ],
    [
      'that is to be unique by its meta',
      400,
      'meta_keys',
      { type: 'echo', args: [], options: { unique: { keys: ['meta'] } } },
    ],
    [
      'that is to be unique in a state that there is not',
      400,
      'unique',
      { type: 'echo', args: [], options: { unique: { states: ['gone'] } } },
    ],
    [
      'with a rate for what engines do',
      422,
      'rate_limit',
      { type: 'echo', args: [], options: { rate_limit: { max_per_second: 1 } } },
    ],
    [
      'with retries for a flow',
      422,
      'retry',
      { type: 'hello', args: [], retry: { max_attempts: 2 } },
    ],
    [
      'with a time for a flow',
      422,
      'timeout',
      { type: 'hello', args: [], options: { timeout_ms: 9 } },
    ],
  ])('%s is refused with %i', async (_title, status, word, order) => {
    const api = await openOjs();
    await api.put(task('echo', { plugin: 'noop' }), flow('hello', ['echo']));
    const before = (await api.store.info()).updateSeq;
    const answer = await api.ojs('POST', '/v1/jobs', { body: order });
    const code = status === 422 ? 'unsupported' : 'invalid_request';
    expect(answer).toMatchObject({ status, body: { error: { code, retryable: false } } });
    expect(answer.text).toContain(word);
    expect((await api.store.info()).updateSeq).toBe(before);
  });

  it('of a type that nobody knows is for workers where a task "ojs" takes it', async () => {
    const api = await openOjs();
    await api.put(task('ojs', { plugin: 'worker' }));
    await api.engine();
    const { id } = await api.enqueue({ type: 'any.thing', args: ['{{not.a.template}}', { a: 1 }] });
    const [job] = await api.fetched();
    expect(job).toMatchObject({
      ...{ id, type: 'any.thing', args: ['{{not.a.template}}', { a: 1 }], max_attempts: 3 },
    });
  });

  it('comes with others or not at all', async () => {
    const api = await openOjs();
    await api.put(task('echo', { plugin: 'noop' }));
    const good = { type: 'echo', args: [] };
    const before = (await api.store.info()).updateSeq;
    const bad = { jobs: [good, { type: 'echo', args: 7 }] };
    expect((await api.ojs('POST', '/v1/jobs/batch', { body: bad })).status).toBe(400);
    const unknown = { jobs: [good, { type: 'nix', args: [] }] };
    expect((await api.ojs('POST', '/v1/jobs/batch', { body: unknown })).status).toBe(400);
    expect((await api.store.info()).updateSeq).toBe(before);
    const many = { jobs: Array.from({ length: 1_000 }, () => good) };
    const { body, status } = await api.ojs<{ count: number; jobs: readonly Envelope[] }>(
      'POST',
      '/v1/jobs/batch',
      { body: many },
    );
    expect([status, body.count, new Set(body.jobs.map(({ id }) => id)).size]).toEqual([
      201, 1_000, 1_000,
    ]);
  });
});

describe('queues', () => {
  it('are those of engines and of jobs, with figures', async () => {
    const api = await openOjs();
    await api.put(work, task('echo', { plugin: 'noop' }));
    await api.enqueue({ type: 'email.send', args: [], queue: 'mail' });
    const { id } = await api.enqueue({ type: 'echo', args: [] });
    await api.enqueue({ type: 'echo', args: [], scheduled_at: '+PT1H' });
    await api.engine({ queues: ['default', 'slow'] });
    await api.ended(id);
    const { body } = await api.ojs<{ queues: readonly { name: string }[] }>('GET', '/v1/queues');
    expect(body.queues.map(({ name }) => name)).toEqual(['default', 'mail', 'slow']);
    const page = await api.ojs('GET', '/v1/queues?limit=1&cursor=1');
    expect(page.body).toMatchObject({
      queues: [{ name: 'mail', status: 'active' }],
      pagination: { total: 3, has_more: true, next_cursor: '2' },
    });
    await expect
      .poll(async () => (await api.ojs('GET', '/v1/queues/default/stats')).body)
      .toMatchObject({
        stats: { available: 0, scheduled: 1, completed_last_hour: 1, discarded: 0 },
        complete: true,
      });
    expect((await api.ojs('GET', '/v1/queues/mail/stats')).body).toMatchObject({
      queue: { name: 'mail', available: 1, active: 0, completed: 0, paused: false },
      stats: { available: 1 },
    });
  });
});

describe('dead letters', () => {
  it('are listed page by page, by cursor and by offset', async () => {
    const api = await openOjs();
    const dead = Array.from({ length: 5 }, (_, n) => ({
      ...{ _id: `d${n}`, type: 'job', flow: 'gone', state: '$$complete', exit: 3 },
      ...{ start: 1_700_000_000_000 + n, end: 1_700_000_000_000 + n, steps: [] },
      failure: { name: 'FlowMissing', message: 'There is no such flow.' },
      ...(n === 2 ? { queue: 'mail' } : {}),
    }));
    await api.put(...dead);
    const pages: string[][] = [];
    let cursor = '';
    do {
      const { body } = await api.ojs<Fetched & { pagination: Record<string, unknown> }>(
        'GET',
        `/v1/dead-letter?limit=2${cursor}`,
      );
      pages.push(body.jobs.map(({ id }) => id));
      expect(body.pagination['total']).toBe(5);
      const next = body.pagination['next_cursor'];
      cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
    } while (cursor !== '');
    expect(pages).toEqual([['d4', 'd3'], ['d2', 'd1'], ['d0']]);
    const after = await api.ojs<Fetched>('GET', '/v1/dead-letter?limit=2&offset=3');
    expect(after.body.jobs.map(({ id }) => id)).toEqual(['d1', 'd0']);
    const mail = await api.ojs<Fetched>('GET', '/v1/dead-letter?queue=mail');
    expect(mail.body).toMatchObject({ jobs: [{ id: 'd2' }], pagination: { total: 1 } });
  });
});
