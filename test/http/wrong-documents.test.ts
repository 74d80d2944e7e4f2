import { expect, it } from 'vitest';
import { push } from '../../src/cli/commands/push.js';
import { openProject } from '../cli/database.js';
import { flow, task } from '../cli/terminal.js';
import { openApi } from './server.js';

type Doc = Readonly<Record<string, unknown>> & { readonly _id: string; readonly type: string };
type Wrong = readonly [what: string, doc: Doc, path: string, says: string, told?: 'later'];

const ofFlow = (name: string, more: object, tasks: readonly unknown[] = ['a']): Doc => ({
  ...flow(name, tasks, more),
  ...{ _id: `flow:DEFAULT:${name}`, type: 'flow' },
});
const ofType = (type: string, name: string, more: object): Doc => ({
  ...{ _id: `${type}:DEFAULT:${name}`, type, name, owner: 'DEFAULT', flow: 'good', ...more },
});
const noJsonata = 'is no valid JSONata: Expected ")" before end of expression.';
const rate = (more: object) => ({ rate: { limit: 1, per: 'PT1S', ...more } });
const places = 'must be within the project: only tws.json may name another folder;';
const times = 'must be a whole number from 1 to 100000; it is 0.';
const span = 'must be a duration in whole seconds: milliseconds (a multiple of 1000),';
const queue = { _id: 'queue-control:q', type: 'queue-control', queue: 'q' };

/** `later`: only the end of a job, or an event, finds it out, and tells only what comes after `says`. */
const rows: readonly Wrong[] = [
  ['cron of 7 fields', ofType('schedule', 's1', { cron: '1 2 3 4 5 6 7' }), 'cron', 'must have 5'],
  [
    'a time zone that is none',
    ofType('schedule', 's2', { cron: '@daily', time_zone: 'Mars' }),
    ...(['time_zone', 'must be an IANA time zone ("Europe/Berlin"); it is'] as const),
  ],
  ['retain', ofFlow('f1', { retain: { failed: { count: -1 } } }), 'retain.failed.count', 'must be'],
  [
    'archive',
    ofFlow('f2', { retain: { archive: { folder: '/x' } } }),
    ...(['retain.archive.folder', places] as const),
  ],
  ['a limit of 0', ofFlow('f3', { concurrency: { limit: 0 } }), 'concurrency.limit', 'must be'],
  [
    'a key of a limit',
    ofFlow('f4', { concurrency: { limit: 1, key: '((' } }),
    ...(['concurrency.key', noJsonata, 'later'] as const),
  ],
  ['a rate of 0', ofFlow('f5', rate({ limit: 0 })), 'rate.limit', times],
  ['a key of a rate', ofFlow('f6', rate({ key: '((' })), 'rate.key', noJsonata, 'later'],
  ['a unique key', ofFlow('f7', { unique: { key: '((' } }), 'unique.key', noJsonata, 'later'],
  ['on', ofFlow('f8', { on: [{ event: 7 }] }), 'on[0].event', 'must be'],
  [
    'on, its match',
    ofFlow('f9', { on: [{ event: 'e', match: '((' }] }),
    'on[0].match',
    noJsonata,
    'later',
  ],
  [
    'notify',
    ofFlow('f10', { notify: [{ on: ['never'], task: 'a' }] }),
    'notify[0].on[0]',
    'must be',
  ],
  ['expected', ofFlow('f11', { expected: 'soon' }), 'expected', span],
  [
    'output_schema',
    ofFlow('f12', { output_schema: { type: 7 } }),
    ...(['output_schema', 'is no valid JSON Schema: schema is invalid', 'later'] as const),
  ],
  ['catch', ofFlow('f13', {}, [{ task: 'a', catch: [] }]), 'tasks.sequence[0].catch', 'must have'],
  [
    'finish',
    ofFlow('f14', {}, [{ finish: { exit: -1 } }]),
    'tasks.sequence[0].finish.exit',
    'must',
  ],
  [
    'the answer of a wait',
    ofFlow('f15', {}, [{ wait: { signal: 'go', answer: '((' } }]),
    ...(['tasks.sequence[0].wait.answer', noJsonata, 'later'] as const),
  ],
  ['a hook', ofType('hook', 'h1', { check: 'none', params: '((' }), 'params', noJsonata],
  ['a queue-control', { ...queue, ...rate({ limit: 0 }) }, 'rate.limit', times],
  [
    'a notify list',
    { _id: 'notify:DEFAULT', type: 'notify', notify: [{ on: ['failed'], url: 7 }] },
    ...(['notify[0].url', 'must be an address with http or https'] as const),
  ],
];

/** What engines say of it, without what only push and the API say of its place. */
const saidLater = (says: string): string => says.replace(/^is no valid [\w ]+: |\.$/g, '');

it('a wrong document is refused by push and the API, and told where it was stored by hand', async () => {
  const files = rows.map(([, { _id, ...doc }], i) => [`${i}.json`, doc] as const);
  const space = await openProject(Object.fromEntries(files));
  const api = await openApi({ workspace: space });
  await space.put(
    { ...task('a'), _id: 'task:DEFAULT:a' },
    { ...flow('good', ['a']), _id: 'flow:DEFAULT:good' },
  );
  const { err, exit } = await space.tws(push, { args: files.map(([name]) => name) });
  expect(exit).toBe(3);
  for (const [what, { _id, ...doc }, path, says] of rows) {
    const sentence = `${path} ${says}`;
    expect([what, err]).toEqual([what, expect.stringContaining(sentence)]);
    // It can be paused and resumed only.
    if (doc.type === 'queue-control') continue;
    const address = doc.type === 'notify' ? '/notify/check' : `/${doc.type}s/check`;
    const { body } = await api.ask('POST', address, { body: doc });
    const message = expect.stringContaining(sentence) as string;
    expect([what, body]).toMatchObject([what, { ok: false, problems: [{ path, message }] }]);
  }
  await space.put(...rows.map(([, doc]) => doc));
  await space.put(
    ...rows.flatMap(([, { type, name }]) =>
      type === 'flow' ? [{ _id: `job-${name as string}`, type: 'job', flow: name }] : [],
    ),
    { _id: 'event:e', type: 'event', event: 'e', key: '1' },
    { _id: 'signal:go', type: 'signal', job: 'job-f15', name: 'go' },
  );
  await space.engine();
  for (const [what, doc, , says, when] of rows) {
    const id = doc.type === 'flow' ? `job-${doc['name'] as string}` : doc._id;
    const sentence = JSON.stringify(when === 'later' ? saidLater(says) : says).slice(1, -1);
    const is = await space.until(
      doc['name'] === 'f9' ? 'event:e' : id,
      (it) => JSON.stringify(it).includes(sentence),
      30_000,
    );
    expect([what, is]).toEqual([what, expect.objectContaining({ _id: is._id })]);
  }
}, 120_000);
