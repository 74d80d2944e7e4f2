import { describe, expect, it } from 'vitest';
import { newJobFields } from '../../src/model/job.js';
import { newJobSchema } from '../../src/reading/documents.js';
import { newJobSchemaFor, parseDocument } from '../../src/reading/parse.js';
import { document } from '../model/arbitraries.js';

type Fields = Readonly<Record<string, unknown>>;
type Refused = readonly [fields: Fields, path: string, sentence: string];

const names: readonly Refused[] = [
  [{ name: undefined }, 'name', 'name is missing.'],
  [{ name: 5 }, 'name', 'name must be a name (a string); it is 5.'],
  [{ name: '' }, 'name', 'name must be a name, not empty; it is an empty string.'],
  [{ name: ' ' }, 'name', 'name must be a name, not empty; it is the string " ".'],
  [{ name: 'a\nb' }, 'name', 'name must be a name of one line; it is the string "a\\nb".'],
  [{ name: 'a::b' }, 'name', 'name must be a name without "::"; it is the string "a::b".'],
  [
    { name: '$$x' },
    'name',
    'name must be a name that does not begin with "$$"; it is the string "$$x".',
  ],
  [
    { name: '__proto__' },
    'name',
    'name must be a name, which "__proto__" cannot be; it is the string "__proto__".',
  ],
];

const milliseconds =
  'must be a duration: milliseconds (a whole number, 0 or more), or a text such as "30s", "500ms" or "PT30S"';
const retries =
  'must be a number of retries (0 or more) or a retry policy {limit, delay, factor, …}';

const tasks: readonly Refused[] = [
  ...names,
  [{ owner: {} }, 'owner', 'owner must be a name (a string); it is an object without keys.'],
  [{ plugin: null }, 'plugin', 'plugin must be a name (a string); it is null.'],
  [{ params: [] }, 'params', 'params must be an object of parameters; it is an empty list.'],
  [{ params: 'pass=x' }, 'params', 'params must be an object of parameters; it is a string.'],
  [{ timeout: '15 s' }, 'timeout', `timeout ${milliseconds}; it is the string "15 s".`],
  [{ timeout: -1 }, 'timeout', `timeout ${milliseconds}; it is -1.`],
  [{ timeout: 1e300 }, 'timeout', `timeout ${milliseconds}; it is 1e+300.`],
  [
    { heartbeat: 9e15 },
    'heartbeat',
    'heartbeat must be a duration of at most 100 years; it is 9000000000000000.',
  ],
  [{ accept_timeout: true }, 'accept_timeout', `accept_timeout ${milliseconds}; it is true.`],
  [{ total_timeout: 0.5 }, 'total_timeout', `total_timeout ${milliseconds}; it is 0.5.`],
  [{ retry: '3' }, 'retry', `retry ${retries}; it is the string "3".`],
  [{ retry: 1.5 }, 'retry', `retry ${retries}; it is 1.5.`],
  [
    { retry: -1 },
    'retry',
    'retry must be a number of retries (a whole number, 0 or more); it is -1.',
  ],
  [{ retry: { delay: -1 } }, 'retry.delay', `retry.delay ${milliseconds}; it is -1.`],
  [{ retry: { factor: 0 } }, 'retry.factor', 'retry.factor must be a number, 1 or more; it is 0.'],
  [
    { retry: { jitter: 2 } },
    'retry.jitter',
    'retry.jitter must be true, false or a share from 0 to 1; it is 2.',
  ],
  [
    { retry: { on: 'Error' } },
    'retry.on',
    'retry.on must be a list of strings; it is the string "Error".',
  ],
  [{ error: {} }, 'error', 'error must be a name (a string); it is an object without keys.'],
  [{ labels: 'gpu' }, 'labels', 'labels must be a list of strings; it is the string "gpu".'],
  [{ labels: ['a', 1] }, 'labels[1]', 'labels[1] must be a string; it is 1.'],
  [{ slots: 0 }, 'slots', 'slots must be a number of slots (a whole number, 1 or more); it is 0.'],
  [{ optional: 'yes' }, 'optional', 'optional must be true or false; it is the string "yes".'],
  [{ schema: 'x' }, 'schema', 'schema must be an object; it is the string "x".'],
  [{ flow: 5 }, 'flow', 'flow must be a name (a string); it is 5.'],
];

