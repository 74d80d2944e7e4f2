// Runs engines of an earlier revision and of this one beside each other, kills one of each, and ends with status 1
// if a job does not end well or an attempt ran twice. Both have to be built. Call it with the folder of a checkout
// of that revision, and with the address of a CouchDB where the embedded server of this one is not meant:
// node test/engine/upgrade/beside.js ../tws-9b3c044 [http://user:pass@host:5984]
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , folder = '', couch] = process.argv;
const bins = {
  old: join(resolve(folder), 'bin', 'tws.js'),
  new: join(import.meta.dirname, '..', '..', '..', 'bin', 'tws.js'),
};
const root = await mkdtemp(join(tmpdir(), 'tws-beside-'));
const marks = join(root, 'marks.txt');
const plugin = `import { appendFileSync } from 'node:fs';
export default async ({ job, step, params }) => {
  await new Promise((done) => setTimeout(done, 20 + Math.random() * 150));
  appendFileSync(${JSON.stringify(marks)}, [job._id, step.path, step.attempt].join(' ') + '\\n');
  if (params.fail === true) throw new Error('As it is meant.');
};
`;

const step = (name) => ({ task: 'mark', name });
const tasks = { mark: {}, bad: { plugin: 'mark', params: { fail: true }, error: 'mark' } };
/** The steps of each flow, and how often a job of it, with its child, calls a plugin. */
const flows = {
  sequence: { calls: 3, tasks: [step('a'), step('b'), { delay: 1_500 }, step('c')] },
  parallel: { calls: 4, tasks: [{ parallel: [step('a'), step('b'), [step('c')]] }, step('d')] },
  map: { calls: 6, tasks: [{ map: { over: 'params.list', do: step('a') } }, step('b')] },
  wait: { calls: 2, tasks: [step('a'), { wait: { signal: 'go' } }, step('b')] },
  handled: { calls: 4, tasks: [step('a'), { task: 'bad', name: 'b' }, step('c')] },
  child: { calls: 4, tasks: [{ flow: 'sequence', name: 'a' }, step('b')] },
};

const owner = 'DEFAULT';
const store = join(root, 'old', 'couch', 'tws');
await mkdir(join(root, 'old', 'plugins'), { recursive: true });
await writeFile(join(root, 'old', 'plugins', 'mark.mjs'), plugin);
await writeFile(join(root, 'old', 'tws.json'), JSON.stringify({ project: 'beside' }));
for (const [kind, all] of [
  ['task', tasks],
  ['flow', flows],
]) {
  await mkdir(join(store, `${kind}s`), { recursive: true });
  for (const [name, { calls: _calls, ...more }] of Object.entries(all)) {
    const doc = { type: kind, name, owner, ...more, ...(kind === 'flow' ? { timeout: 0 } : {}) };
    await writeFile(join(store, `${kind}s`, `${name}.json`), JSON.stringify(doc));
  }
}
await cp(join(root, 'old'), join(root, 'new'), { recursive: true });

function run(which, args, more = {}) {
  const options = { cwd: join(root, which), stdio: ['ignore', 'pipe', 'pipe'], ...more };
  const child = spawn(process.execPath, [bins[which], ...args], options);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => (text += part));
  const ended = new Promise((done) => child.on('close', (status) => done({ status, text })));
  return { child, ended };
}

/** The address of a server; `stop` ends it. */
async function serverOf() {
  if (couch !== undefined) return { url: couch, stop: async () => undefined };
  const dir = join(root, 'data');
  const flags = ['--port', '0', '--no-engine', '--no-http', '--dir', dir];
  const dev = run('new', ['dev', ...flags]);
  for (;;) {
    await sleep(200);
    const text = await readFile(join(dir, 'embedded.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const { url, user, password } = JSON.parse(text);
    const address = new URL(url);
    Object.assign(address, { username: user, password });
    const stop = async () => {
      dev.child.kill('SIGTERM');
      await dev.ended;
    };
    return { url: address.href, stop };
  }
}

const server = await serverOf();
const address = new URL(server.url);
const database = `beside_${Date.now()}`;
const env = { ...process.env, COUCH_URL: server.url, COUCH_DATABASE: database };
const login = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`;
const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
async function ask(method, path, body) {
  const headers = { authorization, 'content-type': 'application/json' };
  const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const reply = await fetch(`${address.origin}/${database}${path}`, options);
  return reply.json();
}
async function command(which, ...args) {
  const { status, text } = await run(which, args, { env }).ended;
  if (status !== 0) throw new Error(`tws ${args.join(' ')} (${which}): ${text}`);
}
const engine = (which) => run(which, ['start'], { env, stdio: ['ignore', 'ignore', 'inherit'] });

const calls = async () => (await readFile(marks, 'utf8').catch(() => '')).trim().split('\n');
/** Waits until plugins were called so many times more than now. */
async function more(count) {
  const least = (await calls()).length + count;
  while ((await calls()).length < least) await sleep(100);
}

const jobs = [];
async function submit(count) {
  const names = Object.keys(flows);
  const docs = Array.from({ length: count }, () => {
    const flow = names[jobs.length % names.length];
    const params = flow === 'map' ? { params: { list: [1, 2, 3, 4, 5] } } : {};
    const doc = { _id: `job-${jobs.length}`, type: 'job', flow, owner, ...params };
    jobs.push(doc);
    return doc;
  });
  await ask('POST', '/_bulk_docs', { docs });
}

await command('old', 'init');
await command('old', 'push', '--map');
const olds = [engine('old'), engine('old')];
await submit(120);
await more(100);
await command('new', 'init', '--no-confirm');
const first = engine('new');
await submit(120);
await more(200);
olds[0].child.kill('SIGKILL');
await submit(60);
await more(100);
first.child.kill('SIGKILL');
const second = engine('new');
await more(50);
for (const [n, { _id: job }] of jobs.filter(({ flow }) => flow === 'wait').entries()) {
  if (n % 10 === 0) await command(n % 20 === 0 ? 'old' : 'new', 'signal', job, 'go');
  else await ask('PUT', `/signal:${job}`, { type: 'signal', job, name: 'go' });
}
olds[1].child.kill('SIGTERM');

let docs = [];
for (let tries = 0; tries < 120; tries += 1) {
  const { rows } = await ask('POST', '/_all_docs?include_docs=true', {
    keys: jobs.map(({ _id }) => _id),
  });
  docs = rows.map(({ doc }) => doc);
  if (docs.every(({ exit }) => exit !== undefined)) break;
  await sleep(2_000);
}
const ends = {};
for (const { flow, state, exit } of docs) {
  const end = `${flow} ${state} ${exit}`;
  ends[end] = (ends[end] ?? 0) + 1;
}
const called = await calls();
const twice = called.length - new Set(called).size;
const least = jobs.reduce((sum, { flow }) => sum + flows[flow].calls, 0);
const isGood = docs.every(({ state, exit }) => state === '$$complete' && exit === 0);
console.log(ends, { calls: called.length, least, twice });
second.child.kill('SIGTERM');
await second.ended;
if (couch !== undefined) await ask('DELETE', '');
await server.stop();
await rm(root, { recursive: true, force: true });
process.exitCode = isGood && twice === 0 && called.length >= least ? 0 : 1;
