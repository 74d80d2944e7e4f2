import { describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/validate/document.js';
import { unreadKeys } from '../../src/reading/unread-keys.js';
import { decide } from '../../src/decide/decide.js';
import type { Found } from '../../src/decide/world.js';
import { checkDefinitions } from '../../src/reading/check.js';
import type { Flow } from '../../src/model/flow.js';
import type { FinalJob, Job } from '../../src/model/job.js';
import { parseDocument } from '../../src/reading/parse.js';
import { exits } from '../../src/model/step.js';
import type { Task } from '../../src/model/task.js';
import { flow, newJob, t0, task, world } from '../support/builders.js';
import { badDefinitions } from '../model/bad-definitions.js';
import { endOf } from '../model/corpus.js';

type Doc = Readonly<Record<string, unknown>>;

/** How an engine finds a stored definition. */
function found<T>(doc: Doc): Found<T> {
  const parsed = parseDocument({ _id: 'x', ...doc, _rev: '1-a' });
  if (parsed.kind === 'other') return { kind: 'absent' };
  return parsed.ok
    ? { kind: 'found', value: parsed.value as unknown as T & { _id: string } }
    : { kind: 'invalid', id: 'x', problems: parsed.problems };
}

/** How a job begins whose flow, or the task of whose flow, is this document. */
function beginning(doc: Doc): FinalJob {
  const around = world({
    flow: () => (doc['type'] === 'flow' ? found<Flow>(doc) : found<Flow>(usesTask)),
    task: () => (doc['type'] === 'task' ? found<Task>(doc) : { kind: 'absent' }),
  });
  const intent = decide(newJob(), t0, around);
  if (!('job' in intent)) throw new Error(`The job is not ended: ${intent.kind}.`);
  return intent.job as FinalJob;
}

const usesTask = { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: ['a'] };

describe('the table of bad definitions', () => {
  it('has more than a hundred, each said differently', () => {
    expect(badDefinitions.length).toBeGreaterThan(100);
    const whats = badDefinitions.map(({ what }) => what);
    expect(new Set(whats).size).toBe(whats.length);
  });
});

describe.each(badDefinitions)('$what', ({ doc, path, says }) => {
  const message = `${path} ${says}`;

  // Shows A-03, B-14, X-55.
  it('is refused by push and validate with one sentence', () => {
    expect(checkDocument('x.json', doc)).toEqual([{ file: 'x.json', path, message }]);
  });

  // Shows B-14.
  it('ends a job with exit 3 and the same sentence', () => {
    const { exit, failure, problems } = beginning(doc);
    const name = doc['type'] === 'flow' ? 'InvalidFlow' : 'InvalidTask';
    expect({ exit, name: failure?.name, problems }).toEqual({
      exit: exits.definition,
      name,
      problems: [{ path, message }],
    });
    expect(failure?.message).toContain(message);
  });
});

const structures = badDefinitions.filter(({ path }) => /^tasks[.[]/.test(path));

describe.each(structures)('$what', ({ doc, path, says }) => {
  it('is refused in a job of its own structure, too', () => {
    const job = { _id: 'j', _rev: '1-a', type: 'job', tasks: doc['tasks'] };
    expect(parseDocument(job)).toMatchObject({
      ok: false,
      problems: [{ path, message: `${path} ${says}` }],
    });
  });
});

describe('the key of a limit', () => {
  it('is JSONata, also in a list', () => {
    const limits = [{ limit: 1 }, { limit: 1, key: 'params.(' }];
    const [problem] = checkDocument('x.json', { ...usesTask, concurrency: limits });
    expect(problem?.path).toBe('concurrency[1].key');
    expect(problem?.message).toContain('concurrency[1].key is no valid');
  });
});

describe('the key of a rate that is no JSONata', () => {
  it('is refused by push, in a task as in a flow', () => {
    const rate = { limit: 1, per: 1, key: '(' };
    const message = 'rate.key is no valid JSONata: Expected ")" before end of expression.';
    for (const doc of [task('a', { rate }), { ...usesTask, rate }]) {
      const told = [{ file: 'x.json', path: 'rate.key', message }];
      expect(checkDocument('x.json', doc)).toEqual(told);
    }
  });
});

describe('several mistakes', () => {
  it('are told one by one', () => {
    const tasks = [{ task: 5 }, { parallel: ['a'], join: 9 }, { map: {} }];
    const told = checkDocument('x', { type: 'flow', name: 'f', owner: 'me', tasks });
    expect(told.map(({ path }) => path)).toEqual([
      'tasks[0].task',
      'tasks[1].join',
      'tasks[2].map.over',
      'tasks[2].map.do',
    ]);
  });
});

const defined = (tasks: unknown, more: Doc = {}): Doc => ({
  ...{ type: 'flow', name: 'f', owner: 'DEFAULT', tasks },
  ...more,
});

describe('what can be read only with the words of another language', () => {
  it.each<[what: string, doc: Doc, path: string, says: string]>([
    [
      'a condition',
      defined([{ task: 'a', when: 'a b' }]),
      'tasks[0].when',
      'is no valid JSONata: Syntax error: "b".',
    ],
    [
      'a guard',
      defined([{ task: 'a', guards: ['true', '('] }]),
      'tasks[0].guards[1]',
      'is no valid JSONata: Expected ")" before end of expression.',
    ],
    [
      'the case of a choice',
      defined([{ choice: [{ when: 'a b', then: 'a' }] }]),
      'tasks[0].choice[0].when',
      'is no valid JSONata: Syntax error: "b".',
    ],
    [
      'the list of a map',
      defined([{ map: { over: '', do: 'a' } }]),
      'tasks[0].map.over',
      'is no valid JSONata: Unexpected end of expression.',
    ],
    [
      'the condition of a loop',
      defined([{ loop: { while: 'a b', max: 2, do: 'a' } }]),
      'tasks[0].loop.while',
      'is no valid JSONata: Syntax error: "b".',
    ],
  ])(
    '%s is refused by push, and by the engine when it comes there',
    async (_what, doc, path, says) => {
      const message = `${path} ${says}`;
      expect(checkDocument('x', doc)).toEqual([{ file: 'x', path, message }]);
      const stored = [{ ...doc, _id: 'f', _rev: '1-a' }, runs('noop'), job];
      const { exit, failure } = await endOf(stored);
      expect({ exit, name: failure?.name }).toEqual({ exit: 3, name: 'ExpressionError' });
      expect(failure?.message).toMatch(/^The condition in \S+ cannot be evaluated: .+\.$/);
    },
  );

  it('a match of a wait that is no JSONata is refused by push', () => {
    const [first] = checkDocument('x', defined([{ wait: { event: 'e', match: 'event.' } }]));
    expect(first).toMatchObject({ path: 'tasks[0].wait.match' });
  });

  it.each<[what: string, doc: Doc, path: string]>([
    ['parameters', defined([{ task: 'a', params: { x: '{{#if y}}' } }]), 'tasks[0].params.x'],
    ['a delay', defined([{ delay: '{{#if x}}' }]), 'tasks[0].delay'],
    ['the key of an event', defined([{ wait: { event: 'e', key: '{{' } }]), 'tasks[0].wait.key'],
    ['the cancel branch', defined([], { cancel: [{ delay: '{{/if}}' }] }), 'cancel[0].delay'],
  ])('a template in %s is refused by push', (_what, doc, path) => {
    const [first, ...others] = checkDocument('x', doc);
    expect(others).toEqual([]);
    expect(first?.path).toBe(path);
    expect(first?.message.startsWith(`${path} is no valid template: `)).toBe(true);
  });
});

const runs = (plugin: string) => ({ _id: 'a', _rev: '1-a', type: 'task', name: 'a', plugin });
const job = { _id: 'j', _rev: '1-a', type: 'job', flow: 'f' };

describe('names that lead nowhere, or in a circle', () => {
  const findings = (flows: readonly Flow[], tasks: readonly Task[]): readonly string[] =>
    checkDefinitions({ flows, tasks }).map(({ message, level }) => `${level}: ${message}`);
  const endOfFirst = (flows: readonly Flow[], tasks: readonly Task[]) => {
    const around = world({
      flows,
      tasks,
      task: (name) => {
        const value = tasks.find((one) => one.name === name);
        return value === undefined ? { kind: 'absent' } : { kind: 'found', value };
      },
    });
    const intent = decide(newJob(), t0, around);
    return 'job' in intent ? (intent.job as Job & FinalJob) : undefined;
  };

  it.each<[what: string, flow: Flow, tasks: readonly Task[], told: string, failure: string]>([
    [
      'a task that is not there',
      flow(['gone']),
      [],
      'warning: tasks.sequence[0].task names the task "gone", which is not defined for owner "DEFAULT".',
      'TaskMissing',
    ],
    [
      'an undo that is not there',
      flow([{ task: 'a', undo: 'gone' }]),
      [task('a')],
      'warning: tasks.sequence[0].undo names the task "gone", which is not defined for owner "DEFAULT".',
      'TaskMissing',
    ],
    [
      'a handler of itself',
      flow(['a']),
      [task('a', { error: 'a' })],
      'problem: The error handlers handle each other in a circle (a -> a); a handler must not come back to itself.',
      'HandlerCycle',
    ],
    [
      'a handler of a step that comes back to it',
      flow([{ parallel: [{ task: 'a', error: 'b' }] }]),
      [task('a'), task('b', { error: 'a' })],
      'problem: The error handlers handle each other in a circle (a -> b -> a); a handler must not come back to itself.',
      'HandlerCycle',
    ],
  ])('%s is told by push and ends the job with exit 3', (_what, one, tasks, told, failure) => {
    expect(findings([one], tasks)).toContain(told);
    expect(endOfFirst([one], tasks)).toMatchObject({ exit: 3, failure: { name: failure } });
  });

  it('a child flow that is not there is told by push', () => {
    expect(findings([flow([{ map: { over: 'x', do: { flow: 'gone' } } }])], [])).toEqual([
      'warning: tasks.sequence[0].map.do.flow names the flow "gone", which is not defined for owner "DEFAULT".',
    ]);
  });
});

describe('a key that nothing reads', () => {
  it.each<[what: string, doc: Doc, path: string, meant: string]>([
    ['a task', { type: 'task', name: 't', tmeout: 5 }, 'tmeout', 'timeout'],
    ['a flow', defined(['a'], { quue: 'x' }), 'quue', 'queue'],
    ['an entry', defined([{ task: 'a', timout: 5 }]), 'tasks[0].timout', 'timeout'],
    ['a retry', defined([{ task: 'a', retry: { dealy: 5 } }]), 'tasks[0].retry.dealy', 'delay'],
    ['a parallel', defined([{ parallel: ['a'], jion: 1 }]), 'tasks[0].jion', 'join'],
    [
      'a batch',
      defined([{ batch: ['a'], on_complete: 'b', on_succes: 'c' }]),
      'tasks[0].on_succes',
      'on_success',
    ],
    [
      'a node of a graph',
      defined({ graph: { a: 'x', b: { task: 'y', aftr: ['a'] } } }),
      'tasks.graph.b.aftr',
      'after',
    ],
    [
      'a choice',
      defined([{ choice: [{ when: 'x', then: 'a' }], defualt: 'b' }]),
      'tasks[0].defualt',
      'default',
    ],
    [
      'a map',
      defined([{ map: { over: 'x', do: 'a', tolerat: 1 } }]),
      'tasks[0].map.tolerat',
      'tolerate',
    ],
    ['a loop', defined([{ loop: { whle: 'x', max: 5, do: 'a' } }]), 'tasks[0].loop.whle', 'while'],
    [
      'a wait',
      defined([{ wait: { signal: 's', timeuot: 5 } }]),
      'tasks[0].wait.timeuot',
      'timeout',
    ],
    [
      'the cancel branch',
      defined([], { cancel: { task: 'a', parms: {} } }),
      'cancel.parms',
      'params',
    ],
    [
      'the error catalogue',
      defined([], { errors: { X: { severty: 'major' } } }),
      'errors.X.severty',
      'severity',
    ],
  ])('in %s is told when it is nearly one that is read', (_what, doc, path, meant) => {
    expect(checkDocument('x', doc)).toEqual([]);
    const message = `${path} is no key that TWS knows, so nothing reads it; did you mean "${meant}"?`;
    expect(unreadKeys(doc)).toEqual([{ path, message }]);
  });

  it.each<[what: string, doc: Doc]>([
    ['of an entry', defined([{ task: 'a', team: 'b' }])],
    ['of a structure', defined([{ parallel: ['a'], remark: 'b' }])],
    ['that only another structure would have', defined([{ sequence: ['a'], befor: ['a'] }])],
  ])("%s that is one's own may stay", (_what, doc) => {
    expect(checkDocument('x', doc)).toEqual([]);
    expect(unreadKeys(doc)).toEqual([]);
  });
});