const catalogue: readonly Refused[] = [
  [
    { errors: ['E1'] },
    'errors',
    'errors must be an object: name or code of a failure -> {severity, retry, kind}; it is a list.',
  ],
  [
    { errors: { E1: 'warning' } },
    'errors.E1',
    'errors.E1 must be an object {severity, retry, kind}; it is the string "warning".',
  ],
  [
    { errors: { 'Net.*': { severity: 'minor' } } },
    'errors["Net.*"].severity',
    'errors["Net.*"].severity must be "warning", "major" or "fatal"; it is the string "minor".',
  ],
  [
    { errors: { E1: { retry: 'no' } } },
    'errors.E1.retry',
    'errors.E1.retry must be true, false, a number of retries or a retry policy {limit, delay, …}; it is the string "no".',
  ],
  [
    { errors: { E1: { retry: { limit: -1 } } } },
    'errors.E1.retry.limit',
    'errors.E1.retry.limit must be a number of retries (a whole number, 0 or more); it is -1.',
  ],
  [
    { errors: { E1: { kind: 'mine' } } },
    'errors.E1.kind',
    'errors.E1.kind must be "business" or "technical"; it is the string "mine".',
  ],
  [
    { restarts: 0.5 },
    'restarts',
    'restarts must be a number of restarts (a whole number, 0 or more); it is 0.5.',
  ],
];

const tree = 'must be a list of steps or a structure such as {"sequence": […]}';
const node =
  'must be a task name, an entry {task, …}, {wait}, {approve}, {delay}, {flow}, {decider}, {finish} or a structure (sequence, parallel, batch, graph, choice, map, loop, catch)';

