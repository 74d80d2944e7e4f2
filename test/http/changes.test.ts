import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openStream } from './events.js';
import { openApi } from './server.js';

async function ready(options = {}) {
  const api = await openApi(options);
  await api.put({ ...task('echo'), _id: 't' }, { ...flow('greet', ['echo']), _id: 'f' });
  const follow = async (query = '', headers: Readonly<Record<string, string>> = {}) => {
    const stream = await openStream(`${api.url}/_tws/changes${query}`, headers);
    return stream;
  };
  return { ...api, follow };
}

const job = (_id: string, more: object = {}) => ({ _id, type: 'job', flow: 'greet', ...more });

describe('the stream of changes', () => {
  it('tells every change of a job as it comes, with its summary', async () => {
    const { follow, ask, engine } = await ready();
    const stream = await follow();
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers.get('cache-control')).toBe('no-store');
    expect(await stream.next()).toMatchObject({ event: 'ready', data: {} });
    await engine();
    await ask('POST', '/jobs', { body: { _id: 'a', flow: 'greet', keys: { secret: 'hunter2' } } });
    const first = await stream.next();
    expect(first).toMatchObject({ event: 'job', data: { id: 'a', status: 'queued' } });
    const last = await stream.until(({ data }) => data['status'] === 'succeeded');
    expect(last.data).toMatchObject({
      id: 'a',
      flow: 'greet',
      exit: 0,
      keys: { secret: '[secret]' },
    });
    expect(last.id).not.toBe(first?.id);
    stream.close();
  });

  it('X3: goes on after the last event that was seen, near and far', async () => {
    const { follow, put, client } = await ready();
    const begin = await client.position();
    const stream = await follow();
    await stream.next();
    await put(job('a'), job('b'));
    const seen = [await stream.next(), await stream.next()].map((event) => event?.data['id']);
    expect(seen.sort()).toEqual(['a', 'b']);
    const at = (await (async () => {
      await put(job('c'));
      return stream.until(({ data }) => data['id'] === 'c');
    })()) as { id: string };
    stream.close();
    await put(job('d'));
    // The feed still runs: what was missed is remembered.
    const near = await follow('', { 'last-event-id': at.id });
    expect(await near.next()).toMatchObject({ event: 'job', data: { id: 'd' } });
    near.close();
    // A sequence of before the feed began is asked of the database.
    const far = await follow(`?since=${encodeURIComponent(begin)}`);
    const ids = [];
    for (let i = 0; i < 4; i += 1) ids.push((await far.next())?.data['id']);
    expect(ids.sort()).toEqual(['a', 'b', 'c', 'd']);
    far.close();
  });

  it('says that everything has to be read anew when nobody knows what was missed', async () => {
    const { follow, put } = await ready();
    const stream = await follow('', { 'last-event-id': 'nonsense' });
    expect(await stream.next()).toMatchObject({ event: 'reset' });
    await put(job('a'));
    expect(await stream.until(({ event }) => event === 'job')).toMatchObject({ data: { id: 'a' } });
    stream.close();
  });

  it('tells only what was asked for and may be seen', async () => {
    const { follow, put, client, tokenOf } = await ready();
    const acme = { authorization: `Bearer ${await tokenOf('tws-viewer', 'tws-owner:acme')}` };
    const streams = {
      own: await follow('', acme),
      flow: await follow('?flow=other'),
      tag: await follow('?tag=red'),
      job: await follow('?job=a&job=p'),
      owner: await follow('?owner=acme'),
    };
    for (const stream of Object.values(streams)) await stream.next();
    await put(
      job('a'),
      job('b', { owner: 'acme' }),
      job('c', { flow: 'other' }),
      job('d', { tags: ['red'] }),
      job('e', { parent: { job: 'p', step: '0' } }),
    );
    const next = async (name: keyof typeof streams) => (await streams[name].next())?.data['id'];
    expect(await next('own')).toBe('b');
    expect(await next('owner')).toBe('b');
    expect(await next('flow')).toBe('c');
    expect(await next('tag')).toBe('d');
    expect([await next('job'), await next('job')].sort()).toEqual(['a', 'e']);
    const a = await client.get('a');
    await client.remove('a', a?._rev ?? '');
    const b = await client.get('b');
    await client.remove('b', b?._rev ?? '');
    expect(await streams.own.next()).toMatchObject({ event: 'removed', data: { id: 'b' } });
    for (const stream of Object.values(streams)) stream.close();
    const refused = await follow('?owner=zeta', acme);
    expect(refused.status).toBe(403);
    refused.close();
  });

  it('X5: gives signs of life, and ends when its reader may not read any more', async () => {
    const { client, ask, url, put } = await ready({
      settings: { sign_in: 'always' },
      heartbeatMs: 50,
      keepMs: 10,
    });
    const made = await client.createToken({ name: 'x', roles: ['tws-admin'] });
    const heard: string[] = [];
    const ended = new Promise<void>((resolve) => {
      const headers = { authorization: `Bearer ${made.token}` };
      const sent = httpRequest(`${url}/_tws/changes`, { headers }, (reply) => {
        reply.setEncoding('utf8');
        reply.on('data', (text: string) => heard.push(text));
        reply.on('end', resolve);
      });
      sent.end();
    });
    await expect.poll(() => heard.join('')).toContain(': still here');
    await put(job('a'));
    await expect.poll(() => heard.join('')).toContain('"id":"a"');
    await client.revokeToken(made.id);
    // A stream that is never silent ends as well, after a while: it is kept busy until then.
    let isOpen = true;
    void ended.then(() => (isOpen = false));
    for (let i = 0; isOpen; i += 1) await put(job(`busy${i}`));
    expect((await ask('GET', '/jobs', { token: made.token })).status).toBe(401);
  });

  it('X4: costs bounded memory for a reader that is too slow, who is told to look anew', async () => {
    const { url, put, follow } = await ready();
    const quick = await follow();
    const slow = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(`${url}/_tws/changes`, resolve).on('error', reject).end();
    });
    slow.pause();
    await quick.next();
    const text = 'x'.repeat(4_000);
    for (let round = 0; round < 4; round += 1) {
      await put(
        ...Array.from({ length: 1_000 }, (_, i) => job(`j${round}-${i}`, { tags: [text] })),
      );
    }
    await quick.until(({ event, data }) => event === 'reset' || data['id'] === 'j3-999');
    let heard = '';
    slow.setEncoding('utf8');
    slow.on('data', (chunk: string) => {
      heard += chunk;
    });
    slow.resume();
    await put(job('last'));
    await expect.poll(() => heard.includes('"id":"last"')).toBe(true);
    expect(heard).toContain('event: reset');
    slow.destroy();
    quick.close();
  });

  it('is open so many times at most', async () => {
    const { follow } = await ready({ settings: { streams: 2 } });
    const streams = [await follow(), await follow()];
    for (const stream of streams) await stream.next();
    const third = await follow();
    expect(third.status).toBe(503);
    third.close();
    streams[0]?.close();
    await expect
      .poll(async () => {
        const again = await follow();
        again.close();
        return again.status;
      })
      .toBe(200);
    streams[1]?.close();
  });
});
