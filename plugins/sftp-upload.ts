import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type * as Ssh from 'ssh2';
import {
  connectWithin,
  loadPackage,
  PluginError,
  pluginProblem,
  readProjectFile,
  type PluginContext,
} from '../src/plugin/index.js';

export const description = 'Stores a text or a file on an SFTP server';

export const templates = ['body', 'path'];

export const params = {
  type: 'object',
  required: ['host', 'user', 'host_key', 'path'],
  additionalProperties: false,
  properties: {
    host: { type: 'string', minLength: 1 },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    user: { type: 'string', minLength: 1 },
    password: { type: 'string', description: 'encrypted by tws encrypt' },
    private_key: { type: 'string', description: 'PEM or OpenSSH; encrypted by tws encrypt' },
    passphrase: { type: 'string', description: 'of the private key' },
    host_key: {
      type: 'string',
      pattern: '^SHA256:[A-Za-z0-9+/]{43}=?$',
      description: 'fingerprint of the server, as ssh-keyscan HOST | ssh-keygen -lf - prints it',
    },
    path: { type: 'string', minLength: 1 },
    body: { type: 'string' },
    file: { type: 'string', description: 'a file of the project, instead of body' },
    make_folder: { type: 'boolean', description: 'makes the folder of path, if it is not there' },
  },
};

type Params = {
  readonly host: string;
  readonly port?: number;
  readonly user: string;
  readonly password?: string;
  readonly private_key?: string;
  readonly passphrase?: string;
  readonly host_key: string;
  readonly path: string;
  readonly body?: string;
  readonly file?: string;
  readonly make_folder?: boolean;
};

export default async function sftpUpload(context: PluginContext<Params>): Promise<unknown> {
  const { params: given, render, signal, cwd } = context;
  const path = render(given.path);
  const content = await contentOf(context);
  const ssh = await loadPackage<typeof Ssh>('ssh2', 'sftp-upload', cwd);
  const client = new ssh.Client();
  client.on('error', () => undefined);
  const stop = (): void => void client.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await connect(client, context);
    const sftp = await done<Ssh.SFTPWrapper>((end) => client.sftp(end));
    if (given.make_folder === true) await makeFolders(sftp, posix.dirname(path));
    // Readers see the old file or the new one.
    const part = `${path}.part`;
    await done<void>((end) => sftp.writeFile(part, content, end));
    await replace(sftp, part, path);
    return context.done({ host: given.host, path, bytes: content.length });
  } catch (error) {
    signal.throwIfAborted();
    throw explained(error, given.host);
  } finally {
    signal.removeEventListener('abort', stop);
    client.end();
  }
}

async function contentOf({ params: given, render, cwd }: PluginContext<Params>): Promise<Buffer> {
  if (given.file !== undefined) return readProjectFile(cwd, given.file);
  if (given.body !== undefined) return Buffer.from(render(given.body));
  throw pluginProblem('BodyMissing', {});
}

type End<T> = (error: Error | null | undefined, value: T) => void;

/** Turns a call with a callback into a promise. */
function done<T>(call: (end: End<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error == null ? resolve(value) : reject(error)));
  });
}

async function connect(client: Ssh.Client, context: PluginContext<Params>): Promise<void> {
  const { params: given, egress, signal } = context;
  const { host, port = 22, user: username, host_key: wanted } = given;
  const sock = await connectWithin(egress, { host, port }, signal);
  let seen = '';
  const secretOf = (name: 'password' | 'private_key' | 'passphrase') =>
    given[name] === undefined ? undefined : context.secret(name);
  const password = secretOf('password');
  const privateKey = secretOf('private_key');
  const passphrase = secretOf('passphrase');
  await new Promise<void>((resolve, reject) => {
    client.once('ready', resolve).once('error', (error) => {
      const isOther = seen !== '' && seen !== wanted.replace(/=$/, '');
      reject(isOther ? otherServer(host, seen) : error);
    });
    client.once('close', () => reject(new Error('The connection was closed.')));
    client.connect({
      ...{ sock, username },
      ...(password === undefined ? {} : { password }),
      ...(privateKey === undefined ? {} : { privateKey }),
      ...(passphrase === undefined ? {} : { passphrase }),
      hostVerifier: (key: Buffer) => {
        const hash = createHash('sha256').update(key).digest('base64').replace(/=$/, '');
        seen = `SHA256:${hash}`;
        return seen === wanted.replace(/=$/, '');
      },
    });
  });
}

/** Makes the folders of a path that are not there. */
async function makeFolders(sftp: Ssh.SFTPWrapper, path: string): Promise<void> {
  const isThere = await done((end) => sftp.stat(path, end)).then(
    () => true,
    () => false,
  );
  if (isThere || path === '.' || path === '/') return;
  await makeFolders(sftp, posix.dirname(path));
  await done<void>((end) => sftp.mkdir(path, end));
}

/** A plain rename of SFTP replaces nothing; that of OpenSSH does, at once. */
async function replace(sftp: Ssh.SFTPWrapper, from: string, to: string): Promise<void> {
  try {
    await done<void>((end) => sftp.ext_openssh_rename(from, to, end));
  } catch {
    await done<void>((end) => sftp.unlink(to, end)).catch(() => undefined);
    await done<void>((end) => sftp.rename(from, to, end));
  }
}

const otherServer = (host: string, seen: string): PluginError =>
  new PluginError(`The server at ${host} is not the one that is meant: its key is ${seen}.`, {
    name: 'HostKeyRefused',
    retryable: false,
  });

function explained(error: unknown, host: string): unknown {
  if (error instanceof PluginError) return error;
  const { message, level, code } = error as Error & { level?: string; code?: unknown };
  const isSignIn = level === 'client-authentication';
  return new PluginError(`The server at ${host} refuses the file: ${message}`, {
    name: 'UploadRefused',
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(isSignIn ? { retryable: false } : {}),
    cause: error,
  });
}
