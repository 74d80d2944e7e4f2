/*
 * Joins CouchDB nodes to a cluster: `node join-couchdb.mjs FIRST OTHER…`, each as [NAME@]HOST[:PORT] with NAME
 * `couchdb` and PORT 5984 by default, and with COUCH_USER and COUCH_PASS in the environment. Each node needs
 * the same admin and Erlang cookie, and the node name NAME@HOST. Running it again changes nothing.
 */
const [first, ...others] = process.argv.slice(2).map((text) => {
  const [, name = 'couchdb', host, port = '5984'] =
    /^(?:(.+)@)?([^:@]+)(?::(\d+))?$/.exec(text) ?? [];
  return { name, host, port: Number(port) };
});
const { COUCH_USER: username = '', COUCH_PASS: password = '' } = process.env;
if (first === undefined || others.length === 0 || password === '') {
  console.error('Usage: COUCH_USER=… COUCH_PASS=… node join-couchdb.mjs FIRST OTHER…');
  process.exit(2);
}

const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** Asks the first node, which passes on what concerns the others. */
async function ask(path, body) {
  const answer = await fetch(`http://${first.host}:${first.port}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

/** One action of /_cluster_setup; what was done before is no failure. */
async function setUp(action, node, more) {
  const { status, body } = await ask('/_cluster_setup', { action, username, password, ...more });
  const isDone = status < 300 || status === 409 || /already|conflict/i.test(JSON.stringify(body));
  if (!isDone) throw new Error(`${action}: ${status} ${JSON.stringify(body)}`);
  console.log(`${action} ${node.host}:${node.port}`);
}

const enabled = { bind_address: '0.0.0.0', node_count: others.length + 1 };
await setUp('enable_cluster', first, enabled);
for (const node of others) {
  const { name, host, port } = node;
  const remote = { remote_node: host, remote_current_user: username };
  const more = { ...enabled, ...remote, remote_current_password: password, port };
  await setUp('enable_cluster', node, more);
  await setUp('add_node', node, { name, host, port });
}
await setUp('finish_cluster', first, {});
const { body } = await ask('/_membership');
console.log(`The cluster has ${body.cluster_nodes.join(', ')}.`);
if (body.cluster_nodes.length !== others.length + 1) process.exit(1);
