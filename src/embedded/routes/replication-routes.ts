import { isJsonObject, readJsonObject, requireJsonType, type JsonObject } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import { sendJson, type Exchange } from '../http/exchange.js';
import { percentDecoded } from '../../model/percent.js';
import type { ReplicationPeer, ReplicationOptions } from '../../replicator.js';
import type { ReplicationRequest } from '../replication/replications.js';

/** POST of `_replicate`: between databases here and elsewhere, once or continuously. */
export async function postReplicate(x: Exchange): Promise<void> {
  requireJsonType(x.request);
  const body = await readJsonObject(x.request);
  const { replications, databases } = x.context;
  if (body['cancel'] === true && typeof body['replication_id'] === 'string') {
    replications.cancel(body['replication_id']);
    return sendJson(x, 200, { ok: true });
  }
  const request: ReplicationRequest = {
    source: readPeer(x, body['source'], 'source'),
    target: readPeer(x, body['target'], 'target'),
    options: readOptions(body),
  };
  if (body['cancel'] === true) {
    const id = replications.idOf(request);
    replications.cancel(id);
    return sendJson(x, 200, { ok: true, _local_id: id });
  }
  const target = body['target'];
  if (body['create_target'] === true) {
    if (isLocal(target)) {
      if ((await databases.find(target)) === undefined) await databases.create(target);
    } else {
      await createRemote(request.target);
    }
  }
  for (const side of [body['source'], target]) if (isLocal(side)) await databases.get(side);
  if (!request.options.live) return sendJson(x, 200, await replications.run(request));
  sendJson(x, 202, { ok: true, _local_id: replications.start(request) });
}

const isLocal = (side: unknown): side is string =>
  typeof side === 'string' && !/^https?:\/\//i.test(side);

/** A side is a name here, a URL, or `{url, auth, headers}`. @throws CouchError 400 */
function readPeer(x: Exchange, side: unknown, name: string): ReplicationPeer {
  if (isLocal(side)) return localPeer(x, side);
  const { url, headers, auth } = isJsonObject(side) ? side : { url: side };
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw refuse.badRequest(`\`${name}\` must be a database name or a http(s) URL`);
  }
  const address = new URL(url);
  const basic = isJsonObject(auth) && isJsonObject(auth['basic']) ? auth['basic'] : {};
  const username = basic['username'] ?? percentDecoded(address.username);
  const password = basic['password'] ?? percentDecoded(address.password);
  address.username = '';
  address.password = '';
  return {
    url: address.href.replace(/\/$/, ''),
    ...(typeof username === 'string' && username !== ''
      ? { auth: { username, password: typeof password === 'string' ? password : '' } }
      : {}),
    ...(isJsonObject(headers) ? { headers: headers as Record<string, string> } : {}),
  };
}

/** Databases of this server are reached the same way as others: over HTTP, as the admin. */
function localPeer(x: Exchange, name: string): ReplicationPeer {
  const { localAddress, localPort } = x.request.socket;
  const host = localAddress?.includes(':') === true ? `[${localAddress}]` : localAddress;
  const { user, password } = x.context.credentials;
  return {
    url: `http://${host}:${localPort}/${encodeURIComponent(name)}`,
    auth: { username: user, password },
  };
}

async function createRemote({ url, auth, headers = {} }: ReplicationPeer): Promise<void> {
  const authorization =
    auth === undefined
      ? undefined
      : `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
  const answer = await fetch(url, {
    method: 'PUT',
    headers: authorization === undefined ? headers : { ...headers, authorization },
  });
  if (!answer.ok && answer.status !== 412) {
    throw refuse.badRequest(`${url} cannot be made: it answers ${answer.status}`);
  }
}

function readOptions(body: JsonObject): ReplicationRequest['options'] {
  const { filter, doc_ids: ids, selector, query_params: params, since_seq: since } = body;
  const options: { -readonly [K in keyof ReplicationOptions]?: ReplicationOptions[K] } = {};
  if (typeof filter === 'string') options.filter = filter;
  if (Array.isArray(ids)) options.doc_ids = ids as string[];
  if (isJsonObject(selector)) options.selector = selector;
  if (isJsonObject(params)) options.query_params = params;
  if (typeof since === 'string') options.since = since;
  return { ...options, live: body['continuous'] === true };
}
