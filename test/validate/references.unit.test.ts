import { describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/validate/document.js';
import { checkReferences, type StoredDefinitions } from '../../src/validate/references.js';
import { flow, task } from '../cli/terminal.js';

type Doc = Readonly<Record<string, unknown>>;
const check = (doc: object): string[] =>
  checkDocument('f.json', doc as Doc).map(({ path, message }) => `${path}: ${message}`);

describe('checkDocument', () => {
  it.each([
    ['a task', task('a', { params: { text: 'Hi {{job._id}}' } })],
    ['a flow', flow('f', ['a', { task: 'b', when: 'results.a.ok = true' }], { output: 'results' })],
    ['a job with open labels', { type: 'job', flow: 'f', params: { 'a-0': { to: '[[to]]' } } }],
  ])('has nothing against %s', (_title, doc) => {
    expect(check(doc)).toEqual([]);
  });

  it.each([
    [
      'an unknown type',
      { type: 'tusk' },
      /^type: type must be "task", "flow", "schedule", "hook", "queue-control", "notify" or "job"/,
    ],
    ['a missing type', {}, /^type: .*it is missing/],
    ['a missing name', { type: 'task' }, /^name: name is missing/],
    ['a wrong step', flow('f', ['a', 7]), /^tasks\.sequence\[1\]: /],
    [
      'a broken template',
      task('a', { params: { x: ['{{#if y}}'] } }),
      /^params\.x\[0\]: .*template/,
    ],
    [
      'the whole reason in one line',
      task('a', { params: { x: '{{#if y}}a' } }),
      /^params\.x: params\.x is no valid template: Parse error on line 1: Expecting .*, got 'EOF'\.$/,
    ],
    ['a template with partials', task('a', { params: { x: '{{> y}}' } }), /^params\.x: .*partials/],
    ['a broken template in a step', flow('f', [{ task: 'a', params: { x: '{{' } }]), /template/],
    [
      'a broken condition',
      flow('f', [{ task: 'a', when: 'a b' }]),
      /sequence\[0\]\.when: .*JSONata/,
    ],
    ['a broken guard', flow('f', [{ task: 'a', guards: ['true', '('] }]), /guards\[1\]: .*JSONata/],
    ['a broken output', flow('f', [], { output: { x: '}' } }), /^output\.x: .*JSONata/],
    [
      'a schema that is none',
      task('a', { schema: { type: 'nonsense' } }),
      /^schema: .*JSON Schema/,
    ],
    ['a job that has begun', { type: 'job', flow: 'f', state: '$$ready' }, /^state: /],
    [
      'locks that are no pattern',
      { type: 'job', flow: 'f', locks: '(a' },
      /^locks: locks must be a regular expression of RE2: missing closing \)/,
    ],
    [
      'a target that is too long',
      { type: 'job', flow: 'f', target: 'x'.repeat(1001) },
      /^target: target must be a string of at most 1000 characters/,
    ],
    [
      'locks whose pattern is too heavy',
      { type: 'job', flow: 'f', locks: '(a{100}){100}' },
      /^locks: .*repeats its parts too often/,
    ],
    ['a document that is too large', task('a', { x: Array(10_001).fill(0) }), /^x: x has more/],
    ['an id of CouchDB', task('a', { _id: '_design/x' }), /^_id: .*must not begin/],
    ['an id that is no text', task('a', { _id: 7 }), /^_id: /],
  ])('tells %s with its path', (_title, doc, sentence) => {
    const problems = check(doc);
    expect(
      problems.some((line) => sentence.test(line)),
      problems.join('\n'),
    ).toBe(true);
  });
});

const nothing: StoredDefinitions = () => Promise.resolve([]);
const files = (docs: Readonly<Record<string, object>>) =>
  Object.entries(docs).map(([file, doc]) => ({ file, doc: doc as Doc }));
const tasksStored =
  (...tasks: readonly object[]): StoredDefinitions =>
  (kind) =>
    Promise.resolve(kind === 'task' ? (tasks as Doc[]) : []);

