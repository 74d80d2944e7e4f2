import { existsSync, readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import * as http from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { packageRoot } from '../../src/package.js';
import { encryptVersion1 as encrypt } from '../support/version1.js';
import { openProject } from './database.js';
import { tws } from './executable.js';
import { flow, project, task } from './terminal.js';

const slow = {
  'plugins/slow.mjs': `import { writeFileSync } from 'node:fs';
    export default ({ params }) => {
      writeFileSync('began', '');
      return new Promise((resolve) => setTimeout(() => resolve('slept'), params.ms));
    };`,
};

/** Whether a process is there. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('tws start', () => {
  // Shows J-05.
  it('runs an engine, and SIGTERM lets its steps finish', async () => {
    const { root, env, put, until, ended, store } = await openProject(slow);
    await put(
      { _id: 't', ...task('slow', { plugin: 'slow', params: { ms: 700 } }) },
      { _id: 'f', ...flow('f', ['slow']) },
    );
    const engine = tws(['start'], { cwd: root, env });
    await engine.prints(/follows/);
    await put({ _id: 'j', type: 'job', flow: 'f' });
    await until('j', ({ state }) => state === 'slow-0');
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
    expect(await ended('j')).toMatchObject({ exit: 0, state: '$$complete' });
    expect(await store.view('engines')).toEqual([]);
    expect(engine.err()).not.toContain(env['COUCH_PASS']);
    // Nobody asked for it.
    expect(engine.out()).not.toContain('HTTP API');
  });

  it('ends at once at the second signal', async () => {
    const { root, env, put } = await openProject(slow);
    await put(
      { _id: 't', ...task('slow', { plugin: 'slow', params: { ms: 60_000 }, timeout: 0 }) },
      { _id: 'f', ...flow('f', ['slow']) },
    );
    const engine = tws(['start'], { cwd: root, env });
    await engine.prints(/follows/);
    await put({ _id: 'j', type: 'job', flow: 'f' });
    await vi.waitUntil(() => existsSync(join(root, 'began')), 60_000);
    engine.kill('SIGINT');
    await engine.prints(/stopping/);
    engine.kill('SIGINT');
    expect(await engine.ended).toBe(130);
  });

  it('ends at a signal while a server keeps it waiting', async () => {
    const away = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await new Promise((resolve) => away.once('listening', resolve));
    const { port } = away.address() as { port: number };
    const engine = tws(['start'], {
      cwd: await project(),
      env: { COUCH_URL: `http://127.0.0.1:${port}` },
    });
    await new Promise((resolve) => away.once('connection', resolve));
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
    away.close();
  });

  it('survives a promise that a plugin left behind, and hides its secret', async () => {
    const key = 'a key of this test';
    const { root, env, put, ended } = await openProject({
      'plugins/careless.mjs': `export default ({ params }) => {
        void Promise.reject(Object.assign(new Error('no login with ' + params.pass), { code: 'EAUTH' }));
        return 'done';
      };`,
    });
    const params = { pass: encrypt('correct horse', key) };
    await put(
      { _id: 't', ...task('careless', { plugin: 'careless', params }) },
      { _id: 'f', ...flow('f', ['careless']) },
    );
    const engine = tws(['start'], { cwd: root, env: { ...env, TWS_CRYPTO_KEY: key } });
    await engine.prints(/follows/);
    await put({ _id: 'one', type: 'job', flow: 'f' });
    await engine.prints(/nobody waited for it: no login with \[secret\]/);
    await put({ _id: 'two', type: 'job', flow: 'f' });
    expect(await ended('two')).toMatchObject({ exit: 0 });
    expect(engine.err()).toContain('careless.mjs');
    expect(engine.err()).not.toContain('correct horse');
    // Of a key that fits there is nothing to say.
    expect(engine.err()).not.toContain('TWS_CRYPTO_KEY');
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
  });

  it('runs several engines, each a process, and ends with them', async () => {
    const { root, env, store } = await openProject();
    const flags = ['--engines', '2', '--labels', 'big', '--slots', '3', '--queues', 'a,b'];
    const several = tws(['start', ...flags], { cwd: root, env });
    await several.prints(/follows[^]*follows/);
    const docs = await store.view('engines', { includeDocs: true });
    const engines = docs.map(({ doc }) => doc as { pid?: number; slots?: number } | undefined);
    expect(new Set(engines.map((engine) => engine?.pid)).size).toBe(2);
    expect(engines[0]).toMatchObject({ labels: ['big'], slots: 3, queues: ['a', 'b'] });
    several.kill('SIGTERM');
    expect(await several.ended).toBe(0);
    expect(engines.some((engine) => lives(engine?.pid ?? 0))).toBe(false);
  });

  it('waits for a server that is not there yet', async () => {
    const engine = tws(['start'], {
      cwd: await project(),
      env: { COUCH_URL: 'http://127.0.0.1:2' },
    });
    await engine.prints(/Waiting for it/);
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
  });

  it('waits for a database that nobody initialised, and says how to', async () => {
    const { root, env } = await openProject();
    const engine = tws(['start', '--database', 'tws-test-missing'], { cwd: root, env });
    await engine.prints(/tws init/);
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
  });
});

describe('tws dev', () => {
  // Shows X-46.
  it('needs nothing but a folder; a second terminal there needs no settings', async () => {
    const cwd = await project({
      'couch/tws/tasks/hello.json': task('hello'),
      'couch/tws/flows/hello.json': flow('hello', ['hello']),
      'couch/tws/jobs/hello.json': { type: 'job', flow: 'hello', params: { 'hello-0': { a: 1 } } },
    });
    const dev = tws(['dev', '--port', '0'], { cwd });
    await dev.prints(/Ctrl-C ends all/);
    expect(dev.out()).toContain('inserting: couch/tws/tasks/hello.json => ok task:DEFAULT:hello');
    const file = join(cwd, '.tws', 'embedded.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { password } = JSON.parse(await readFile(file, 'utf8')) as { password: string };
    expect(`${dev.out()}${dev.err()}`).not.toContain(password);

    const submitted = tws(['submit', 'hello', '--wait'], { cwd });
    expect(await submitted.ended).toBe(0);
    expect(submitted.out()).toContain('"a": 1');
    const second = tws(['dev', '--port', '0'], { cwd });
    expect(await second.ended).toBe(69);
    expect(second.err()).toContain('already');

    // A move ends the engine; the server stays, since what is copied is compared with it.
    const url = (await readFile(join(cwd, '.tws', 'couch-url'), 'utf8')).trim();
    const moved = tws(['move', '--no-confirm', '--to', `${url}/elsewhere`], { cwd });
    expect(await moved.ended, moved.err()).toBe(0);
    expect(moved.out()).toMatch(/^moved: \d+ documents, each compared$/m);
    await dev.prints(/This server stays/);
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
    expect(existsSync(file)).toBe(false);

    const again = tws(['dev', '--port', '0'], { cwd });
    await again.prints(/Ctrl-C ends all/);
    expect(again.err()).toMatch(/has moved to .*\/elsewhere\.[^]*This server stays/);
    expect(again.out()).not.toContain('pushing');
    again.kill('SIGINT');
    expect(await again.ended).toBe(0);
  });

  it('takes another port where the usual one is taken, unless a port was chosen', async () => {
    const other = http.createServer((_request, response) =>
      response.end('{"couchdb":"Welcome","version":"3.4.3"}'),
    );
    // Where it is taken already, nothing need be done.
    await new Promise<void>((resolve) => {
      other.once('error', () => resolve());
      other.listen(5984, '127.0.0.1', () => resolve());
    });
    onTestFinished(() => void other.close());
    const cwd = await project();
    const chosen = tws(['dev', '--no-http', '--port', '5984'], { cwd });
    expect([await chosen.ended, chosen.err()]).toEqual([69, expect.stringContaining('5984')]);
    const dev = tws(['dev', '--no-http'], { cwd });
    await dev.prints(/Ctrl-C ends all/);
    expect(dev.err()).toMatch(
      /uses port 5984, so the embedded server of this folder uses port \d+\./,
    );
    if (other.listening)
      expect(dev.err()).toContain('COUCH_URL=http://user:password@127.0.0.1:5984');
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
  });

  it.skipIf(process.platform !== 'linux')('ends when its server has ended by itself', async () => {
    const cwd = await project({});
    const dev = tws(['dev', '--port', '0', '--no-http'], { cwd });
    await dev.prints(/Ctrl-C ends all/);
    const settings = await readFile(join(cwd, '.tws', 'embedded.json'), 'utf8');
    const { pid } = JSON.parse(settings) as { pid: number };
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    const isServer = (child: string): boolean =>
      child.trim() !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('embedded');
    process.kill(Number(children.find(isServer)), 'SIGKILL');
    expect(await dev.ended).toBe(69);
    expect(dev.err()).toContain('is gone (it ended with SIGKILL), and nothing works without it.');
    expect(dev.err()).not.toContain('steps may finish');
  });

  it('is found by other terminals when its database is there', async () => {
    const cwd = await project({});
    const dev = tws(['dev', '--port', '0', '--no-engine', '--no-http'], { cwd });
    const file = join(cwd, '.tws', 'couch-url');
    await vi.waitUntil(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'), {
      timeout: 60_000,
      interval: 1,
    });
    const { username, password } = new URL(readFileSync(file, 'utf8').trim());
    const settings = await readFile(join(cwd, '.tws', 'embedded.json'), 'utf8');
    const { url, database } = JSON.parse(settings) as { url: string; database: string };
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const { status } = await fetch(`${url}/${database}/_design/tws`, {
      headers: { authorization },
    });
    expect(status).toBe(200);
    await dev.prints(/Ctrl-C ends all/);
    expect(dev.out()).not.toContain('HTTP API');
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
  });

  it('says which port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const dev = tws(['dev', '--port', String(port)], { cwd: await project() });
    expect(await dev.ended).toBe(69);
    expect(dev.err()).toContain(`Port ${port}`);
    taken.close();
  });
});

describe('the mail server of tws dev', () => {
  async function busyPort(): Promise<number> {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    onTestFinished(() => void taken.close());
    return (taken.address() as { port: number }).port;
  }
  const files = {
    'couch/tws/tasks/mail.json': task('mail', { plugin: 'mail-smtp' }),
    'couch/tws/flows/f.json': flow('f', ['mail']),
  };

  it('says once that its port is taken, and the rest runs', async () => {
    const port = String(await busyPort());
    const dev = tws(['dev', '--port', '0', '--mail-port', port, '--s3-port', '0'], {
      cwd: await project(files),
    });
    await dev.prints(/Ctrl-C ends all/);
    expect(dev.err().match(new RegExp(`Port ${port}`, 'g'))).toHaveLength(1);
    expect(dev.err()).toContain('no mail server: Port');
    expect(dev.err()).toContain('--mail-port');
    expect(dev.err()).toContain('S3 server:    http://');
    expect(dev.err()).not.toContain('TWS_CRYPTO_KEY is not set');
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
  });

  it('is refused by tws quickstart when the port that was asked for is taken', async () => {
    const port = String(await busyPort());
    const shown = tws(['quickstart', '--mail-port', port], { cwd: await project() });
    expect(await shown.ended).toBe(69);
    expect(shown.err()).toContain(`Port ${port} of this machine, which the mail server needs`);
  });
});

/** Resolves when a form of the job is in the inbox, where an engine has to bring it first. */
async function untilListed(cwd: string, job: string): Promise<void> {
  const listed = async (): Promise<string> => {
    const inbox = tws(['inbox'], { cwd });
    await inbox.ended;
    return inbox.out();
  };
  await expect.poll(listed, { interval: 500 }).toContain(job);
}

/** A flow that asks somebody by mail. */
const asks = {
  ...{ type: 'flow', name: 'asks', owner: 'DEFAULT', timeout: 0 },
  tasks: [{ name: 'sign', approve: { title: 'Sign it', assignee: 'ann' } }],
  notify: [
    {
      ...{ on: ['waiting'], task: 'mail' },
      params: { to: 'ann@example.com', text: 'Answer at {{form.link}}' },
    },
  ],
};

describe('a project of tws new', () => {
  it('runs its own job and the samples by the commands of its README, and says where mails go', async () => {
    const above = await project();
    expect(await tws(['new', 'project', 'shop'], { cwd: above }).ended).toBe(0);
    const cwd = join(above, 'shop');
    const readme = await readFile(join(cwd, 'README.md'), 'utf8');
    await writeFile(join(cwd, 'asks.json'), JSON.stringify(asks));
    const ports = ['--port', '0', '--mail-port', '0', '--s3-port', '0'];
    const dev = tws(['dev', '--mailbox', ...ports], { cwd });
    await dev.prints(/Ctrl-C ends all/);
    const port = /smtp:\/\/127\.0\.0\.1:(\d+)/.exec(dev.err())?.[1] ?? '';
    expect(Number(port)).toBeGreaterThan(0);
    expect(dev.err()).toContain('sends to port 2525 of 127.0.0.1, as the samples do, comes here');
    expect(dev.err()).toMatch(/TWS_CRYPTO_KEY is not set, so links .* lead to the page of the job/);
    expect(dev.err()).not.toContain('warning');
    const told = [...readme.matchAll(/^ {4}npx tws (?!dev)(.*?)(?: +#.*)?$/gm)];
    const calls = told.map(([, call = '']) => call.trim().split(' '));
    expect(calls.map(([command]) => command)).toEqual([
      ...['submit', 'push', 'submit', 'submit'],
      ...['submit', 'inbox', 'answer'],
    ]);
    for (const call of calls) {
      const data = call.includes('answer') ? ['--data', '{"approved": true}'] : [];
      const args = [...call, ...data];
      if (call.includes('inbox')) await untilListed(cwd, 'a1');
      const called = tws(args, { cwd });
      expect(await called.ended, `${call.join(' ')}: ${called.err()}`).toBe(0);
    }
    await dev.prints(/To: +me@example\.com/);
    // A link in a mail leads to the server that this tws dev has begun, wherever that is.
    expect(await tws(['push', 'asks.json'], { cwd }).ended).toBe(0);
    expect(await tws(['submit', 'asks', '--stored-flow'], { cwd }).ended).toBe(0);
    const [, api = ''] = /admin pages: +(\S+)/.exec(dev.out() + dev.err()) ?? [];
    await dev.prints(new RegExp(`Answer at ${api}jobs/`));
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
  });
});

describe('tws quickstart', () => {
  it('shows the mail that a workflow sent and its job, and leaves nothing behind, in a clone', async () => {
    const cwd = packageRoot();
    const wasThere = existsSync(join(cwd, '.tws'));
    const shown = tws(['quickstart'], { cwd });
    expect(await shown.ended, shown.err()).toBe(0);
    expect(shown.err()).not.toContain('warning');
    expect(shown.out()).toContain('Subject: It works');
    expect(shown.out()).toContain('"state": "$$complete"');
    expect(shown.err()).toMatch(/\d\.\d s {2}engine/);
    expect(existsSync(join(cwd, '.tws'))).toBe(wasThere);
  });

  it('keeps running with --keep, for a second terminal', async () => {
    const cwd = await project({ 'tws.json': { embedded: { port: 0 } } });
    const shown = tws(['quickstart', '--keep'], { cwd });
    await shown.prints(/It keeps running/);
    const other = tws(['submit', 'templatemail', '--wait', '--json'], { cwd });
    const set = ['--set', 'to=me@example.com', '--set', 'subject=Hi'];
    const asked = tws(['submit', 'mail-to', '--wait', ...set], { cwd });
    expect(await asked.ended, asked.err()).toBe(0);
    expect(await other.ended, other.err()).toBe(0);
    expect(JSON.parse(other.out())).toMatchObject({ state: '$$complete', exit: 0 });
    shown.kill('SIGTERM');
    expect(await shown.ended).toBe(0);
  });
});