const flows: readonly Refused[] = [
  ...names,
  ...catalogue,
  [{ owner: undefined }, 'owner', 'owner is missing.'],
  [{ tasks: undefined }, 'tasks', `tasks is missing; it ${tree}.`],
  [{ tasks: 'a' }, 'tasks', `tasks ${tree}; it is the string "a".`],
  [{ tasks: { paralel: [] } }, 'tasks', `tasks ${tree}; it is an object with the key "paralel".`],
  [
    { tasks: { parallel: ['a'], join: 2 } },
    'tasks.join',
    'tasks.join must be at most 1, the number of nodes in "parallel"; it is 2.',
  ],
  [
    { tasks: [{ graph: { a: 'x', b: { task: 'y', after: ['c'] } } }] },
    'tasks[0].graph.b.after[0]',
    'tasks[0].graph.b.after[0] must name a node of this graph (a, b); it is the string "c".',
  ],
  [
    { tasks: [{ batch: ['a'] }] },
    'tasks[0].batch',
    'tasks[0].batch must have a callback beside it: "on_complete", "on_success" or "on_failure" (without one, write "parallel").',
  ],
  [
    { tasks: { sequence: 'a' } },
    'tasks.sequence',
    'tasks.sequence must be a list of steps; it is the string "a".',
  ],
  [{ tasks: ['a', null] }, 'tasks[1]', `tasks[1] ${node}; it is null.`],
  [{ tasks: ['a', ''] }, 'tasks[1]', 'tasks[1] must be a name, not empty; it is an empty string.'],
  [
    { tasks: [{ tsak: 'a' }] },
    'tasks[0]',
    `tasks[0] ${node}; it is an object with the key "tsak".`,
  ],
  [
    { tasks: { sequence: [{ task: 5 }] } },
    'tasks.sequence[0].task',
    'tasks.sequence[0].task must be a name (a string); it is 5.',
  ],
  [
    { tasks: [['a', { sequence: [{ task: 'a', retry: 'no' }] }]] },
    'tasks[0][1].sequence[0].retry',
    `tasks[0][1].sequence[0].retry ${retries}; it is the string "no".`,
  ],
  [
    { tasks: [{ task: 'a', sequence: ['b'] }] },
    'tasks[0].sequence',
    'tasks[0].sequence must not stand beside "task" in one node.',
  ],
  [
    { tasks: [{ task: 'a', structure: 'sequence' }] },
    'tasks[0].structure',
    'tasks[0].structure must not stand beside "task" in one node.',
  ],
  [
    { tasks: [{ structure: 'map', over: 'x', do: 'a' }] },
    'tasks[0].map',
    'tasks[0].map is missing; it must be {over, do, as, limit, slice, tolerate}.',
  ],
  [
    { tasks: [{ task: 'a', stdio: ['x'] }] },
    'tasks[0].stdio',
    'tasks[0].stdio must be an object {"key of the result before": "path in params"}; it is a list.',
  ],
  [
    { tasks: [{ task: 'a', stdio: { password: 7 } }] },
    'tasks[0].stdio.password',
    'tasks[0].stdio.password must be a string; it is a number.',
  ],
  [
    { tasks: [{ task: 'a', when: true }] },
    'tasks[0].when',
    'tasks[0].when must be a JSONata condition (a string); it is true.',
  ],
  [
    { tasks: [{ task: 'a', guards: 5 }] },
    'tasks[0].guards',
    'tasks[0].guards must be a condition or a list of conditions; it is 5.',
  ],
  [
    { tasks: [{ task: 'a', guards: ['x', 5] }] },
    'tasks[0].guards[1]',
    'tasks[0].guards[1] must be a JSONata condition (a string); it is 5.',
  ],
  [{ error: [5] }, 'error[0]', `error[0] ${node}; it is 5.`],
  [
    { error: { params: {} } },
    'error',
    'error must be a task name, {name, params}, an entry or a structure; it is an object with the key "params".',
  ],
  [{ error: { name: 5 } }, 'error.name', 'error.name must be a name (a string); it is 5.'],
  [{ cancel: 5 }, 'cancel', `cancel ${node}; it is 5.`],
  [
    { timeout_mode: 'soft' },
    'timeout_mode',
    'timeout_mode must be "start" or "hard"; it is the string "soft".',
  ],
  [{ enabled: 'true' }, 'enabled', 'enabled must be true or false; it is the string "true".'],
  [{ paused: 1 }, 'paused', 'paused must be true or false; it is 1.'],
  [{ output: 5 }, 'output', 'output must be a JSONata expression or an object of them; it is 5.'],
  [{ output: { a: 1 } }, 'output.a', 'output.a must be a JSONata expression (a string); it is 1.'],
  [
    { version: {} },
    'version',
    'version must be a string or a number; it is an object without keys.',
  ],
];

const time =
  'must be a time: milliseconds since 1970, or ISO 8601 with a zone ("2026-11-21T10:00:00Z")';
const priority = 'priority must be a whole number from 0 (first) to 999 (last)';

