import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { storageOfTests } from './storage.js';

/** Which server the tests of this run talk to. */
export type CouchKind = 'embedded' | 'couchdb';

/** What the tests know of their servers: the URLs, with the admin's name and password in them. */
export type ProvidedCouch = { readonly urls: readonly string[]; readonly kind: CouchKind };

declare module 'vitest' {
  export interface ProvidedContext {
    couch: ProvidedCouch;
  }
}

/**
 * Global set-up of the projects `store` and `long`: the CouchDB named by `COUCH_URL`
 * (`http://user:password@host:port`), else an embedded server for each worker, in folders of their own:
 * what one test does to its server, a test beside it must not wait for.
 * Returns the teardown. Throws when the server does not answer.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const external = process.env.COUCH_URL;
  if (external !== undefined && external !== '') {
    await assertAnswers(external);
    project.provide('couch', { urls: [external.replace(/\/+$/, '')], kind: 'couchdb' });
    return async () => {};
  }
  const { startEmbedded } = await import('../../src/embedded/start.js');
  const dir = await mkdtemp(join(tmpdir(), 'tws-embedded-'));
  const servers = await Promise.all(
    // Tests of functions that never end wait for this long.
    Array.from({ length: project.vitest.config.maxWorkers }, (_, i) =>
      startEmbedded({ dir: join(dir, String(i)), functionMs: 2_000, ...storageOfTests() }),
    ),
  );
  project.provide('couch', { urls: servers.map(withCredentials), kind: 'embedded' });
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(dir, { recursive: true, force: true });
  };
}

async function assertAnswers(url: string): Promise<void> {
  const { username, password, origin } = new URL(url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const answer = await fetch(`${origin}/_all_dbs?limit=1`, {
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
  });
  if (!answer.ok) {
    throw new Error(`COUCH_URL must name a server admin: ${origin} answers ${answer.status}.`);
  }
}

function withCredentials(server: { url: string; user: string; password: string }): string {
  const url = new URL(server.url);
  url.username = encodeURIComponent(server.user);
  url.password = encodeURIComponent(server.password);
  return url.href.replace(/\/$/, '');
}
