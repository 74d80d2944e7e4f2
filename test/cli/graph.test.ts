import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { graph } from '../../src/cli/commands/graph.js';
import { openProject } from './database.js';
import { flow, task } from './terminal.js';

const documents = [
  { _id: 't1', ...task('echo', { error: 'tidy' }) },
  { _id: 't2', ...task('tidy') },
  { _id: 'f1', ...flow('greet', ['echo', { parallel: ['echo', 'tidy'] }]) },
];

async function ready() {
  const space = await openProject({
    'couch/tws/flows/local.json': flow('local', ['sweep', 'echo']),
    'couch/tws/tasks/sweep.json': task('sweep', { undo: 'unsweep' }),
    'job.json': { type: 'job', tasks: ['a', 'b'] },
    'wrong.json': { type: 'flow', name: 'x', owner: 'DEFAULT', tasks: 7 },
  });
  await space.put(...documents);
  return space;
}

// Shows X-55.
it('tws graph draws a stored flow with the handlers of its tasks', async () => {
  const { tws } = await ready();
  const { exit, out } = await tws(graph, { args: ['greet'] });
  expect(exit).toBe(0);
  expect(out).toMatch(/^flowchart TD\n/);
  expect(out).toMatch(/-\.->\|"on error"\|/);
  expect((await tws(graph, { args: ['greet'], flags: { format: 'svg' } })).out).toContain('<svg ');
});

it('tws graph draws a flow or job in a file, with the tasks of the project', async () => {
  const { tws } = await ready();
  const local = await tws(graph, { args: ['couch/tws/flows/local.json'] });
  expect(local.out).toMatch(/\("unsweep"\)/);
  expect((await tws(graph, { args: ['job.json'] })).out).toContain('["b"]');
});

it('tws graph draws a job with its states, also one that has not begun', async () => {
  const { tws, put, engine, ended } = await ready();
  await put({ _id: 'j', type: 'job', flow: 'greet' });
  expect((await tws(graph, { args: ['j'] })).out).toContain('["echo<br/>pending"]:::pending');
  await engine();
  await ended('j');
  const { json } = await tws(graph, { args: ['j'], mode: 'json' });
  const { nodes } = json as { readonly nodes: readonly { readonly state?: string }[] };
  expect(nodes.map(({ state }) => state)).toContain('done');
  expect(json).toMatchObject({ title: 'Job j', width: expect.any(Number) as number });
});

it('tws graph draws the version that a job will run, and tells why there is none', async () => {
  const { tws, put } = await ready();
  const of = (version: string, entry: string) => ({ ...flow('two', [entry]), version });
  await put({ ...of('1', 'tidy'), _id: 'v1' }, { ...of('2', 'echo'), _id: 'v2', current: true });
  const job = { type: 'job', flow: 'two' };
  await put({ ...job, _id: 'plain' }, { ...job, _id: 'asking', flow_version: '1' });
  await put({ ...job, _id: 'lost', flow_version: '7' });
  expect((await tws(graph, { args: ['plain'] })).out).toContain('["echo<br/>pending"]');
  expect((await tws(graph, { args: ['asking'] })).out).toContain('["tidy<br/>pending"]');
  expect((await tws(graph, { args: ['lost'] })).error?.code).toBe('flow_version_missing');
  await put({ ...of('2', 'echo'), _id: 'v3' });
  expect((await tws(graph, { args: ['plain'] })).error?.code).toBe('definition_ambiguous');
});

it('tws graph writes the file that --out names, in the form that its name says', async () => {
  const { tws, root } = await ready();
  const { exit, out } = await tws(graph, { args: ['greet'], flags: { out: 'greet.svg' } });
  expect([exit, out]).toEqual([0, '']);
  expect(await readFile(join(root, 'greet.svg'), 'utf8')).toMatch(/^<svg .*<\/svg>\n$/s);
});

it.each([
  ['a name that there is not', ['none'], {}, 4, /no flow or job of that name/],
  ['a file that holds no flow', ['wrong.json'], {}, 3, /wrong\.json cannot be used: tasks/],
  ['a file that is not there', ['~tws/flows/none.json'], {}, 4, /none\.json/],
  [
    'a form that there is not',
    ['greet'],
    { format: 'gif' },
    2,
    /must be one of mermaid, svg, json/,
  ],
  [
    'a folder that is not there',
    ['greet'],
    { out: 'no/such/x.svg' },
    3,
    /cannot be written \(ENOENT\)/,
  ],
])('tws graph refuses %s', async (_title, args, flags, exit, sentence) => {
  const { tws } = await ready();
  const ran = await tws(graph, { args, flags });
  expect(ran.exit).toBe(exit);
  expect(ran.error?.message).toMatch(sentence);
});