const jobs: readonly Refused[] = [
  [
    { flow: undefined },
    'flow',
    'flow is missing; it must name a flow, or the job must carry "tasks".',
  ],
  [{ flow: '' }, 'flow', 'flow must be a name, not empty; it is an empty string.'],
  [{ exec_after: 'soon' }, 'exec_after', `exec_after ${time}; it is the string "soon".`],
  [{ exec_after: -5 }, 'exec_after', `exec_after ${time}; it is -5.`],
  [{ exec_after: 1e300 }, 'exec_after', `exec_after ${time}; it is 1e+300.`],
  [
    { exec_after: '2026-01-01' },
    'exec_after',
    `exec_after ${time}; it is the string "2026-01-01".`,
  ],
  [{ expires: null }, 'expires', `expires ${time}; it is null.`],
  [{ priority: 1000 }, 'priority', `${priority}; it is 1000.`],
  [{ priority: 'high' }, 'priority', `${priority}; it is the string "high".`],
  [{ parent: 'x' }, 'parent', 'parent must be {job, step}; it is the string "x".'],
  [{ parent: { job: 'x' } }, 'parent.step', 'parent.step is missing; it must be a string.'],
  [{ cancel: 'now' }, 'cancel', 'cancel must be true or {by, reason}; it is the string "now".'],
  [{ cancel: { by: 5 } }, 'cancel.by', 'cancel.by must be a string; it is 5.'],
  [
    { state: '$$ready' },
    'state',
    'state must be left out of a new job: the engine sets it; it is the string "$$ready".',
  ],
];

const states =
  '$$ready, $$active, $$waiting, $$complete, $$error, $$timeout, $$cancelled, $$skipped';

const live: readonly Refused[] = [
  [
    { state: '$$done', steps: 'x' },
    'state',
    'state must be $$ready, $$paused, {task}-{n}, $$complete or $$cancelled; it is the string "$$done".',
  ],
  [{ steps: 'x' }, 'steps', 'steps must be the list of steps; it is the string "x".'],
  [{ steps: [null] }, 'steps[0]', 'steps[0] must be a step (an object); it is null.'],
  [
    { steps: [{ index: 0 }] },
    'steps[0].state',
    `steps[0].state is missing; it must be one of ${states}.`,
  ],
  [
    { steps: [{ state: 'done' }] },
    'steps[0].state',
    `steps[0].state must be one of ${states}; it is the string "done".`,
  ],
  [
    { start: 'x' },
    'start',
    'start must be a time in milliseconds since 1970; it is the string "x".',
  ],
  [{ run: 0 }, 'run', 'run must be 1 or more; it is 0.'],
  [{ definitions: { a: null } }, 'definitions.a', 'definitions.a must be an object; it is null.'],
  [
    { flow_definition: {} },
    'flow_definition.type',
    'flow_definition.type is missing; it must be "flow".',
  ],
];

const requests: readonly Refused[] = [
  [{ job: 5, action: 'cancel' }, 'job', 'job must be a string; it is 5.'],
  [
    { job: 'j', action: 'stop' },
    'action',
    'action must be one of cancel, pause, resume, retry, skip, note, migrate; it is the string "stop".',
  ],
];

const kinds = {
  task: { ...document.task, refused: tasks },
  flow: { ...document.flow, refused: flows },
  job: { ...document.job, refused: jobs },
  live: { ...document.live, refused: live },
  request: { _id: 'r', _rev: '1-a', type: 'request', refused: requests },
} as const;

describe.each(Object.entries(kinds))('a %s document', (_kind, { refused, ...good }) => {
  it.each(refused)('with %j is refused at %s: %s', (fields, path, message) => {
    const doc = JSON.parse(JSON.stringify({ ...good, ...fields })) as typeof document.task;
    const parsed = parseDocument(doc);
    expect(parsed).toMatchObject({ kind: good.type, ok: false });
    expect('problems' in parsed && parsed.problems[0]).toEqual({ path, message });
  });
});

it.each([5, { days: 1 }, { failed: {} }])('a flow with retain %j is read as it is', (retain) => {
  const doc = { ...document.flow, retain } as typeof document.flow;
  expect(parseDocument(doc)).toMatchObject({ kind: 'flow', ok: true, value: { retain } });
  const live = {
    ...document.live,
    flow_definition: { type: 'flow', name: 'f', owner: 'o', retain },
  };
  expect(parseDocument(live as never)).toMatchObject({ kind: 'job', ok: true });
});

