// Makes `jobs.jsonl.gz`: 500 jobs in all states as an earlier revision stores them. Call it with the folder of
// a built checkout of that revision: node test/engine/upgrade/make.js ../tws-9b3c044
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

const here = import.meta.dirname;
const old = resolve(process.argv[2] ?? '');
const kinds = JSON.parse(await readFile(join(here, 'kinds.json'), 'utf8'));
/** Jobs of each kind: 27 kinds of 19, less thirteen. */
const each = 19;
const all = 500;

const root = await mkdtemp(join(tmpdir(), 'tws-upgrade-'));
const plugins = {
  ok: 'export default async () => ({ n: 1 });',
  slow: 'export default () => new Promise(() => {});',
  bad: "export default async () => { throw new Error('Broken.'); };",
  flaky: "export default async () => { throw new Error('Not yet.'); };",
  handled: "export default async () => { throw new Error('Handled.'); };",
  big: "export default async () => ({ text: 'x'.repeat(100_000) });",
};
const tasks = {
  ...Object.fromEntries(Object.keys(plugins).map((name) => [name, {}])),
  slow: { timeout: 0, retry: 3 },
  flaky: { retry: { limit: 5, delay: 60_000 } },
  handled: { error: 'ok' },
  worker: { timeout: 0 },
};

await mkdir(join(root, 'plugins'));
for (const [name, text] of Object.entries(plugins)) {
  await writeFile(join(root, 'plugins', `${name}.mjs`), text);
}
await writeFile(join(root, 'tws.json'), JSON.stringify({ project: 'upgrade' }));

async function dev(...flags) {
  const bin = join(old, 'bin', 'tws.js');
  const args = [bin, 'dev', '--port', '0', '--no-http', '--slots', '900', ...flags];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  const file = join(root, '.tws', 'embedded.json');
  for (;;) {
    await sleep(200);
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const { url, user, password } = JSON.parse(text);
    const base = `${url}/upgrade_tasks`;
    const auth = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const ask = async (method, path, body) => {
      const reply = await fetch(`${base}${path}`, {
        method,
        headers: { authorization: auth, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = await reply.json();
      if (!reply.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
      return answer;
    };
    if (await ask('GET', '').catch(() => undefined)) return { child, ask };
  }
}

async function kill({ child }) {
  child.kill('SIGKILL');
  await sleep(3_000);
  await rm(join(root, '.tws', 'embedded.json'), { force: true });
}

const jobs = kinds
  .flatMap((kind) => Array.from({ length: each }, (_, n) => ({ kind, id: `${kind.name}-${n}` })))
  .slice(0, all);
const jobOf = ({ kind, id }) => {
  const { exec_after: after, ...more } = kind.job ?? {};
  const later = after === undefined ? {} : { exec_after: Date.now() + Number(after) };
  return { _id: id, type: 'job', flow: kind.name, owner: 'me', ...more, ...later };
};

const first = await dev();
for (const [name, more] of Object.entries(tasks)) {
  await first.ask('PUT', `/task:DEFAULT:${name}`, { type: 'task', name, ...more });
}
for (const { name, tasks: steps, flow } of kinds) {
  await first.ask('PUT', `/flow:me:${name}`, {
    type: 'flow',
    name,
    owner: 'me',
    timeout: 0,
    tasks: steps,
    ...flow,
  });
}
const isLast = ({ kind }) => kind.when === 'without engine';
for (const one of jobs.filter((one) => !isLast(one)))
  await first.ask('PUT', `/${one.id}`, jobOf(one));
await sleep(15_000);
for (const { kind, id } of jobs) {
  if (kind.cancel)
    await first.ask('PUT', `/cancel-${id}`, { type: 'request', job: id, action: 'cancel' });
  if (kind.pause)
    await first.ask('PUT', `/${id}`, { ...(await first.ask('GET', `/${id}`)), paused: true });
}
await sleep(5_000);
await kill(first);

const second = await dev('--no-engine');
for (const one of jobs.filter(isLast)) await second.ask('PUT', `/${one.id}`, jobOf(one));
for (const { kind, id } of jobs) {
  if (kind.signal !== 'without engine') continue;
  await second.ask('PUT', `/signal-${id}`, { type: 'signal', job: id, name: 'go' });
}
const { rows } = await second.ask('GET', '/_all_docs');
const lines = [];
for (const { id } of rows) {
  if (id.startsWith('_design/')) continue;
  const doc = await second.ask('GET', `/${encodeURIComponent(id)}?revs=true&attachments=true`);
  lines.push(JSON.stringify(doc));
}
await kill(second);
await writeFile(join(here, 'jobs.jsonl.gz'), gzipSync(lines.join('\n'), { level: 9 }));
const states = {};
for (const doc of lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'job')) {
  const key = `${doc.flow} ${doc.state ?? 'new'} ${(doc.steps ?? []).map(({ state }) => state).join(',')}`;
  states[key] = (states[key] ?? 0) + 1;
}
console.log(states, lines.length);
await rm(root, { recursive: true, force: true });
