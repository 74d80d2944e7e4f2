import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doctor } from '../../src/cli/commands/doctor.js';
import { encrypt } from '../../src/cli/commands/encrypt.js';
import { hook } from '../../src/cli/commands/hook.js';
import { newThing } from '../../src/cli/commands/new.js';
import { push } from '../../src/cli/commands/push.js';
import { hookOpener } from '../../src/cli/hooks/open.js';
import { openApi } from '../http/server.js';
import { openProject, type Project } from './database.js';
import { flow, project, run, task } from './terminal.js';

const path = 'couch/tws/hooks/push.json';
const github = {
  ...{ type: 'hook', name: 'push', owner: 'me', flow: 'f' },
  check: { hmac: { header: 'x-hub-signature-256', prefix: 'sha256=', secret: 'open sesame' } },
  ...{ dedupe: 'x-github-delivery', match: "headers.`x-github-event` = 'push'" },
  params: '{"a": {"commit": body.after}}',
};
const files = {
  'couch/tws/tasks/a.json': task('a'),
  'couch/tws/flows/f.json': flow('f', ['a'], { owner: 'me' }),
  [path]: github,
};
const env = { TWS_CRYPTO_KEY: 'a key of this test' };

/** A project whose hook has an encrypted secret and is stored. */
async function pushed(): Promise<Project> {
  const opened = await openProject(files);
  await opened.tws(encrypt, { args: [path, 'check.hmac.secret'], env });
  const { exit, err } = await opened.tws(push, { flags: { map: true } });
  expect([exit, err]).toEqual([0, '']);
  return opened;
}

describe('tws hook', () => {
  it('leaves the counter of a hook alone when its file is pushed again', async () => {
    const { tws, store, put } = await pushed();
    const stored = await store.get('hook:me:push');
    const refused = { count: 3, at: 1_700_000_000_000, status: 401 };
    await put({ ...stored, _id: 'hook:me:push', refused });
    const again = await tws(push, { flags: { map: true } });
    expect(again.out).toContain(`skipping: ${path} (already up to date)`);
    expect(await store.get('hook:me:push')).toMatchObject({ refused });
  });

  it('lists and shows hooks without their secrets', async () => {
    const { tws, store } = await pushed();
    const list = await tws(hook, { args: ['list'] });
    expect(list.out.split(/ {2,}/)).toEqual([
      ...['push', 'me', 'f', 'hmac', 'active', 'POST /_tws/hooks/push%3A%3Ame', 'hook:me:push'],
    ]);
    const show = await tws(hook, { args: ['show', 'push'] });
    expect(show.out).toContain('"secret":"[secret]"');
    expect(show.out).not.toContain('tws:v2');
    expect(JSON.stringify(await store.get('hook:me:push'))).toContain('tws:v2:');
  });

  it('tells what a delivery would start, and delivers it as the sender would', async () => {
    const opened = await pushed();
    const test = (more: object) =>
      opened.tws(hook, {
        args: ['test', 'push'],
        env: { ...opened.env, ...env },
        flags: { data: '{"after": "c0ffee"}', header: ['X-GitHub-Event: push'], ...more },
      });
    const judged = await test({});
    expect([judged.exit, judged.out]).toEqual([
      0,
      expect.stringMatching(/^starts: hook-run:push:me:[0-9a-f]{32}\n[^]*"commit": "c0ffee"/),
    ]);
    expect((await test({ header: [] })).out).toBe(
      'ignored: match does not hold, so it starts no job',
    );
    const api = await openApi({
      workspace: opened,
      openHook: hookOpener({ cryptoKey: env.TWS_CRYPTO_KEY }),
    });
    const sent = await test({ send: api.url });
    expect([sent.exit, sent.out]).toEqual([
      0,
      expect.stringMatching(/^202: \{"outcome":"started","job":"hook-run:push:me:/),
    ]);
    // As `tws dev` says that it serves its API there.
    const { url, user = '', password = '', database } = opened.store.connection;
    const dev = { url, user, password, database, app: 'tws', pid: process.pid, http: api.url };
    await mkdir(join(opened.root, '.tws'));
    await writeFile(join(opened.root, '.tws', 'embedded.json'), JSON.stringify(dev));
    const there = await run(hook, {
      ...{ cwd: opened.root, args: ['test', 'push'], env },
      flags: { data: '{"after": "c0ffee"}', header: ['X-GitHub-Event: push'], send: true },
    });
    expect([there.exit, there.out]).toEqual([0, expect.stringContaining('"outcome":"started"')]);
    const away = await test({ send: 'http://127.0.0.1:9' });
    expect(away.error?.message).toMatch(/^Nothing answers at http:\/\/127.0.0.1:9 /);
  });

  it('is told by doctor when a hook is invalid, or names a flow that is not stored', async () => {
    const { tws, put } = await openProject();
    const open = { type: 'hook', check: 'none', flow: 'none' };
    await put({ ...open, _id: 'h1', name: 'h1' }, { ...open, _id: 'h2', name: 'h2', check: 'x' });
    const { out } = await tws(doctor, { args: [] });
    expect(out).toContain('flow names "none", which is not stored');
    expect(out).toMatch(/hook h2.*It cannot be followed: check must be \{token\}/);
  });

  it.each([
    [['stop'], {}, 'There is no "tws hook stop"; it is one of list, show, test.'],
    [['list', 'a'], {}, 'tws hook list takes no name.'],
    [['show'], {}, 'tws hook show takes the name of one hook.'],
    [['show', 'a'], { data: '1' }, 'tws hook show takes no --data, --header, --query or --send.'],
    [
      ['test', 'a'],
      { send: 'x' },
      '--send takes the address of a server, such as http://127.0.0.1:5985.',
    ],
  ])('refuses %j %j', async (args, flags, reason) => {
    const { exit, error } = await run(hook, { cwd: await project({}), args, flags });
    expect([exit, error?.message]).toEqual([2, reason]);
  });
});

it('a new hook is a file that push takes, once its flow is there', async () => {
  const { tws, root } = await openProject();
  await tws(newThing, { args: ['hook', 'push'], flags: { flow: 'f' } });
  const made = JSON.parse(await readFile(join(root, path), 'utf8')) as object;
  expect(made).toMatchObject({ type: 'hook', name: 'push', flow: 'f', enabled: false });
});

it('push says what is wrong with a hook', async () => {
  const { tws } = await openProject({ ...files, [path]: { ...github, check: undefined } });
  const { err } = await tws(push, { args: [path] });
  expect(err).toMatch(/^couch\/tws\/hooks\/push.json: check is missing; it must be \{token\}/);
});
