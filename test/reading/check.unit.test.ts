import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initialise } from '../../src/decide/start/initialise.js';
import { checkDefinitions, type Finding } from '../../src/reading/check.js';
import type { Flow } from '../../src/model/flow.js';
import type { Task } from '../../src/model/task.js';
import { flow, newJob, t0, task, world } from '../support/builders.js';

type Brief = readonly [level: Finding['level'], path: string, message: string];

function findingsOf(flows: readonly Flow[], tasks: readonly Task[]): readonly Brief[] {
  return checkDefinitions({ flows, tasks }).map(({ level, path, message }) => [
    level,
    path,
    message,
  ]);
}

const ab = [task('a'), task('b')];

describe('limits that definitions share by name', () => {
  const limit = (most: number, more: object = {}) => ({ name: 'x', limit: most, ...more });

  it('have one number', () => {
    const one = flow(['a'], { concurrency: limit(2) });
    const other = task('a', { owner: 'DEFAULT', concurrency: [{ limit: 1 }, limit(3)] });
    expect(findingsOf([one], [other])).toEqual([
      [
        'problem',
        'concurrency[1].limit',
        'concurrency[1].limit is 3, but flow f gives the limit "x" 2 permits: a limit of one name has one number; write the same in both.',
      ],
      [
        'problem',
        'concurrency.limit',
        'concurrency.limit is 2, but task a gives the limit "x" 3 permits: a limit of one name has one number; write the same in both.',
      ],
    ]);
  });

  it('have one number within a definition', () => {
    const found = findingsOf([flow(['a'], { concurrency: [limit(2), limit(1)] })], ab);
    expect(found.map(([, , message]) => message)).toEqual([
      expect.stringContaining('but the same definition gives the limit "x" 1 permits'),
      expect.stringContaining('but the same definition gives the limit "x" 2 permits'),
    ]);
  });

  it.each([
    ['agree', limit(2, { key: 'params.k' }), limit(2)],
    ['have no name', { limit: 1 }, { limit: 2 }],
    ['take turns on the one side only', limit(2), limit(3, { strategy: 'round_robin' })],
  ])('are right where they %s', (_title, one, other) => {
    const flows = [
      flow(['a'], { concurrency: one }),
      flow(['a'], { name: 'g', concurrency: other }),
    ];
    expect(findingsOf(flows, ab)).toEqual([]);
  });

  it('are right where they belong to different owners', () => {
    const flows = [flow(['a'], { concurrency: limit(2) })];
    const tasks = [...ab, task('c', { owner: 'other', concurrency: limit(3) })];
    expect(findingsOf(flows, tasks)).toEqual([]);
  });

  it('make a job wait for itself where its child job needs a permit, too', () => {
    const starts = task('starts', { flow: 'g' });
    const parent = flow(['starts'], { concurrency: limit(1) });
    const child = flow(['a'], { name: 'g' });
    const limited = task('a', { concurrency: limit(1) });
    const message =
      'tasks.sequence[0] starts a job of flow "g" that needs a permit of the limit "x", of which this job holds one meanwhile: when such jobs have all permits, they wait for each other.';
    expect(findingsOf([parent, child], [starts, limited])).toEqual([
      ['warning', 'tasks.sequence[0]', message],
    ]);
    expect(findingsOf([parent, child], [starts, ...ab])).toEqual([]);
  });
});

describe('checkDefinitions', () => {
  it('has nothing to say of definitions that fit together', () => {
    const whole = flow(['a', { task: 'b', name: 'second', error: 'a' }], {
      error: 'a',
      cancel: ['b'],
      params: { a: {}, 'b-1': {}, limit: 5 },
      schema: { properties: { limit: {} } },
    });
    expect(checkDefinitions({ flows: [whole], tasks: ab })).toEqual([]);
  });

  it('says of which document it speaks', () => {
    const flows = [{ ...flow(['x']), _id: 'flow-1' }];
    const tasks = [task('a', { error: 'y' })];
    expect(checkDefinitions({ flows, tasks })).toMatchObject([
      { kind: 'task', name: 'a' },
      { kind: 'flow', id: 'flow-1', name: 'f' },
    ]);
  });
});

