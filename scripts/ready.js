/* Makes a fresh clone ready: installs packages and builds when something is missing or older. */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { isBuilt } from './built.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Runs one command in the project folder; ends this process with its status when it fails. */
function run(title, command, args) {
  process.stderr.write(`${title} ...\n`);
  const began = Date.now();
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
  if (done.status !== 0) {
    process.stderr.write(String(done.stderr));
    process.stderr.write(`${title} failed.\n`);
    process.exit(done.status ?? 1);
  }
  process.stderr.write(`${title}: done in ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
}

const lock = join(root, 'package-lock.json');
const installed = join(root, 'node_modules', '.package-lock.json');
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  run('Installing packages', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}
if (!isBuilt(root)) run('Building', process.execPath, [join(root, 'scripts', 'build.js')]);