describe('checkReferences', () => {
  it('warns of names that are neither in the files nor in the database', async () => {
    const docs = files({
      flow: flow('f', ['here', 'stored', { task: 'gone' }], { error: 'handler' }),
      here: task('here', { error: 'nobody' }),
      job: { type: 'job', flow: 'f' },
      other: { type: 'job', flow: 'g' },
    });
    const { problems, warnings } = await checkReferences(docs, tasksStored(task('stored')));
    expect(problems).toEqual([]);
    expect(warnings.map(({ file, path }) => `${file} ${path}`)).toEqual([
      'here error',
      'flow tasks.sequence[2].task',
      'flow error',
      'other flow',
    ]);
    expect(warnings[1]?.message).toContain('"gone"');
  });

  it('says of names in no file that they may be in a database that was not asked', async () => {
    const docs = files({
      f: flow('f', ['pack', { task: 'pak' }], { params: { handler: { x: 1 } } }),
      pack: task('pack', { error: 'handler' }),
      job: { type: 'job', flow: 'gone' },
      old: flow('old', [], { deprecated: true }),
      late: { type: 'job', flow: 'old' },
    });
    const { warnings } = await checkReferences(docs, undefined);
    const unasked = 'It may be in the database only, which was not asked.';
    expect(warnings.map(({ file, message }) => `${file}: ${message}`)).toEqual([
      `pack: error names the task "handler", which is not defined for owner "DEFAULT". ${unasked}`,
      `f: tasks.sequence[1].task names the task "pak", which is not defined for owner "DEFAULT". ${unasked} Did you mean "pack"?`,
      `job: flow names the flow "gone", which none of these files defines. ${unasked}`,
      'late: Flow "old" is deprecated and takes no new jobs.',
    ]);
  });

  it('does not guess without a database what only that can tell', async () => {
    const docs = files({ f: flow('f', ['a'], { params: { handler: { x: 1 } } }) });
    const paths = async (stored: StoredDefinitions | undefined) =>
      (await checkReferences(docs, stored)).warnings.map(({ path }) => path);
    expect(await paths(nothing)).toEqual(['tasks.sequence[0]', 'params.handler']);
    expect(await paths(undefined)).toEqual(['tasks.sequence[0]']);
  });

  it('looks for the owner first, then for DEFAULT', async () => {
    const docs = files({
      flow: flow('f', ['a', 'b'], { owner: 'team' }),
      job: { type: 'job', flow: 'f', owner: 'team' },
    });
    const stored = tasksStored(task('a', { owner: 'team' }), task('a', { error: 'x' }), task('b'));
    expect((await checkReferences(docs, stored)).warnings).toEqual([]);
  });

  it('tells nothing of documents that only the database holds', async () => {
    const stored = tasksStored(task('a', { _id: 'task:a', error: 'a' }));
    expect(await checkReferences(files({ b: task('b') }), stored)).toMatchObject({
      problems: [],
      warnings: [],
    });
  });

  it.each([
    ['itself', { a: task('a', { error: 'a' }) }, 'error', 'a -> a'],
    ['two', { a: task('a', { error: 'b' }), b: task('b', { error: 'a' }) }, 'error', 'a -> b -> a'],
    [
      'a step',
      { f: flow('f', [{ task: 'a', error: 'b' }]), a: task('a'), b: task('b', { error: 'a' }) },
      'tasks.sequence[0].error',
      'a -> b -> a',
    ],
  ])('refuses error handlers in a circle: %s', async (_title, docs, path, names) => {
    const { problems } = await checkReferences(files(docs), nothing);
    expect(problems[0]).toMatchObject({ path });
    expect(problems[0]?.message).toContain(names);
  });

  it('sees a circle that goes through the database', async () => {
    const docs = files({ a: task('a', { error: 'b' }) });
    const { problems } = await checkReferences(docs, tasksStored(task('b', { error: 'a' })));
    expect(problems[0]?.message).toContain('a -> b -> a');
  });

  it('tells a path as the file has it, whichever way the flow is written', async () => {
    const inner = { task: 'gone', error: 'nobody' };
    const docs = files({
      list: { ...flow('l', []), tasks: ['gone', ['gone', inner], { sequence: ['gone'] }] },
      cancel: { ...flow('c', []), tasks: [], cancel: 'gone' },
    });
    const { warnings } = await checkReferences(docs, nothing);
    expect(warnings.map(({ file, path }) => `${file} ${path}`)).toEqual([
      'list tasks[0]',
      'list tasks[1][0]',
      'list tasks[1][1].task',
      'list tasks[1][1].error',
      'list tasks[2].sequence[0]',
      'cancel cancel.sequence[0].task',
    ]);
    expect(warnings[0]?.message).toMatch(/^tasks\[0\] names the task "gone"/);
  });

  it('takes a file for the stored document of its name and owner', async () => {
    const docs = files({ a: task('a'), b: task('b', { error: 'a' }) });
    const stored = tasksStored(task('a', { _id: 'task:a', error: 'b' }));
    expect((await checkReferences(docs, stored)).problems).toEqual([]);
  });

  it('refuses a name that two files define for one owner', async () => {
    const docs = files({ one: task('a'), two: task('a'), other: task('a', { owner: 'team' }) });
    const { problems } = await checkReferences(docs, nothing);
    expect(problems.map(({ file, path }) => `${file} ${path}`)).toEqual(['one name', 'two name']);
    expect(problems[0]?.message).toContain('(one, two)');
  });
});

