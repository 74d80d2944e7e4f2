import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2, { type Connection, type SFTPWrapper } from 'ssh2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../plugin/attempt.js';
import { run } from './shipped.js';

const hostKey = ssh2.utils.generateKeyPairSync('ed25519');
const parsed = ssh2.utils.parseKey(hostKey.public);
if (parsed instanceof Error) throw parsed;
const hash = createHash('sha256').update(parsed.getPublicSSH()).digest('base64');
const host_key = `SHA256:${hash.replace(/=$/, '')}`;

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

/** A real SFTP server with its files in memory; the password of everybody is `hunter22`. */
async function sftpServer() {
  const files = new Map<string, Buffer>();
  const folders = new Set(['/', '.', '/in']);
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (client: Connection) => {
    client.on('error', () => undefined);
    client.on('authentication', (given) => {
      if (given.method === 'password' && given.password === 'hunter22') return given.accept();
      given.reject(['password']);
    });
    client.on('session', (accept) => accept().on('sftp', (take) => serve(take())));
  });
  const serve = (sftp: SFTPWrapper): void => {
    const handles: string[] = [];
    const known = (handle: Buffer): string => handles[handle.readUInt32BE(0)] ?? '';
    const say = (id: number, code: number): void => void sftp.status(id, code);
    sftp.on('OPEN', (id, path, flags) => {
      if (!folders.has(path.slice(0, path.lastIndexOf('/')) || '/'))
        return say(id, STATUS_CODE.NO_SUCH_FILE);
      if (flags & OPEN_MODE.TRUNC) files.set(path, Buffer.alloc(0));
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(handles.push(path) - 1);
      sftp.handle(id, handle);
    });
    sftp.on('WRITE', (id, handle, offset, data) => {
      const path = known(handle);
      const before = files.get(path) ?? Buffer.alloc(0);
      const all = Buffer.alloc(Math.max(before.length, offset + data.length));
      before.copy(all);
      data.copy(all, offset);
      files.set(path, all);
      say(id, STATUS_CODE.OK);
    });
    for (const event of ['FSETSTAT', 'CLOSE'] as const)
      sftp.on(event as 'CLOSE', (id) => say(id, STATUS_CODE.OK));
    sftp.on('STAT', (id, path) => {
      if (!folders.has(path)) return say(id, STATUS_CODE.NO_SUCH_FILE);
      sftp.attrs(id, { mode: 0o40755, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 });
    });
    sftp.on('MKDIR', (id, path) => {
      folders.add(path);
      say(id, STATUS_CODE.OK);
    });
    sftp.on('REMOVE', (id, path) =>
      say(id, files.delete(path) ? STATUS_CODE.OK : STATUS_CODE.NO_SUCH_FILE),
    );
    sftp.on('RENAME', (id, from, to) => {
      const content = files.get(from);
      if (content === undefined || files.has(to)) return say(id, STATUS_CODE.FAILURE);
      files.set(to, content);
      files.delete(from);
      say(id, STATUS_CODE.OK);
    });
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const login = { host: '127.0.0.1', port, user: 'ann', password: 'hunter22', host_key };
  const shown = (): object =>
    Object.fromEntries([...files].map(([path, text]) => [path, String(text)]));
  return { login, shown, folders };
}

describe('sftp-upload', () => {
  it('stores a filled-in text, and replaces an earlier one as a whole', async () => {
    const { login, shown } = await sftpServer();
    const params = { ...login, path: '/in/{{job._id}}.txt', body: 'Total: {{results.total}}' };
    for (const total of [1, 12]) {
      expect(await run('sftp-upload', params, { results: { total } })).toMatchObject({
        kind: 'done',
        result: { path: '/in/job-1.txt' },
      });
    }
    expect(shown()).toEqual({ '/in/job-1.txt': 'Total: 12' });
  });

  it('stores a file of the project in a folder that it makes', async () => {
    const { login, shown, folders } = await sftpServer();
    const cwd = folderWith({ 'a.csv': 'x'.repeat(100_000) });
    const params = { ...login, path: '/in/new/deep/a.csv', file: 'a.csv' };
    expect(await run('sftp-upload', params, { cwd })).toMatchObject({
      failure: { name: 'UploadRefused' },
    });
    const made = await run('sftp-upload', { ...params, make_folder: true }, { cwd });
    expect(made).toMatchObject({ kind: 'done', result: { bytes: 100_000 } });
    expect(shown()).toEqual({ '/in/new/deep/a.csv': 'x'.repeat(100_000) });
    expect([...folders]).toContain('/in/new/deep');
  });

  it.each([
    ['another server', { host_key: `SHA256:${'A'.repeat(43)}` }, { name: 'HostKeyRefused' }],
    ['another password', { password: 'hunter23' }, { name: 'UploadRefused' }],
    ['nothing to store', { body: undefined }, { name: 'BodyMissing' }],
    [
      'a file outside of the project',
      { body: undefined, file: '../../etc/passwd' },
      { name: 'FileOutside' },
    ],
  ])('refuses %s', async (_what, more, failure) => {
    const { login, shown } = await sftpServer();
    const outcome = await run(
      'sftp-upload',
      JSON.parse(JSON.stringify({ ...login, path: '/in/a', body: 'x', ...more })) as Record<
        string,
        unknown
      >,
    );
    expect(outcome).toMatchObject({ kind: 'failed', failure, retryable: false });
    expect(JSON.stringify(outcome)).not.toMatch(/hunter2/);
    expect(shown()).toEqual({});
  });
});