it('a wait that is to be answered by a step that is not there is a problem', () => {
  const answering = (step: string) =>
    flow([{ wait: { signal: 's', answer: { step } } }, { task: 'a', name: 'last' }]);
  expect(findingsOf([answering('last')], ab)).toEqual([]);
  const path = 'tasks.sequence[0].wait.answer.step';
  expect(findingsOf([answering('lost')], ab)).toEqual([
    ['problem', path, `${path} names "lost", which is no step of the flow.`],
  ]);
});

describe('a name that is nowhere', () => {
  it.each<[title: string, flow: Flow, path: string, name: string]>([
    ['a step', flow(['a', 'b', 'x']), 'tasks.sequence[2].task', 'x'],
    ['a step inside', flow(['a', ['b', 'x']]), 'tasks.sequence[1].sequence[1].task', 'x'],
    ['a handler of a step', flow([{ task: 'a', error: 'x' }]), 'tasks.sequence[0].error', 'x'],
    ['a handler of the flow', flow(['a'], { error: 'x' }), 'error', 'x'],
    ['the cancel branch', flow(['a'], { cancel: ['b', 'x'] }), 'cancel.sequence[1].task', 'x'],
    ['the error branch', flow(['a'], { error: ['b', 'x'] }), 'error.sequence[1].task', 'x'],
  ])('is a warning in %s', (_title, defined, path, name) => {
    const message = `${path} names the task "${name}", which is not defined for owner "DEFAULT".`;
    expect(findingsOf([defined], ab)).toEqual([['warning', path, message]]);
  });

  it('is a warning in a task: its handler and its flow', () => {
    expect(findingsOf([], [task('a', { owner: 'me', error: 'x', flow: 'y' })])).toEqual([
      [
        'warning',
        'error',
        'error names the task "x", which is not defined for owner "me" or DEFAULT.',
      ],
      [
        'warning',
        'flow',
        'flow names the flow "y", which is not defined for owner "me" or DEFAULT.',
      ],
    ]);
  });

  it('is looked for with the owner of the flow, then with DEFAULT', () => {
    const tasks = [task('a', { owner: 'me' }), task('b')];
    expect(findingsOf([flow(['a', 'b'], { owner: 'me' })], tasks)).toEqual([]);
    expect(findingsOf([flow(['a', 'b'], { owner: 'you' })], tasks)).toMatchObject([
      ['warning', 'tasks.sequence[0].task', expect.any(String)],
    ]);
  });
});

describe('a version of a flow', () => {
  const order = (version: string, more: object = {}) =>
    flow(['a'], { name: 'order', version, ...more });

  it('that is nowhere is a warning, and any other is none', () => {
    const flows = [
      order('1', { current: true }),
      order('2'),
      flow([
        { flow: 'order', version: '2', name: 'old' },
        { flow: 'order', version: '3', name: 'none' },
        { flow: 'order' },
      ]),
    ];
    expect(findingsOf(flows, ab)).toEqual([
      [
        'warning',
        'tasks.sequence[1].flow',
        'tasks.sequence[1].flow names the flow "order", which has no version "3".',
      ],
    ]);
  });

  it('of which none is current is told of the flow, not of whoever names it', () => {
    const flows = [order('1'), order('2'), flow([{ flow: 'order' }])];
    expect(findingsOf(flows, ab).map(([level, path]) => [level, path])).toEqual([
      ['problem', 'current'],
      ['problem', 'current'],
    ]);
  });
});

