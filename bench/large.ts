import { randomUUID } from 'node:crypto';
import type { RunningProject } from './checkout.js';
import type { Ran, Submitter } from './ends.js';
import { percentile, type Say } from './figure.js';
import { memoryMbOf, peakMbOf, restartPeak } from './processes.js';
import { newJobs } from './project.js';
import { databasePath, documentPath } from '../src/store/client.js';
import { credentialsOf } from '../src/store/connection.js';
import type { NewDocument } from '../src/store/writer.js';

/** Length of the JSON of a large result, bytes. */
const bytes = 20_000_000;
const rounds = 5;

/** What a large result is made of. */
const shapes = ['text', 'objects'] as const;

/** The plugin `large`: it returns JSON of about so many bytes, one text or 200,000 small objects. */
export const largePlugin = `export const description = 'Returns much';
// Made by the first call: engines of other benchmarks load this plugin, too.
const shapes = {
  text: () => 'x'.repeat(100).repeat(${bytes / 100}),
  objects: () => Array.from({ length: 200_000 }, (_, id) => ({ id: 1_000_000 + id, name: 'an item of the list', at: 1.5e12 + id, note: 'y'.repeat(29) })),
};
const made = {};
let calls = 0;
// No two results are the same: a store may keep what is the same once.
export default ({ params: { shape } }) => {
  calls += 1;
  const result = (made[shape] ??= shapes[shape]());
  if (shape === 'text') return calls + result;
  result[0] = { ...result[0], id: calls };
  return result;
};
`;

/** The documents that the jobs need: flows that make a result, and that read it in a later step. */
export const largeDocuments: readonly NewDocument[] = shapes.flatMap((shape) => [
  {
    ...{ _id: `task:DEFAULT:large-${shape}`, type: 'task', name: `large-${shape}`, timeout: 0 },
    ...{ plugin: 'large', params: { shape } },
  },
  flow(`large-${shape}`, [{ task: `large-${shape}`, name: 'made' }]),
  flow(`large-${shape}-read`, [
    { task: `large-${shape}`, name: 'made' },
    { task: 'step', when: shape === 'text' ? 'results.made != ""' : 'results.made[199999].id > 0' },
  ]),
]);

function flow(name: string, tasks: unknown): NewDocument {
  return { _id: `flow:bench:${name}`, type: 'flow', name, owner: 'bench', timeout: 0, tasks };
}

type Running = Pick<Submitter, 'run'> &
  Pick<RunningProject, 'connection' | 'pids'> & {
    readonly serverPid: number | undefined;
    readonly say: Say;
  };

/**
 * Measures jobs of one step whose result is 20 MB of JSON, and of a second step that reads it: time and
 * memory, and how long small jobs take beside it. `ratio to a plain attachment` compares the time with
 * that of a `PUT` of as many bytes.
 */
export async function measureLarge(running: Running): Promise<void> {
  const { say } = running;
  const plain: number[] = [];
  await putPlain(running);
  for (let n = 0; n < rounds; n += 1) plain.push(await putPlain(running));
  const plainMs = percentile(plain, 0.5);
  say({ figure: 'a plain attachment', value: plainMs, unit: 'ms', bytes });
  for (const shape of shapes) {
    const read = (ran: Ran): number => ran.ended - ran.submitted;
    await running.run([jobOf(`large-${shape}`)]);
    const before = memoryOf(running);
    const times: number[] = [];
    for (let n = 0; n < rounds; n += 1) {
      times.push(...(await running.run([jobOf(`large-${shape}`)])).map(read));
    }
    const memory = memoryOf(running, 'peak');
    const value = percentile(times, 0.5);
    say({ figure: 'job with a large result', value, unit: 'ms', shape });
    say({ figure: 'ratio to a plain attachment', value: value / plainMs, unit: '', shape });
    for (const [who, most] of memory) {
      const grown = most - (before.get(who) ?? NaN);
      say({ figure: `memory of ${who} for it`, value: grown, unit: 'MB', shape });
    }
    const both = (await running.run([jobOf(`large-${shape}-read`)])).map(read);
    say({ figure: 'the same and a step that reads it', value: both[0] ?? NaN, unit: 'ms', shape });
    const beside = await longestBeside(running, jobOf(`large-${shape}`));
    say({ figure: 'the slowest small job beside it', value: beside, unit: 'ms', shape });
  }
}

function jobOf(name: string): NewDocument {
  return { _id: randomUUID(), type: 'job', flow: name, owner: 'bench' };
}

/** Stores a document with an attachment of so many bytes; resolves to the time, ms. */
async function putPlain({ connection }: Running): Promise<number> {
  const { url } = connection;
  const path = databasePath(connection, `${documentPath(randomUUID())}/plain`);
  const body = Buffer.alloc(bytes, 'x');
  body.write(randomUUID());
  const headers = { ...credentialsOf(connection), 'content-type': 'application/json' };
  const began = performance.now();
  const answer = await fetch(`${url}${path}`, { method: 'PUT', headers, body });
  await answer.arrayBuffer();
  if (answer.status !== 201) throw new Error(`The attachment was not stored: ${answer.status}`);
  return performance.now() - began;
}

/** Memory of the first engine and of the server, MB: now, from where peaks count anew, or their peak. */
function memoryOf(
  { pids, serverPid }: Running,
  kind: 'now' | 'peak' = 'now',
): ReadonlyMap<string, number> {
  const all = new Map([['engine', pids[0]]]);
  if (serverPid !== undefined) all.set('server', serverPid);
  return new Map(
    [...all].map(([who, pid = 0]) => {
      if (kind === 'peak') return [who, peakMbOf(pid)];
      restartPeak(pid);
      return [who, memoryMbOf(pid)];
    }),
  );
}

/** Small jobs run one after the other until the large one has ended; answers the longest time, ms. */
async function longestBeside({ run }: Running, job: NewDocument): Promise<number> {
  let isOver = false;
  const ended = run([job]).then(() => (isOver = true));
  let longest = 0;
  while (!isOver) {
    for (const { submitted, ended: at } of await run(newJobs(1, 1))) {
      longest = Math.max(longest, at - submitted);
    }
  }
  await ended;
  return longest;
}