describe('the schema of what a new job has', () => {
  const junk = [undefined, null, 0, '', 'text', [], {}, ['noop'], { sequence: [1] }, true, NaN];
  const keys = ['_id', '_rev', ...Object.keys(newJobFields), 'slice', 'other'];
  const docs = keys.flatMap((key, i) =>
    junk.map((value, j) => ({
      ...(j % 2 === 0 ? { type: 'job', flow: 'f', owner: 'me' } : {}),
      ...{ [String(keys[(i * 7 + j) % keys.length])]: junk[(i + j) % junk.length], [key]: value },
    })),
  );

  it('says the same as that of all that a new job may have', () => {
    for (const doc of docs) {
      const [all, own] = [newJobSchema.safeParse(doc), newJobSchemaFor(doc).safeParse(doc)];
      expect(own.success, JSON.stringify(doc)).toBe(all.success);
      expect(own.data).toEqual(all.data);
      expect(own.error?.issues).toEqual(all.error?.issues);
    }
  });

  it('is made again for the same keys no more, and for too many sets of keys not at all', () => {
    const [doc] = docs;
    expect(newJobSchemaFor({ ...doc })).toBe(newJobSchemaFor({ ...doc }));
    const sets = Array.from({ length: 400 }, (_, n) =>
      Object.fromEntries(
        Object.keys(newJobFields).flatMap((key, i) => ((n >> i) % 2 ? [[key, 1]] : [])),
      ),
    );
    const made = new Set(sets.map(newJobSchemaFor));
    expect(made.size).toBeLessThanOrEqual(201);
    expect(made.has(newJobSchema)).toBe(true);
  });
});

describe('a duration in ISO 8601', () => {
  const read = (fields: Fields) => parseDocument({ _id: 'x', _rev: '1-x', ...fields });

  it('is read as milliseconds wherever a task, a flow or a job has one', () => {
    const retry = { limit: 1, delay: 'PT0.25S', max: 'PT1M', total: 'PT1H' };
    const task = { ...{ timeout: 'PT30S', heartbeat: 'PT5S', accept_timeout: 'P1D' }, retry };
    expect(read({ type: 'task', name: 'a', total_timeout: 'P1W', ...task })).toMatchObject({
      value: {
        ...{ timeout: 30_000, heartbeat: 5_000, accept_timeout: 86_400_000 },
        ...{ total_timeout: 604_800_000, retry: { delay: 250, max: 60_000, total: 3_600_000 } },
      },
    });
    const tasks = [
      { task: 'a', timeout: 'PT2S', heartbeat: 'PT1S', retry },
      { wait: { signal: 'go', timeout: 'PT1H30M' } },
      { delay: 'PT10S' },
    ];
    const sequence = [
      { timeout: 2_000, heartbeat: 1_000, retry: { delay: 250 } },
      { wait: { timeout: 5_400_000 } },
      // It may be a template, and is read when it is filled in.
      { delay: 'PT10S' },
    ];
    const flow = { type: 'flow', name: 'f', owner: 'me', timeout: 'PT1M', tasks };
    expect(read(flow)).toMatchObject({
      value: { timeout: 60_000, tasks: { sequence } },
    });
    expect(read({ type: 'job', owner: 'me', retry_delay: 'PT3S', tasks })).toMatchObject({
      value: { retry_delay: 3_000, tasks: { sequence } },
    });
  });

  it.each(['PT', 'P1M', 'P1Y', 'PT0.0001S', 'pt5s', 'PT-5S', '5 s', ' PT5S', ''])(
    'is not %j',
    (timeout) => {
      expect(read({ type: 'task', name: 'a', timeout })).toMatchObject({
        problems: [{ path: 'timeout', message: expect.stringContaining(milliseconds) as string }],
      });
    },
  );

  it('is at most 100 years', () => {
    expect(read({ type: 'task', name: 'a', timeout: `PT${'9'.repeat(400)}S` })).toMatchObject({
      problems: [{ message: expect.stringContaining('of at most 100 years') as string }],
    });
  });
});
