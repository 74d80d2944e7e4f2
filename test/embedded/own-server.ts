import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

import { startEmbedded, type EmbeddedServer } from '../../src/embedded/start.js';
import type { StorageKind } from '../../src/storage-kinds.js';
import { storageOfTests } from '../support/storage.js';

/** An answer with its JSON read. */
export type Reply = { readonly status: number; readonly body: Record<string, unknown> };

export type OwnServer = EmbeddedServer & {
  /** A request as the admin; `body` is sent as JSON. */
  request(method: string, path: string, body?: unknown): Promise<Reply>;
  /** The header that signs the admin in. */
  readonly authorization: string;
};

/** A directory that is removed after the test file. */
export async function ownDirectory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'tws-own-'));
  afterAll(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Starts a server that no other test uses; stop it, or it ends after the test file. */
export async function ownServer(
  dir?: string,
  options: { readonly functionMs?: number; readonly storage?: StorageKind } = {},
): Promise<OwnServer> {
  const server = await startEmbedded({
    dir: dir ?? (await ownDirectory()),
    ...storageOfTests(),
    ...options,
  });
  afterAll(() => server.stop());
  const credentials = Buffer.from(`${server.user}:${server.password}`).toString('base64');
  const authorization = `Basic ${credentials}`;
  return {
    ...server,
    authorization,
    async request(method, path, body) {
      const answer = await fetch(server.url + path, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
  };
}