describe('jobs that their flow does not take', () => {
  const old = flow('old', [], { deprecated: 'Use new.', keys: ['order'] });

  // Shows A-10.
  it.each(['job', 'schedule', 'hook'])(
    'are warned of when it is deprecated: a %s',
    async (type) => {
      const docs = files({ doc: { type, flow: 'old', owner: 'me' }, old });
      const { warnings, problems } = await checkReferences(docs, nothing);
      const message = 'Flow "old" is deprecated and takes no new jobs: Use new.';
      expect(warnings).toEqual([{ file: 'doc', path: 'flow', message }]);
      expect(problems).toEqual([]);
    },
  );

  // Shows A-12.
  it('are refused when it does not declare their search keys', async () => {
    const job = { type: 'job', flow: 'old', owner: 'me', parent: {}, keys: { order: 1, zz: 2 } };
    const { problems, warnings } = await checkReferences(files({ job, old }), nothing);
    expect(problems).toMatchObject([{ file: 'job', path: 'keys.zz' }]);
    expect(warnings).toEqual([]);
  });
});

describe('parameters that a task seals', () => {
  const sealed = task('http', { params: { url: 'good', body: 'x' }, sealed: ['url'] });
  const message = 'The parameter url of task "http" is sealed';

  it.each<readonly [string, object, string]>([
    [
      'in a step',
      flow('f', [{ task: 'http', params: { url: 'evil' } }]),
      'tasks.sequence[0].params',
    ],
    ['by task', flow('f', ['http'], { params: { http: { url: 'evil' } } }), 'params.http'],
    ['by step', flow('f', ['http'], { params: { 'http-0': { url: 'evil' } } }), 'params.http-0'],
    [
      'by stdio',
      flow('f', ['a', { task: 'http', stdio: { x: 'url' } }]),
      'tasks.sequence[1].stdio',
    ],
    [
      'in the handler',
      flow('f', [], { error: { name: 'http', params: { url: 'evil' } } }),
      'error.params',
    ],
    [
      'after a cancel',
      flow('f', [], { cancel: [{ task: 'http', params: { url: 'evil' } }] }),
      'cancel[0].params',
    ],
    [
      'in a job',
      { type: 'job', flow: 'plain', owner: 'me', params: { http: { url: 'evil' } } },
      'params.http',
    ],
    [
      'in a job of its own structure',
      { type: 'job', owner: 'me', tasks: [{ task: 'http', params: { url: 'evil' } }] },
      'tasks',
    ],
  ])('are told as a problem when they are set: %s', async (_title, doc, path) => {
    const docs = files({ doc, plain: flow('plain', ['http']), http: sealed, a: task('a') });
    const { problems } = await checkReferences(docs, nothing);
    expect(problems).toMatchObject([{ file: 'doc' }]);
    expect(problems[0]?.path).toContain(path);
    expect(problems[0]?.message).toContain(message);
  });

  it.each<readonly [string, object]>([
    ['the same value', flow('f', [{ task: 'http', params: { url: 'good' } }])],
    ['an open parameter', flow('f', [{ task: 'http', params: { body: 'y' } }], { error: 'http' })],
    ['another task', flow('f', [{ task: 'later', params: { url: 'evil' } }])],
    [
      'a job of a flow that is not there',
      { type: 'job', flow: 'g', params: { http: { url: 'e' } } },
    ],
    ['a job without parameters', { type: 'job', flow: 'f' }],
  ])('are not meant by %s', async (_title, doc) => {
    const { problems } = await checkReferences(files({ doc }), tasksStored(sealed));
    expect(problems).toEqual([]);
  });
});
