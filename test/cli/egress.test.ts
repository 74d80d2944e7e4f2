import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { start } from '../../src/cli/commands/start.js';
import { openProject } from './database.js';
import { begin, flow, task } from './terminal.js';

/** A server on loopback that counts the requests it gets. */
async function listener() {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.end('hello');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, asked: () => asked };
}

/** Starts engines in a project with these settings; answers how a job ends that asks a server on loopback. */
async function askedBy(settings: object, flags: Record<string, unknown> = {}, http?: string) {
  const { url, asked } = await listener();
  const { root, env, put, ended } = await openProject({ 'tws.json': settings });
  await put(
    { _id: 't', ...task('ask', { plugin: 'http-request', params: { url } }) },
    { _id: 'f', ...flow('f', ['ask']) },
    { _id: 'j', type: 'job', flow: 'f' },
  );
  const engine = begin(start, { cwd: root, env, flags, settings: { http }, mode: 'quiet' });
  const job = await Promise.race([
    ended('j'),
    engine.ended.then((exit) => Promise.reject(new Error(`It ended (${exit}): ${engine.err()}`))),
  ]);
  engine.stop();
  expect(await engine.ended).toBe(0);
  return { failure: job.failure?.message ?? '', asked: asked() };
}

it('an engine of tws start reaches what no setting closes', async () => {
  expect(await askedBy({})).toEqual({ failure: '', asked: 1 });
});

it.each([
  ['egress.deny names', { egress: { deny: ['127.0.0.1'] } }, /"egress": \{"deny"/],
  ['http.public_url closes', { http: { public_url: 'https://a.example' } }, /private network/],
])('an engine of tws start reaches no address that %s', async (_what, settings, reason) => {
  const { failure, asked } = await askedBy(settings);
  expect(failure).toMatch(reason);
  expect(asked).toBe(0);
});

it('engines in processes of their own learn that the API of their parent is exposed', async () => {
  const { failure, asked } = await askedBy({}, { engines: '2' }, '0.0.0.0:0');
  expect(failure).toMatch(/private network/);
  expect(asked).toBe(0);
});
