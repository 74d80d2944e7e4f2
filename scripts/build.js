/* Builds dist/: TypeScript, the JSON Schemas, the admin pages, and Fauxton for the embedded server's /_utils. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { sayBuilt } from './built.js';
import { fetchFauxton } from './fauxton.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Runs a script of Node; what it says is shown when it fails. */
function run(...command) {
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part) => (text += part));
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: 1, text: `${error.message}\n` }));
    child.on('close', (status) => resolve({ status: status ?? 1, text }));
  });
}

/** Runs a step of the build; ends with its status when it fails. */
async function step(...command) {
  const { status, text } = await run(...command);
  if (status === 0) return;
  process.stderr.write(text);
  process.exit(status);
}

/** Removes what an earlier build made of sources that are not there any more. */
function removeStale() {
  const made = /\.(?:d\.ts|js)(?:\.map)?$/;
  for (const folder of ['src', 'plugins']) {
    const files = readdirSync(join(root, 'dist', folder), { recursive: true });
    for (const file of files.filter((name) => made.test(name))) {
      const source = join(root, folder, file.replace(made, ''));
      const isThere = ['.ts', '.tsx', '.js'].some((end) => existsSync(source + end));
      if (!isThere) rmSync(join(root, 'dist', folder, file));
    }
  }
}

const began = new Date();
// Types are the gate's to check, with the tests.
await step(tsc, '-p', '.tsconfig.build.json', '--noCheck');
removeStale();
// The editor of the pages holds the schemas: they come first.
const { writeSchemas } = await import('../dist/src/cli/schemas.js');
await writeSchemas(join(root, 'couch', 'schemas'));
await step(join(root, 'scripts', 'pages.js'));
await fetchFauxton(join(root, 'dist'));
sayBuilt(root, began);
