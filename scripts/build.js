/*
 * Builds dist/: TypeScript, the JSON Schemas, the admin pages, the reference of the
 * documentation, and Fauxton for the embedded server's /_utils. `npm run docs` builds the documentation.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { rolldown } from 'rolldown';

import code from '../.config/rolldown.config.js';
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

const began = new Date();
const dist = join(root, 'dist');
for (const folder of ['src', 'plugins', 'bench', 'scripts']) {
  rmSync(join(dist, folder), { recursive: true, force: true });
}
// Declarations only; types are the gate's to check, with the tests.
const declarations = step(tsc, '-p', '.tsconfig.build.json', '--noCheck');
const { output, ...input } = code;
await (await rolldown(input)).write(output);
await declarations;
// The editor of the pages holds the schemas: they come first.
const { writeSchemas } = await import('../dist/src/cli/schemas.js');
await writeSchemas(join(root, 'couch', 'schemas'));
const { writeReference } = await import('../dist/scripts/reference.js');
await writeReference(root);
await step(join(root, 'scripts', 'pages.js'));
await fetchFauxton(dist);
sayBuilt(root, began);
