/* Builds dist/: TypeScript, the JSON Schemas, then Fauxton for the embedded server's /_utils. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { sayBuilt } from './built.js';
import { fetchFauxton } from './fauxton.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

const began = new Date();
const compiled = spawnSync(process.execPath, [tsc, '-p', '.tsconfig.build.json'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (compiled.status !== 0) {
  process.stderr.write(String(compiled.stdout));
  process.exit(compiled.status ?? 1);
}

const { writeSchemas } = await import('../dist/src/cli/schemas.js');
await writeSchemas(join(root, 'couch', 'schemas'));
await fetchFauxton(join(root, 'dist'));
sayBuilt(root, began);
