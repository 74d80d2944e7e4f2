import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encryptVersion1 as encrypt } from '../../support/version1.js';
import { flow, job, task } from '../../support/documents.js';
import { startReceiver, type Received } from '../../support/receiver.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const plugins = {
  'ok.mjs': `export default () => ({ is: 'fine' });`,
  'bad.mjs': `export default () => { throw new Error('It is broken.'); };`,
  'say.mjs': `export default ({ params }) => params;`,
};
const tasks = ['ok', 'bad', 'say'].map((name) => task(name));

/** The revision of a document as a number: so often it was written. */
const writes = ({ _rev }: { readonly _rev: string }): number => Number(_rev.split('-')[0]);

const types = (received: readonly Received[]): readonly string[] =>
  received.map(({ body }) => body.type);

async function spaceWith(...documents: readonly Record<string, unknown>[]): Promise<Workspace> {
  const space = await openWorkspace(plugins);
  await space.put(...tasks, ...documents);
  return space;
}

describe('a webhook of a flow', () => {
  // Shows X-43.
  it('is told how a job ended, after its final revision is stored', async () => {
    const { url, until } = await startReceiver();
    const space = await spaceWith(flow('f', ['bad'], { notify: [{ url: `${url}/hook` }] }));
    await space.engine({ linkOf: (id) => `https://tws.example.com/jobs/${id}` });
    await space.put(job('f', { _id: 'j', params: { x: 'private' }, external_id: 'order 17' }));
    const ended = await space.ended('j');
    const [one] = await until(1);
    expect(one).toMatchObject({ path: '/hook', headers: { 'content-type': 'application/json' } });
    expect(one?.headers['webhook-id']).toMatch(/^msg_[\w-]+$/);
    expect(one?.headers).not.toHaveProperty('webhook-signature');
    expect(one?.body).toEqual({
      type: 'job.failed',
      timestamp: new Date(Number(ended['end'])).toISOString(),
      data: {
        job: 'j',
        flow: 'f',
        owner: 'me',
        run: 1,
        status: 'failed',
        exit: 2,
        failure: ended.failure,
        start: ended['start'],
        end: ended['end'],
        external_id: 'order 17',
        link: 'https://tws.example.com/jobs/j',
      },
    });
    const id = 'j:notify:1:0';
    expect(ended['notifications']).toEqual([{ id, run: 1, at: ended['end'] }]);
    const told = await space.ended(id);
    expect(told).toMatchObject({ state: '$$complete', exit: 0, owner: 'me' });
    expect(told.steps).toMatchObject([{ plugin: 'webhook', result: { status: 204 } }]);
    expect(writes(ended)).toBe(3);
  });

  it('tells of the ends that it names and of no others', async () => {
    const { url, until } = await startReceiver();
    const notify = (['succeeded', 'failed', 'cancelled', 'ended'] as const).map((on) => ({
      on: [on],
      url: `${url}/${on}`,
    }));
    const space = await spaceWith(
      flow('well', ['ok'], { notify }),
      flow('badly', ['bad'], { notify }),
      flow('long', [{ delay: 600_000 }], { notify }),
    );
    await space.engine();
    await space.put(job('well', { _id: 'a' }), job('badly', { _id: 'b' }));
    await space.put(job('long', { _id: 'c' }));
    const waiting = await space.until('c', (doc) => doc['state'] !== undefined);
    await space.put({ type: 'request', job: waiting._id, action: 'cancel' });
    const came = (await until(6)).map(({ path, body }) => `${path} ${String(body.data['job'])}`);
    expect(came.toSorted()).toEqual(
      ['/cancelled c', '/ended a', '/ended b', '/ended c', '/failed b', '/succeeded a'].toSorted(),
    );
  });

  it('is signed with its secret, which stands nowhere in clear', async () => {
    const { url, until } = await startReceiver();
    const clear = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const secret = encrypt(clear, 'the key');
    const space = await spaceWith(flow('f', ['ok'], { notify: [{ url, secret }] }));
    await space.engine({ cryptoKey: 'the key' });
    await space.put(job('f', { _id: 'j' }));
    const [one] = await until(1);
    const id = String(one?.headers['webhook-id']);
    const timestamp = String(one?.headers['webhook-timestamp']);
    const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const signature = createHmac('sha256', key)
      .update(`${id}.${timestamp}.${String(one?.text)}`)
      .digest('base64');
    expect(one?.headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(Math.abs(Date.now() / 1_000 - Number(timestamp))).toBeLessThan(300);
    const told = await space.ended('j:notify:1:0');
    expect(told.exit).toBe(0);
    expect(JSON.stringify([told, space.log])).not.toContain('MfKQ9r8G');
  });

  it('may have an encrypted address and encrypted headers, which stand nowhere in clear', async () => {
    const { url, until } = await startReceiver(() => ({ status: 400, body: 'Bearer hush-hush' }));
    const hide = (clear: string): string => encrypt(clear, 'the key');
    const headers = { authorization: hide('Bearer hush-hush') };
    const notify = [{ url: hide(`${url}/hidden-path`), headers }];
    const space = await spaceWith(flow('f', ['ok'], { notify }));
    await space.engine({ cryptoKey: 'the key' });
    await space.put(job('f', { _id: 'j' }));
    const [one] = await until(1);
    expect(one).toMatchObject({
      path: '/hidden-path',
      headers: { authorization: 'Bearer hush-hush' },
    });
    const told = await space.ended('j:notify:1:0');
    expect(told.failure?.message).toBe(`The webhook ${url} answered 400: [secret].`);
    expect(JSON.stringify([told, await space.store.get('j'), space.log])).not.toMatch(
      /hush|hidden/,
    );
  });

  it('is sent again with the same id until the receiver takes it', async () => {
    const { url, until } = await startReceiver(({ at }) => ({ status: at < 2 ? 500 : 200 }));
    const retry = { limit: 5, delay: 1 };
    const space = await spaceWith(flow('f', ['ok'], { notify: [{ url, retry }] }));
    await space.engine();
    await space.put(job('f', { _id: 'j' }));
    const came = await until(3);
    expect(new Set(came.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const told = await space.ended('j:notify:1:0');
    expect(told.steps.map(({ state }) => state)).toEqual(['$$error', '$$error', '$$complete']);
    expect(told.steps[0]).toMatchObject({ failure: { name: 'WebhookRefused', code: 500 } });
  });

  it('that is refused fails alone: the job is as it was', async () => {
    const { url } = await startReceiver(() => ({ status: 404 }));
    const space = await spaceWith(flow('f', ['ok'], { notify: [{ url }] }));
    await space.engine();
    await space.put(job('f', { _id: 'j' }));
    const told = await space.ended('j:notify:1:0');
    expect(told).toMatchObject({ exit: 2, failure: { name: 'WebhookRefused', code: 404 } });
    expect(told.steps).toHaveLength(1);
    const { rows } = { rows: [await space.store.get('j')] };
    expect(rows[0]).toMatchObject({ exit: 0, state: '$$complete' });
    expect(writes(rows[0] ?? { _rev: '0' })).toBe(3);
  });

  it('brings what its entry includes, and a body of its own', async () => {
    const { url, until } = await startReceiver();
    const body = {
      text: '{{job.notifies.flow}} is {{job.notifies.status}}: {{job.notifies.exit}}',
    };
    const output = 'results.ok';
    const notify = [
      { url: `${url}/a`, include: ['params', 'result'] },
      { url: `${url}/b`, body },
    ];
    const space = await spaceWith(flow('f', ['ok'], { notify, output }));
    await space.engine();
    await space.put(job('f', { _id: 'j', params: { ok: { n: 1 } } }));
    const came = [...(await until(2))].sort((a, b) => (a.path < b.path ? -1 : 1));
    expect(came[0]?.body.data).toMatchObject({
      params: { 'ok-0': { n: 1 } },
      result: { is: 'fine' },
    });
    expect(came[1]?.body).toEqual({ text: 'f is succeeded: 0' });
  });
});

describe('a notification', () => {
  it('may be a task or a flow of the owner, with parameters that know the job', async () => {
    const params = { line: '{{job.notifies.job}}: {{job.notifies.failure.message}}' };
    const notify = [
      { on: ['failed'], task: 'say', params },
      { on: ['failed'], flow: 'escalate', params: { say: params } },
      { on: ['failed'], task: 'nowhere' },
    ];
    const space = await spaceWith(
      flow('f', ['bad'], { notify }),
      flow('escalate', ['say'], { output: 'results.say' }),
    );
    await space.engine();
    await space.put(job('f', { _id: 'j' }));
    const line = 'j: It is broken.';
    expect((await space.ended('j:notify:1:0')).steps).toMatchObject([{ result: { line } }]);
    expect(await space.ended('j:notify:1:1')).toMatchObject({ exit: 0, result: { line } });
    const missing = await space.ended('j:notify:1:2');
    expect(missing).toMatchObject({ exit: 3, failure: { name: 'TaskMissing' } });
    expect(await space.ended('j')).toMatchObject({ exit: 2, failure: { name: 'Error' } });
  });

  it('comes again when a retried job ends again', async () => {
    const { url, until } = await startReceiver();
    const space = await spaceWith(flow('f', ['bad'], { notify: [{ url }] }));
    await space.engine();
    await space.put(job('f', { _id: 'j' }));
    await until(1);
    await space.put({ type: 'request', job: 'j', action: 'retry' });
    const came = await until(2);
    expect(came.map(({ body }) => body.data['run'])).toEqual([1, 2]);
    const again = await space.until('j', (doc) => doc['run'] === 2 && doc['end'] !== undefined);
    expect(again['notifications']).toMatchObject([{ id: 'j:notify:1:0' }, { id: 'j:notify:2:0' }]);
  });

  it('comes of a job that never began, by its flow and by itself', async () => {
    const { url, until } = await startReceiver();
    const notify = [{ url: `${url}/flow` }];
    const space = await spaceWith(flow('f', ['nowhere'], { notify }));
    await space.engine();
    await space.put(job('f', { _id: 'a', notify: [{ url: `${url}/job` }] }));
    await space.put(job('no flow', { _id: 'b', notify: [{ url: `${url}/job` }] }));
    await space.put(job('f', { _id: 'c', params: 'wrong', notify: [{ url: `${url}/job` }] }));
    const came = (await until(5)).map(({ path, body }) => {
      const { job: id, failure } = body.data as { job: string; failure: { name: string } };
      return `${path} ${id} ${failure.name}`;
    });
    expect(came.toSorted()).toEqual([
      '/flow a TaskMissing',
      '/flow c InvalidJob',
      '/job a TaskMissing',
      '/job b FlowMissing',
      '/job c InvalidJob',
    ]);
  });

  it('of a former job of the same id is not taken for that of this one', async () => {
    const { url, until } = await startReceiver();
    const space = await spaceWith(flow('f', ['ok'], { notify: [{ url }] }));
    await space.engine();
    await space.put(job('f', { _id: 'nightly' }));
    const one = await space.ended('nightly');
    await until(1);
    await space.store.remove('nightly', one._rev);
    await space.put(job('f', { _id: 'nightly' }));
    const two = await space.until(
      'nightly',
      (doc) => doc['end'] !== undefined && doc._rev !== one._rev,
    );
    await until(2);
    const id = `nightly:notify-${String(two['start'])}:1:0`;
    expect(two['notifications']).toMatchObject([{ id }]);
  });

  it('ends without telling anybody when its subject ends in another way', async () => {
    const space = await spaceWith(flow('f', ['ok']));
    const notifies = { job: 'j', run: 1, start: 1, status: 'failed', depth: 1 };
    await space.put(job('f', { _id: 'early', notifies: { ...notifies, start: 2 } }));
    await space.put(job('f', { _id: 'j' }));
    await space.engine();
    expect(await space.ended('early')).toMatchObject({
      exit: 0,
      result: { skipped: expect.stringContaining('did not end') as unknown },
      steps: [],
    });
  });

  it('that notifies itself comes to an end', async () => {
    const notify = [{ flow: 'loop' }];
    const space = await spaceWith(flow('loop', ['ok'], { notify }));
    await space.engine();
    await space.put(job('loop', { _id: 'j' }));
    const last = 'j:notify:1:0:notify:1:0:notify:1:0';
    const ended = await space.ended(last);
    expect(ended).toMatchObject({ exit: 0, notifies: { depth: 3 } });
    expect(ended).not.toHaveProperty('notifications');
  });
});

describe('a flow', () => {
  it('without notifications costs as many revisions as ever, and no notification', async () => {
    const space = await spaceWith(flow('f', ['ok', 'ok']));
    await space.engine();
    await space.put(job('f', { _id: 'j' }));
    const ended = await space.ended('j');
    expect(writes(ended)).toBe(4);
    expect(ended).not.toHaveProperty('notifications');
  });

  it('with notifications that cannot be read runs, tells so, and sends the others', async () => {
    const { url, until } = await startReceiver();
    const notify = [{ url: 'ftp://x' }, { on: ['sometimes'], url }, { url: `${url}/good` }];
    const space = await spaceWith(flow('f', ['ok'], { notify }), flow('g', ['ok'], { notify: 5 }));
    await space.engine();
    await space.put(job('f', { _id: 'j' }), job('g', { _id: 'k', notify: {} }));
    expect((await space.ended('j'))['problems']).toMatchObject([
      { path: 'flow_definition.notify[0].url' },
      { path: 'flow_definition.notify[1].on[0]' },
    ]);
    expect(await space.ended('k')).toMatchObject({
      exit: 0,
      problems: [{ path: 'flow_definition.notify' }, { path: 'notify' }],
    });
    expect(types(await until(1))).toEqual(['job.succeeded']);
    expect((await until(1))[0]?.path).toBe('/good');
  });

  it('tells of child jobs and not of slices of a map', async () => {
    const { url, until } = await startReceiver();
    const notify = [{ url }];
    const map = { map: { over: [1, 2, 3, 4], slice: 2, do: 'ok' } };
    const space = await spaceWith(
      flow('inner', ['ok'], { notify }),
      flow('outer', [{ flow: 'inner' }, map], { notify }),
    );
    await space.engine();
    await space.put(job('outer', { _id: 'j' }));
    await space.ended('j');
    const came = await until(2);
    expect(came.map(({ body }) => body.data['job'])).toEqual(['j:0:1', 'j']);
  });
});
