/* The embedded server as a process of its own: `process.js --dir DIR --port N [--host H] [--function-ms N] [--storage KIND] [--with-parent]`. */
import { parseArgs } from 'node:util';

import { TwsError } from '../errors.js';
import { startServer, type Server } from './server.js';
import { isStorageKind, storageKinds } from '../storage-kinds.js';

/** How long stores may take to close before the process ends anyway, ms. */
const CLOSING_MS = 10_000;

/** It speaks plain HTTP: what others could reach is not for it. */
const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

async function main(): Promise<void> {
  // Whoever started it may have stopped reading; that is no reason to end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      'function-ms': { type: 'string' },
      storage: { type: 'string' },
      'with-parent': { type: 'boolean', default: false },
    },
  });
  if (values.dir === undefined) throw new Error('--dir is required');
  if (!LOOPBACK.test(values.host))
    throw new Error(`--host ${values.host} is not a loopback address`);
  const { storage } = values;
  if (storage !== undefined && !isStorageKind(storage)) {
    throw new Error(`--storage ${storage} is none of ${storageKinds.join(', ')}`);
  }
  const server = await startServer({
    dir: values.dir,
    host: values.host,
    port: Number(values.port),
    tell: (message) => process.stderr.write(`${message}\n`),
    functionMs: values['function-ms'] === undefined ? undefined : Number(values['function-ms']),
    storage,
  });
  const stop = stopOnce(server);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (values['with-parent']) process.stdin.on('end', stop).on('error', stop).resume();
  const { user, file } = server.credentials;
  const line = { url: server.url, dir: values.dir, user, password_file: file };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function stopOnce(server: Server): () => void {
  let stopping = false;
  return () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), CLOSING_MS).unref();
    server.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
}

main().catch((error: unknown) => {
  const hint = error instanceof TwsError ? ` ${error.hint}` : '';
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${hint}\n`);
  process.exit(error instanceof TwsError ? error.exit : 1);
});