describe('handlers in a circle', () => {
  const sentence = (names: string) =>
    `The error handlers handle each other in a circle (${names}); a handler must not come back to itself.`;

  it('are a problem of every task in the circle', () => {
    const tasks = [task('a', { error: 'b' }), task('b', { error: 'c' }), task('c', { error: 'b' })];
    expect(findingsOf([], tasks)).toEqual([
      ['problem', 'error', sentence('b -> c -> b')],
      ['problem', 'error', sentence('c -> b -> c')],
    ]);
  });

  // Shows E-14.
  it('are a problem of a task that handles itself', () => {
    expect(findingsOf([], [task('a', { error: 'a' })])).toEqual([
      ['problem', 'error', sentence('a -> a')],
    ]);
  });

  it('are a problem of the step that closes the circle', () => {
    const tasks = [task('a'), task('b', { error: 'a' })];
    expect(findingsOf([flow(['a', { task: 'a', name: 'z', error: 'b' }])], tasks)).toEqual([
      ['problem', 'tasks.sequence[1].error', sentence('a -> b -> a')],
    ]);
  });

  it('are followed through the definitions of the owner', () => {
    const tasks = [task('a', { error: 'b' }), task('b'), task('b', { owner: 'me', error: 'a' })];
    expect(findingsOf([], tasks)).toEqual([['problem', 'error', sentence('b -> a -> b')]]);
  });
});

describe('a flow that the engine would refuse for a circle', () => {
  it('never goes unnoticed', () => {
    const names = ['a', 'b', 'c', 'd'];
    const handlers = fc.array(fc.option(fc.constantFrom(...names), { nil: undefined }), {
      minLength: 9,
      maxLength: 9,
    });
    fc.assert(
      fc.property(handlers, (given) => {
        const tasks = names.map((name, i) => task(name, withError(given[i])));
        const entries = names.map((name, i) => ({ task: name, ...withError(given[i + 4]) }));
        const defined = flow(entries, withError(given[8]));
        const move = initialise(newJob(), t0, world({ flows: [defined], tasks }));
        const refused = JSON.stringify(move).includes('HandlerCycle');
        fc.pre(refused);
        expect(findingsOf([defined], tasks).map(([level]) => level)).toContain('problem');
      }),
    );
  });
});

const withError = (error: string | undefined) => (error === undefined ? {} : { error });

describe('two definitions with one key', () => {
  // Shows A-04.
  it('are a problem of both, which names both ids', () => {
    const flows = [
      { ...flow([]), _id: 'x' },
      { ...flow([]), _id: 'y' },
    ];
    const message =
      'Flow "f" of owner "DEFAULT" is defined by several documents without "version" (x, y); keep one, or give each a "version" of its own.';
    expect(checkDefinitions({ flows, tasks: [] })).toEqual([
      { kind: 'flow', id: 'x', name: 'f', path: 'version', message, level: 'problem' },
      { kind: 'flow', id: 'y', name: 'f', path: 'version', message, level: 'problem' },
    ]);
  });

  it('are found where the owner is written and where it is left out', () => {
    const tasks = [task('a', { owner: 'DEFAULT' }), task('a'), task('a', { owner: 'me' })];
    const message =
      'Task "a" of owner "DEFAULT" is defined by several documents (one without _id, one without _id); keep one.';
    expect(findingsOf([], tasks)).toEqual([
      ['problem', 'name', message],
      ['problem', 'name', message],
    ]);
  });
});

describe('parameters of a flow', () => {
  it.each<[title: string, params: Record<string, unknown>, path: string, message: string]>([
    [
      'for no step',
      { x: {} },
      'params.x',
      'params.x names no step of the flow, so nothing reads it.',
    ],
    [
      'for a position that another task has',
      { 'a-1': {} },
      'params.a-1',
      'params.a-1 names no step of the flow, so nothing reads it.',
    ],
    [
      'by the name of a step',
      { second: {} },
      'params.second',
      'params.second names no step of the flow, so nothing reads it. Parameters go by task: "b" or "b-1".',
    ],
    [
      'that are no object',
      { b: 'x' },
      'params.b',
      'params.b must be an object of parameters for that step, so nothing reads it.',
    ],
  ])('%s are a warning', (_title, params, path, message) => {
    const defined = flow(['a', { task: 'b', name: 'second' }], { params });
    expect(findingsOf([defined], ab)).toEqual([['warning', path, message]]);
  });

  it('may be for handlers, for handlers of handlers and for the cancel branch', () => {
    const tasks = [task('a'), task('h', { error: 'i' }), task('i'), task('c')];
    const defined = flow([{ task: 'a', error: 'h' }], {
      cancel: 'c',
      params: { h: {}, i: {}, c: {} },
    });
    expect(findingsOf([defined], tasks)).toEqual([]);
  });
});

