import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openProxy } from './proxy.js';

const job = (id: string): string => `{"_id":"${id}","type":"job"}`;

/** A server that keeps the bodies it got whole, and a proxy before it. */
async function behindProxy() {
  const got: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += String(part)));
    request.on('error', () => undefined);
    request.on('end', () => {
      if (request.complete) got.push(body);
      response.end('done');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const proxy = await openProxy(new URL(`http://127.0.0.1:${port}`));
  onTestFinished(async () => {
    await proxy.close();
    server.closeAllConnections();
    server.close();
  });
  const write = async (body: string): Promise<string> => {
    const answer = await fetch(`${proxy.url}/db/_bulk_docs`, {
      method: 'POST',
      body: job(body),
      signal: AbortSignal.timeout(1_000),
    });
    return answer.text();
  };
  return { proxy, got, write };
}

it('a request that is cut is not seen whole; the next one gets through', async () => {
  const { proxy, got, write } = await behindProxy();
  let hits = 0;
  proxy.cutNextWrite('request', () => (hits += 1));
  await expect(write('first')).rejects.toThrow();
  expect(await write('second')).toBe('done');
  expect(got).toEqual([job('second')]);
  expect(hits).toBe(1);
});

it('an answer that is cut leaves the write done', async () => {
  const { proxy, got, write } = await behindProxy();
  proxy.cutNextWrite('answer', () => undefined);
  await expect(write('first')).rejects.toThrow();
  expect(got).toEqual([job('first')]);
});

it('nobody is let in while it refuses, and nothing gets through while it is silent', async () => {
  const { proxy, got, write } = await behindProxy();
  proxy.refuse();
  await expect(write('refused')).rejects.toThrow('fetch failed');
  proxy.heal();
  expect(await write('open')).toBe('done');
  proxy.silence();
  await expect(write('silent')).rejects.toThrow('timeout');
  expect(got).toEqual([job('open')]);
  proxy.heal();
  expect(await write('healed')).toBe('done');
});
