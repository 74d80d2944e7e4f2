/* Fetches Fauxton, CouchDB's web interface, for the embedded server: only what it serves, pinned. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { filesInTar } from './tar.js';

const PACKAGE = 'fauxton@1.2.6';
/** `npm view fauxton@1.2.6 dist.integrity` */
const INTEGRITY =
  'sha512-5ZwPKqstwmQclSHifWBmbyzlBOLoBB3gssGaiEFLPcIzHO0Zxz+uPr/D/Fs6DGH7Hfohw7s6zqcjwU9CRcshfw==';
const TIMEOUT_MS = 60_000;

/**
 * Puts Fauxton's release, with its licence, into `dist/fauxton`; does nothing when it is there.
 * Without the registry the build goes on: the server then says that Fauxton is not installed.
 */
export async function fetchFauxton(dist) {
  const target = join(dist, 'fauxton');
  if (existsSync(join(target, 'index.html'))) return;
  const work = await mkdtemp(join(dist, '.fauxton-'));
  try {
    await unpack(await download(work), work);
    const release = join(work, 'package', 'dist', 'release');
    await rename(join(work, 'package', 'LICENSE'), join(release, 'LICENSE'));
    await rm(target, { recursive: true, force: true });
    await rename(release, target);
  } catch (error) {
    process.stderr.write(
      `Fauxton is left out, since ${PACKAGE} could not be fetched: ${error.message}\n`,
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(work) {
  const retry = ['--fetch-retries=1', '--fetch-timeout=20000'];
  run('npm', ['pack', PACKAGE, '--pack-destination', work, '--silent', ...retry]);
  const [name] = (await readdir(work)).filter((entry) => entry.endsWith('.tgz'));
  if (name === undefined) throw new Error('npm pack left no archive');
  const archive = join(work, name);
  const hash = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64');
  if (`sha512-${hash}` !== INTEGRITY) throw new Error('the archive is not the pinned one');
  return archive;
}

async function unpack(archive, work) {
  // The package itself has no NOTICE.
  for (const { path, content } of filesInTar(gunzipSync(await readFile(archive)))) {
    if (path !== 'package/LICENSE' && !path.startsWith('package/dist/release/')) continue;
    if (path.split('/').includes('..')) throw new Error(`the archive holds ${path}`);
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), content);
  }
}

function run(command, args) {
  const done = spawnSync(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: TIMEOUT_MS,
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (done.error !== undefined) throw done.error;
  if (done.status !== 0)
    throw new Error(`${command}: ${String(done.stderr).trim().split('\n')[0]}`);
}