describe('a step name that is used twice', () => {
  it.each<[title: string, flow: Flow, path: string, name: string]>([
    [
      'by two names',
      flow(
        [
          { task: 'a', name: 's' },
          { task: 'b', name: 's' },
        ],
        { output: 'results.s.n' },
      ),
      'name',
      's',
    ],
    [
      'by a name that is a task',
      flow(['a', { task: 'b', name: 'a' }], { output: 'results."a"' }),
      'name',
      'a',
    ],
    ['by one task twice', flow(['a', 'a'], { output: 'results.`a`' }), 'task', 'a'],
  ])('is a warning where its result is read by that name: %s', (_title, defined, key, name) => {
    const path = `tasks.sequence[1].${key}`;
    const message = `${path}: step 0 is named "${name}", too; results.${name} then means the later one.`;
    expect(findingsOf([defined], ab)).toEqual([['warning', path, message]]);
  });
});

describe('a step name that is used twice and never read', () => {
  it.each<[title: string, output: string]>([
    ['nothing', '1'],
    ['another name', 'results.ab.n + results.a-b'],
  ])('is no mistake where the flow reads %s', (_title, output) => {
    expect(findingsOf([flow(['a', 'a'], { output })], ab)).toEqual([]);
  });
});

describe('a flow that comes back to itself', () => {
  const to = (name: string) => ({ flow: name });
  it.each<[title: string, flows: readonly Flow[], notes: readonly [string, string][]]>([
    ['at once', [flow([to('f')])], [['tasks.sequence[0]', 'f -> f']]],
    [
      'by way of others',
      [
        flow(['a', to('g')]),
        flow([to('h'), to('loop')], { name: 'g' }),
        flow([to('f')], { name: 'h' }),
        flow([to('loop')], { name: 'loop' }),
      ],
      [
        ['tasks.sequence[1]', 'f -> g -> h -> f'],
        ['tasks.sequence[0]', 'g -> h -> f -> g'],
        ['tasks.sequence[0]', 'h -> f -> g -> h'],
        ['tasks.sequence[0]', 'loop -> loop'],
      ],
    ],
    ['by a task', [flow(['child'])], [['tasks.sequence[0]', 'f -> f']]],
    ['after a cancel', [flow(['a'], { cancel: [to('f')] })], [['cancel.sequence[0]', 'f -> f']]],
    ['not at all', [flow([to('g')]), flow([to('h')], { name: 'g' })], []],
  ])('is warned of: %s', (_title, flows, notes) => {
    const found = findingsOf(flows, [...ab, task('child', { flow: 'f' })]).filter(([, , message]) =>
      message.includes('starts the flow again'),
    );
    expect(found.map(([level, path, message]) => [level, path, message.split(/[()]/)[1]])).toEqual(
      notes.map(([path, names]) => ['warning', path, names]),
    );
  });

  it('is told that it may wait for itself', () => {
    const [found] = findingsOf([flow([to('f')], { max_running: 1 })], []);
    expect(found?.[2]).toContain('With "max_running" a job may even wait for a child job');
    const [other] = findingsOf([flow([to('f')], { concurrency: { limit: 1 } })], []);
    expect(other?.[2]).toContain('With "concurrency" a job may even wait for a child job');
  });
});

it('reads the name of each definition a few times, however many there are', () => {
  let reads = 0;
  const counted = <T extends Task | Flow>(one: T): T =>
    Object.defineProperty({ ...one }, 'name', {
      get: () => {
        reads += 1;
        return one.name;
      },
    });
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  const tasks = numbers.map((n) => counted(task(`t${n}`)));
  const flows = numbers.map((n) => counted(flow([`t${n}`], { name: `f${n}` })));
  expect(findingsOf(flows, tasks)).toEqual([]);
  expect(reads).toBeLessThan(20 * (tasks.length + flows.length));
});
