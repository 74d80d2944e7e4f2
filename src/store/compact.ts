import { databasePath, type CouchClient } from './client.js';

/**
 * Asks the server to give back the space of removed documents, in the database and in its views. It goes on
 * after the answer. Resolves with whether the server took it: only an administrator of the database may ask.
 * @throws TwsError those of `CouchClient.ask`
 */
export async function compactDatabase(client: CouchClient): Promise<boolean> {
  const { app } = client.connection;
  const views = [app, `${app}_search`].map((name) => `/_compact/${encodeURIComponent(name)}`);
  for (const path of ['/_compact', '/_view_cleanup', ...views]) {
    try {
      const reply = await client.ask({
        method: 'POST',
        path: databasePath(client.connection, path),
        body: {},
        action: 'compact the database',
        long: true,
      });
      if (reply.kind === 'refused') return false;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }
  return true;
}

function isRefusal(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'couch_not_admin' || code === 'couch_forbidden';
}
