/* Builds dist/: TypeScript and, beside it, the admin pages; then the JSON Schemas, and Fauxton for the embedded server's /_utils. */
import { spawn } from 'node:child_process';
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

const began = new Date();
const built = await Promise.all([
  run(tsc, '-p', '.tsconfig.build.json'),
  run(join(root, 'bin', 'pages.js')),
]);
const failed = built.filter(({ status }) => status !== 0);
for (const { text } of failed) process.stderr.write(text);
if (failed[0] !== undefined) process.exit(failed[0].status);

const { writeSchemas } = await import('../dist/src/cli/schemas.js');
await writeSchemas(join(root, 'couch', 'schemas'));
await fetchFauxton(join(root, 'dist'));
sayBuilt(root, began);
