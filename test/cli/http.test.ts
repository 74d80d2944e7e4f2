import { createServer } from 'node:net';
import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openProject } from './database.js';
import { tws, type Process } from './executable.js';
import { flow, project, task } from './terminal.js';

/** Where a process says that its API is. */
async function urlOf(process: Process): Promise<string> {
  await process.prints(/HTTP API: +\S+/);
  return /HTTP API: +(\S+)/.exec(process.out())?.[1] ?? '';
}

async function ask(url: string, init: RequestInit = {}) {
  const reply = await fetch(url, init);
  const text = await reply.text();
  return { status: reply.status, text, body: JSON.parse(text) as Record<string, unknown> };
}

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

describe('tws serve', () => {
  it('serves the API alone until it is told to stop', async () => {
    const { root, env } = await openProject();
    const serve = tws(['serve', '--http', '127.0.0.1:0'], { cwd: root, env });
    const url = await urlOf(serve);
    const ready = await ask(`${url}/health/ready`);
    expect(ready).toMatchObject({ status: 200, body: { ready: true } });
    expect(JSON.stringify(ready.body)).not.toContain('engine');
    expect((await ask(`${url}/jobs`, post({ flow: 'f' }))).status).toBe(201);
    serve.kill('SIGTERM');
    expect(await serve.ended).toBe(0);
  });

  it('says which port is taken, and takes its settings from tws.json', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const { root, env } = await openProject({ 'tws.json': { http: { port } } });
    const serve = tws(['serve'], { cwd: root, env });
    expect(await serve.ended).toBe(69);
    expect(serve.err()).toContain(`Port ${port}`);
    taken.close();
    const wrong = tws(['serve', '--http', 'a:b:c'], { cwd: root, env });
    expect(await wrong.ended).toBe(2);
    expect(wrong.err()).toContain('--http must be host:port');
    const config = tws(['config'], { cwd: root, env });
    await config.ended;
    expect(config.out()).toContain(`http.port: ${port} (tws.json)`);
  });
});

describe('tws start --http', () => {
  it.each<[string, readonly string[]]>([
    ['an engine', []],
    ['several engines', ['--engines', '2']],
  ])('of %s says what to do when its port is taken', async (_title, more) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const { root, env } = await openProject();
    const start = tws(['start', ...more, '--http', String(port)], { cwd: root, env });
    expect(await start.ended).toBe(69);
    const said = start.err();
    expect(said).toContain(`Port ${port} of this machine, which the HTTP API needs, is in use.`);
    const [, advice = ''] = said.split('is in use.');
    expect(advice).toContain('Choose another address with --http HOST:PORT');
    expect(advice).not.toMatch(new RegExp(`--port|${port}`));
  });

  it('serves the API beside its engine, with its figures', async () => {
    const { root, env, put } = await openProject();
    await put({ ...task('echo'), _id: 't' }, { ...flow('f', ['echo']), _id: 'f' });
    const start = tws(['start', '--http', '0'], { cwd: root, env });
    const url = await urlOf(start);
    await ask(`${url}/jobs`, post({ _id: 'a', flow: 'f' }));
    expect((await ask(`${url}/jobs/a?wait=30s`)).body).toMatchObject({ status: 'succeeded' });
    const figures = await (await fetch(`${url}/metrics`)).text();
    expect(figures).toContain('tws_claims_total{verdict="won"} 1');
    expect(figures).toContain('tws_step_seconds_count{task="echo",outcome="done"} 1');
    expect(figures).toContain('tws_jobs{status="succeeded"} 1');
    expect(figures).toMatch(/tws_batch_documents_count [1-9]/);
    expect(figures).toMatch(/tws_engine_lease_age_seconds\{engine="engine:/);
    const ready = await ask(`${url}/health/ready`);
    expect(ready.text).toMatch(/engine:[\w-]+ runs/);
    start.kill('SIGTERM');
    expect(await start.ended).toBe(0);
    await expect(fetch(`${url}/ping`)).rejects.toThrow();
  });

  it('serves the API of several engines, too', async () => {
    const { root, env, client } = await openProject().then(async (opened) => ({
      ...opened,
      client: (await import('../../src/client.js')).createClient({ store: opened.store }),
    }));
    const start = tws(['start', '--engines', '2', '--http', '0'], { cwd: root, env });
    const url = await urlOf(start);
    await expect.poll(async () => (await client.engines()).length).toBe(2);
    expect((await ask(`${url}/engines`)).body['engines']).toHaveLength(2);
    start.kill('SIGTERM');
    expect(await start.ended).toBe(0);
  });
});

describe('tws dev', () => {
  it('serves the API on a free port when the usual one is taken', async () => {
    const cwd = await project();
    const usual = createServer();
    const isTaken = (): Promise<boolean> =>
      new Promise((resolve) => {
        usual.once('listening', () => resolve(true)).once('error', () => resolve(false));
        usual.listen(5985, '127.0.0.1');
      });
    const begun = async () => {
      const dev = tws(['dev', '--port', '0'], { cwd });
      return { dev, url: await urlOf(dev) };
    };
    let isOurs = await isTaken();
    let { dev, url } = await begun();
    // Somebody else on this machine had it, and gave it back at this moment.
    while (!isOurs && url.includes(':5985/')) {
      dev.kill('SIGTERM');
      await dev.ended;
      isOurs = await isTaken();
      ({ dev, url } = await begun());
    }
    await dev.prints(/Ctrl-C ends all/);
    expect(url).not.toContain(':5985/');
    expect((await ask(`${url}/session`)).body).toMatchObject({ kind: 'local' });
    const { password } = JSON.parse(await readFile(`${cwd}/.tws/embedded.json`, 'utf8')) as {
      password: string;
    };
    for (const path of ['health/ready', 'openapi.json', 'engines', 'stats']) {
      expect((await ask(`${url}/${path}`)).text).not.toContain(password);
    }
    const name = 'admin';
    const signedIn = await ask(`${url}/session`, post({ name, password }));
    expect(signedIn.body).toMatchObject({ name, level: 'admin' });
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
    usual.close();
  });
});
