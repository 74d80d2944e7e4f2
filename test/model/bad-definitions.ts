/** A bad definition, and the one sentence that is said of it: `path` and what comes after it. */
export type BadDefinition = {
  readonly what: string;
  readonly doc: Doc;
  readonly path: string;
  readonly says: string;
};

type Doc = Readonly<Record<string, unknown>>;

const flow = (tasks: unknown, more: Doc = {}): Doc => ({
  ...{ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks },
  ...more,
});
const task = (more: Doc = {}): Doc => ({
  _id: 'task:me:a',
  type: 'task',
  name: 'a',
  owner: 'me',
  ...more,
});
const without = (doc: Doc, key: string): Doc => {
  const { [key]: _left, ...kept } = doc;
  return kept;
};
const given = (fields: Doc): Doc =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const graph = (b: Doc): Doc => ({ graph: { a: 'x', b: { task: 'y', ...b } } });
const map = (more: Doc = {}): Doc => ({ map: given({ over: 'x', do: 'a', ...more }) });
const loop = (more: Doc): Doc => ({ loop: given({ max: 5, do: 'a', ...more }) });
const caught = (clauses: unknown): Doc => ({ task: 'a', catch: clauses });
const clauses = 'must be a list of {errors, do, as}';
const nested = (depth: number): unknown => (depth === 0 ? 'a' : { sequence: [nested(depth - 1)] });
const listed = (depth: number): unknown => (depth === 0 ? 'a' : [listed(depth - 1)]);

const node =
  'must be a task name, an entry {task, …}, {wait}, {approve}, {delay}, {flow}, {decider}, {finish} or a structure (sequence, parallel, batch, graph, choice, map, loop, catch)';
const number = 'must be a duration in milliseconds (a whole number, 0 or more)';
const duration =
  'must be a duration: milliseconds (a whole number, 0 or more), or a text such as "30s", "500ms" or "PT30S"';
const tree = 'must be a list of steps or a structure such as {"sequence": […]}';

type Row = readonly [what: string, doc: Doc, path: string, says: string];

const limit = 'must be a whole number from 1 to 100000';
const per = 'must be a duration of at least 1 ms: milliseconds, or a text such as "1s"';

const groups: Readonly<Record<string, readonly Row[]>> = {
  'the rate of a task': [
    [
      'is a text',
      task({ rate: '5/s' }),
      'rate',
      'must be {limit, per}, with key and name if wanted; it is the string "5/s".',
    ],
    ['is of nothing', task({ rate: { limit: 0, per: 1 } }), 'rate.limit', `${limit}; it is 0.`],
    ['has no window', task({ rate: { limit: 1 } }), 'rate.per', `is missing; it ${per}.`],
    [
      'has a window without length',
      task({ rate: { limit: 1, per: 0 } }),
      'rate.per',
      `${per}; it is 0.`,
    ],
    [
      'has a number as its key',
      task({ rate: { limit: 1, per: 1, key: 5 } }),
      'rate.key',
      'must be a JSONata expression (a string); it is a number.',
    ],
  ],
  'the rate of a flow': [
    [
      'has a window in words',
      flow(['a'], { rate: { limit: 1, per: 'soon' } }),
      'rate.per',
      `${per}; it is the string "soon".`,
    ],
  ],
  'the tasks of a flow': [
    ['are missing', without(flow([]), 'tasks'), 'tasks', `is missing; it ${tree}.`],
    ['are null', flow(null), 'tasks', `${tree}; it is null.`],
    ['are a text', flow('a'), 'tasks', `${tree}; it is the string "a".`],
    [
      'are an entry without a list around it',
      flow({ task: 'a' }),
      'tasks',
      `${tree}; it is an object with the key "task".`,
    ],
    ['are an empty object', flow({}), 'tasks', `${tree}; it is an object without keys.`],
    [
      'have a mistyped kind',
      flow({ sequense: ['a'] }),
      'tasks',
      `${tree}; it is an object with the key "sequense".`,
    ],
    [
      'are nested too deep',
      flow(nested(25)),
      `tasks${'.sequence[0]'.repeat(24)}`,
      'must not be nested deeper than 24 structures.',
    ],
    [
      'are lists in lists, too deep',
      flow(listed(25)),
      `tasks${'[0]'.repeat(24)}`,
      'must not be nested deeper than 24 structures.',
    ],
    [
      'are deeper than anything walks',
      flow(nested(250)),
      'tasks',
      'is nested deeper than 200 levels.',
    ],
  ],
  'a sequence': [
    [
      'is a text',
      flow({ sequence: 'a' }),
      'tasks.sequence',
      'must be a list of steps; it is the string "a".',
    ],
    [
      'is an object',
      flow({ sequence: { a: 1 } }),
      'tasks.sequence',
      'must be a list of steps; it is an object with the key "a".',
    ],
    [
      'has the word of another structure',
      flow({ structure: 'parallel', sequence: ['a'] }),
      'tasks.structure',
      'must be "sequence", as the key beside it; it is the string "parallel".',
    ],
    ['has a step that is null', flow(['a', null]), 'tasks[1]', `${node}; it is null.`],
    ['has a step that is a number', flow([3]), 'tasks[0]', `${node}; it is 3.`],
    [
      'has a step without a kind',
      flow([{ name: 'x', retry: -1 }]),
      'tasks[0]',
      `${node}; it is an object with the keys "name", "retry".`,
    ],
    [
      'has a step with a mistyped kind',
      flow([{ taks: 'a' }]),
      'tasks[0]',
      `${node}; it is an object with the key "taks".`,
    ],
    [
      'has an error handler of its own',
      flow({ sequence: ['a'], error: 'h' }),
      'tasks.error',
      'must stand in an entry: "sequence" does not read it.',
    ],
    [
      'has an undo',
      flow([{ sequence: ['a'], undo: 'h' }]),
      'tasks[0].undo',
      'must stand in an entry: "sequence" does not read it.',
    ],
    [
      'has on_fail',
      flow([{ sequence: ['a'], on_fail: 'ignore' }]),
      'tasks[0].on_fail',
      'must stand beside "parallel", "batch" or "graph", or inside "map": nothing else reads it.',
    ],
  ],
  'a structure': [
    [
      'bears an unknown word',
      flow([{ structure: 'fork', fork: ['a'] }]),
      'tasks[0].structure',
      'must be "sequence", "parallel", "batch", "graph", "choice", "map", "loop" or "catch"; it is the string "fork".',
    ],
    [
      'is only named',
      flow([{ structure: 'parallel' }]),
      'tasks[0].parallel',
      'is missing; it must be a list of steps.',
    ],
    [
      'is two at once',
      flow([{ sequence: ['a'], parallel: ['b'] }]),
      'tasks[0].parallel',
      'must not stand beside "sequence" in one node.',
    ],
    [
      'stands in an entry',
      flow([{ task: 'a', parallel: ['b'] }]),
      'tasks[0].parallel',
      'must not stand beside "task" in one node.',
    ],
    [
      'is named in an entry',
      flow([{ task: 'a', structure: 'sequence' }]),
      'tasks[0].structure',
      'must not stand beside "task" in one node.',
    ],
    [
      'has its keys beside its word',
      flow([{ structure: 'map', over: 'x', do: 'a' }]),
      'tasks[0].map',
      'is missing; it must be {over, do, as, limit, slice, tolerate}.',
    ],
  ],
  'the name of a task': [
    ['is empty', flow(['']), 'tasks[0]', 'must be a name, not empty; it is an empty string.'],
    ['is blank', flow([' ']), 'tasks[0]', 'must be a name, not empty; it is the string " ".'],
    [
      'begins with $$',
      flow(['$$a']),
      'tasks[0]',
      'must be a name that does not begin with "$$"; it is the string "$$a".',
    ],
    [
      'has "::" in it',
      flow(['a::b']),
      'tasks[0]',
      'must be a name without "::"; it is the string "a::b".',
    ],
    [
      'is __proto__',
      flow(['__proto__']),
      'tasks[0]',
      'must be a name, which "__proto__" cannot be; it is the string "__proto__".',
    ],
    [
      'has two lines',
      flow(['a\nb']),
      'tasks[0]',
      `must be a name of one line; it is the string "a\\nb".`,
    ],
    ['is a number', flow([{ task: 7 }]), 'tasks[0].task', 'must be a name (a string); it is 7.'],
  ],
  'an entry': [
    [
      'has a list of params',
      flow([{ task: 'a', params: [] }]),
      'tasks[0].params',
      'must be an object of parameters; it is an empty list.',
    ],
    [
      'has a text as params',
      flow([{ task: 'a', params: 'x' }]),
      'tasks[0].params',
      'must be an object of parameters; it is a string.',
    ],
    [
      'maps from a list',
      flow([{ task: 'a', stdio: ['x'] }]),
      'tasks[0].stdio',
      'must be an object {"key of the result before": "path in params"}; it is a list.',
    ],
    [
      'maps to a number',
      flow([{ task: 'a', stdio: { a: 1 } }]),
      'tasks[0].stdio.a',
      'must be a string; it is 1.',
    ],
    [
      'has a when that is no text',
      flow([{ task: 'a', when: true }]),
      'tasks[0].when',
      'must be a JSONata condition (a string); it is true.',
    ],
    [
      'is optional by a word',
      flow([{ task: 'a', optional: 'yes' }]),
      'tasks[0].optional',
      'must be true or false; it is the string "yes".',
    ],
    [
      'has a negative timeout',
      flow([{ task: 'a', timeout: -5 }]),
      'tasks[0].timeout',
      `${duration}; it is -5.`,
    ],
    [
      'has a timeout in words',
      flow([{ task: 'a', timeout: '5 sec' }]),
      'tasks[0].timeout',
      `${duration}; it is the string "5 sec".`,
    ],
    [
      'has a heartbeat that is true',
      flow([{ task: 'a', heartbeat: true }]),
      'tasks[0].heartbeat',
      `${duration}; it is true.`,
    ],
    [
      'has a handler that is an object',
      flow([{ task: 'a', error: { name: 'x' } }]),
      'tasks[0].error',
      'must be a name (a string); it is an object with the key "name".',
    ],
    [
      'has an undo that is a list',
      flow([{ task: 'a', undo: ['b'] }]),
      'tasks[0].undo',
      'must be a name (a string); it is a list.',
    ],
    [
      'has an undo without a name',
      flow([{ task: 'a', undo: '' }]),
      'tasks[0].undo',
      'must be a name, not empty; it is an empty string.',
    ],
    [
      'has after outside of a graph',
      flow(['a', { task: 'b', after: ['a'] }]),
      'tasks[1].after',
      'must stand in a node of a "graph": nothing else reads it.',
    ],
    [
      'has a callback of a batch',
      flow([{ task: 'a', on_failure: 'h' }]),
      'tasks[0].on_failure',
      'must stand beside "batch": nothing else reads it.',
    ],
    [
      'has a join',
      flow([{ task: 'a', join: 'any' }]),
      'tasks[0].join',
      'must stand beside "parallel", or in a node of a "graph": nothing else reads it.',
    ],
  ],
  guards: [
    [
      'are a number',
      flow([{ task: 'a', guards: 5 }]),
      'tasks[0].guards',
      'must be a condition or a list of conditions; it is 5.',
    ],
    [
      'have a number among them',
      flow([{ task: 'a', guards: ['true', 5] }]),
      'tasks[0].guards[1]',
      'must be a JSONata condition (a string); it is 5.',
    ],
    [
      'of a structure are an object',
      flow([{ parallel: ['a'], guards: { x: 1 } }]),
      'tasks[0].guards',
      'must be a condition or a list of conditions; it is an object with the key "x".',
    ],
  ],
  'a retry': [
    [
      'is negative',
      flow([{ task: 'a', retry: -1 }]),
      'tasks[0].retry',
      'must be a number of retries (a whole number, 0 or more); it is -1.',
    ],
    [
      'is no whole number',
      flow([{ task: 'a', retry: 1.5 }]),
      'tasks[0].retry',
      'must be a number of retries (0 or more) or a retry policy {limit, delay, factor, …}; it is 1.5.',
    ],
    [
      'is a word',
      flow([{ task: 'a', retry: 'often' }]),
      'tasks[0].retry',
      'must be a number of retries (0 or more) or a retry policy {limit, delay, factor, …}; it is the string "often".',
    ],
    [
      'of a structure',
      flow([{ parallel: ['a'], retry: 3 }]),
      'tasks[0].retry',
      'must stand in an entry: "parallel" does not read it.',
    ],
    [
      'has a negative limit',
      flow([{ task: 'a', retry: { limit: -1 } }]),
      'tasks[0].retry.limit',
      'must be a number of retries (a whole number, 0 or more); it is -1.',
    ],
    [
      'has a delay in words',
      flow([{ task: 'a', retry: { limit: 1, delay: '1 sec' } }]),
      'tasks[0].retry.delay',
      `${duration}; it is the string "1 sec".`,
    ],
    [
      'has a factor below 1',
      flow([{ task: 'a', retry: { limit: 1, factor: 0.5 } }]),
      'tasks[0].retry.factor',
      'must be a number, 1 or more; it is 0.5.',
    ],
    [
      'has a negative max',
      flow([{ task: 'a', retry: { max: -1 } }]),
      'tasks[0].retry.max',
      `${duration}; it is -1.`,
    ],
    [
      'has a jitter above 1',
      flow([{ task: 'a', retry: { jitter: 2 } }]),
      'tasks[0].retry.jitter',
      'must be true, false or a share from 0 to 1; it is 2.',
    ],
    [
      'has a jitter that is a word',
      flow([{ task: 'a', retry: { jitter: 'x' } }]),
      'tasks[0].retry.jitter',
      'must be true, false or a share from 0 to 1; it is the string "x".',
    ],
    [
      'has a total with a fraction',
      flow([{ task: 'a', retry: { total: 1.5 } }]),
      'tasks[0].retry.total',
      `${duration}; it is 1.5.`,
    ],
    [
      'has a text in on',
      flow([{ task: 'a', retry: { on: 'X' } }]),
      'tasks[0].retry.on',
      'must be a list of strings; it is the string "X".',
    ],
    [
      'has a number in never',
      flow([{ task: 'a', retry: { never: [1] } }]),
      'tasks[0].retry.never[0]',
      'must be a string; it is 1.',
    ],
    [
      'of a flow is a word',
      flow(['a'], { retry: 'x' }),
      'retry',
      'must be a number of retries (0 or more) or a retry policy {limit, delay, factor, …}; it is the string "x".',
    ],
    [
      'of a task has a word as limit',
      task({ retry: { limit: 'x' } }),
      'retry.limit',
      'must be a number of retries (a whole number, 0 or more); it is the string "x".',
    ],
  ],
  'a parallel': [
    [
      'is a text',
      flow([{ parallel: 'a' }]),
      'tasks[0].parallel',
      'must be a list of steps; it is the string "a".',
    ],
    [
      'joins by an unknown word',
      flow([{ parallel: ['a'], join: 'most' }]),
      'tasks[0].join',
      'must be "all", "any" or a number of nodes (1 or more); it is the string "most".',
    ],
    [
      'joins none',
      flow([{ parallel: ['a'], join: 0 }]),
      'tasks[0].join',
      'must be "all", "any" or a number of nodes (1 or more); it is 0.',
    ],
    [
      'joins more than there are',
      flow([{ parallel: ['a', 'b'], join: 3 }]),
      'tasks[0].join',
      'must be at most 2, the number of nodes in "parallel"; it is 3.',
    ],
    [
      'joins one and a half',
      flow([{ parallel: ['a', 'b'], join: 1.5 }]),
      'tasks[0].join',
      'must be "all", "any" or a number of nodes (1 or more); it is 1.5.',
    ],
    [
      'joins as only a graph does',
      flow([{ parallel: ['a', 'b'], join: 'done' }]),
      'tasks[0].join',
      'must be "all", "any" or a number of nodes (1 or more); it is the string "done".',
    ],
    [
      'has an unknown on_fail',
      flow([{ parallel: ['a'], on_fail: 'stop' }]),
      'tasks[0].on_fail',
      'must be "wait", "cancel_rest" or "ignore"; it is the string "stop".',
    ],
    [
      'has cancel_rest by a word',
      flow([{ parallel: ['a'], cancel_rest: 'yes' }]),
      'tasks[0].cancel_rest',
      'must be true or false; it is the string "yes".',
    ],
    [
      'has a bad node',
      flow([{ parallel: ['a', { task: 5 }] }]),
      'tasks[0].parallel[1].task',
      'must be a name (a string); it is 5.',
    ],
    [
      'has parameters',
      flow([{ parallel: ['a'], params: {} }]),
      'tasks[0].params',
      'must stand in an entry: "parallel" does not read it.',
    ],
    [
      'has a timeout',
      flow([{ parallel: ['a'], timeout: 3 }]),
      'tasks[0].timeout',
      'must stand in an entry: "parallel" does not read it.',
    ],
    [
      'has a callback of a batch',
      flow([{ parallel: ['a'], on_failure: 'x' }]),
      'tasks[0].on_failure',
      'must stand beside "batch": nothing else reads it.',
    ],
  ],
  'a batch': [
    [
      'has no callback',
      flow([{ batch: ['a'] }]),
      'tasks[0].batch',
      'must have a callback beside it: "on_complete", "on_success" or "on_failure" (without one, write "parallel").',
    ],
    [
      'has a mistyped callback',
      flow([{ batch: ['a'], on_succes: 'x' }]),
      'tasks[0].batch',
      'must have a callback beside it: "on_complete", "on_success" or "on_failure" (without one, write "parallel").',
    ],
    [
      'is a text',
      flow([{ batch: 'a', on_complete: 'x' }]),
      'tasks[0].batch',
      'must be a list of steps; it is the string "a".',
    ],
    [
      'has a callback that is a number',
      flow([{ batch: ['a'], on_complete: 5 }]),
      'tasks[0].on_complete',
      `${node}; it is 5.`,
    ],
    [
      'has a callback without a kind',
      flow([{ batch: ['a'], on_success: { name: 'x' } }]),
      'tasks[0].on_success',
      `${node}; it is an object with the key "name".`,
    ],
    [
      'has an unknown on_fail',
      flow([{ batch: ['a'], on_success: 'x', on_fail: 'x' }]),
      'tasks[0].on_fail',
      'must be "wait", "cancel_rest" or "ignore"; it is the string "x".',
    ],
    [
      'has a join',
      flow([{ batch: ['a', 'b'], on_complete: 'x', join: 'any' }]),
      'tasks[0].join',
      'must stand beside "parallel", or in a node of a "graph": nothing else reads it.',
    ],
  ],
  'a graph': [
    [
      'is a list',
      flow([{ graph: ['a'] }]),
      'tasks[0].graph',
      'must be an object {name: node with "after"}; it is a list.',
    ],
    [
      'is null',
      flow([{ graph: null }]),
      'tasks[0].graph',
      'must be an object {name: node with "after"}; it is null.',
    ],
    [
      'has a name with a point',
      flow([{ graph: { 'a.b': 'x' } }]),
      'tasks[0].graph["a.b"]',
      'must have a name without "." that is neither "error" nor "undo".',
    ],
    [
      'has a name that paths of handlers have',
      flow([{ graph: { error: 'x' } }]),
      'tasks[0].graph.error',
      'must have a name without "." that is neither "error" nor "undo".',
    ],
    [
      'has a node that is a number',
      flow([{ graph: { a: 5 } }]),
      'tasks[0].graph.a',
      `${node}; it is 5.`,
    ],
    [
      'has a node without a kind',
      flow([{ graph: { a: { after: [] } } }]),
      'tasks[0].graph.a',
      `${node}; it is an object with the key "after".`,
    ],
    [
      'has an unknown name in after',
      flow(graph({ after: ['c'] })),
      'tasks.graph.b.after[0]',
      'must name a node of this graph (a, b); it is the string "c".',
    ],
    [
      'has a name twice in after',
      flow(graph({ after: ['a', 'a'] })),
      'tasks.graph.b.after[1]',
      'must name each node once: a stands there twice.',
    ],
    [
      'has after as a text',
      flow(graph({ after: 'a' })),
      'tasks.graph.b.after',
      'must be a list of names of nodes of this graph; it is the string "a".',
    ],
    [
      'has a number in after',
      flow(graph({ after: [1] })),
      'tasks.graph.b.after[0]',
      'must be the name of a node of this graph; it is 1.',
    ],
    [
      'has a node after itself',
      flow(graph({ after: ['b'] })),
      'tasks.graph.b.after[0]',
      'must name another node than b itself.',
    ],
    [
      'goes in a circle',
      flow({
        graph: {
          a: { task: 'x', after: ['c'] },
          b: { task: 'x', after: ['a'] },
          c: { task: 'x', after: ['b'] },
        },
      }),
      'tasks.graph',
      'must have no circle: a after c after b after a.',
    ],
    [
      'joins by an unknown word',
      flow(graph({ after: ['a'], join: 'some' })),
      'tasks.graph.b.join',
      'must be "all", "any", "done", "none_failed" or a number of nodes (1 or more); it is the string "some".',
    ],
    [
      'joins none',
      flow(graph({ after: ['a'], join: 0 })),
      'tasks.graph.b.join',
      'must be "all", "any", "done", "none_failed" or a number of nodes (1 or more); it is 0.',
    ],
    [
      'joins more than after has',
      flow(graph({ after: ['a'], join: 2 })),
      'tasks.graph.b.join',
      'must be at most 1, the number of nodes in "after"; it is 2.',
    ],
    [
      'joins more than a parallel in it has',
      flow({ graph: { a: 'x', b: { parallel: ['y'], after: ['a'], join: 5 } } }),
      'tasks.graph.b.join',
      'must be at most 1, the number of nodes in "parallel"; it is 5.',
    ],
    [
      'has an unknown on_fail',
      flow([{ graph: { a: 'x' }, on_fail: 'no' }]),
      'tasks[0].on_fail',
      'must be "wait", "cancel_rest" or "ignore"; it is the string "no".',
    ],
    [
      'has cancel_rest as a number',
      flow(graph({ after: ['a'], cancel_rest: 1 })),
      'tasks.graph.b.cancel_rest',
      'must be true or false; it is 1.',
    ],
  ],
  'a choice': [
    [
      'is no list',
      flow([{ choice: { when: 'x', then: 'a' } }]),
      'tasks[0].choice',
      'must be a list of {when, then}; it is an object with the keys "when", "then".',
    ],
    [
      'is empty',
      flow([{ choice: [] }]),
      'tasks[0].choice',
      'must have at least one {when, then}, or a "default" beside it.',
    ],
    [
      'has a case without when',
      flow([{ choice: [{ then: 'a' }] }]),
      'tasks[0].choice[0].when',
      'is missing; it must be a JSONata condition (a string).',
    ],
    [
      'has a case without then',
      flow([{ choice: [{ when: 'x' }] }]),
      'tasks[0].choice[0].then',
      `is missing; it ${node}.`,
    ],
    [
      'has a when that is true',
      flow([{ choice: [{ when: true, then: 'a' }] }]),
      'tasks[0].choice[0].when',
      'must be a JSONata condition (a string); it is true.',
    ],
    [
      'has a then that is a number',
      flow([{ choice: [{ when: 'x', then: 5 }] }]),
      'tasks[0].choice[0].then',
      `${node}; it is 5.`,
    ],
    [
      'has a case that is a text',
      flow([{ choice: ['a'] }]),
      'tasks[0].choice[0]',
      'must be {when: condition, then: node}; it is the string "a".',
    ],
    [
      'has a default that is null',
      flow([{ choice: [{ when: 'x', then: 'a' }], default: null }]),
      'tasks[0].default',
      `${node}; it is null.`,
    ],
  ],
  'a map': [
    [
      'is a text',
      flow([{ map: 'a' }]),
      'tasks[0].map',
      'must be {over, do, as, limit, slice, tolerate}; it is the string "a".',
    ],
    [
      'is a list',
      flow([{ map: ['a'] }]),
      'tasks[0].map',
      'must be {over, do, as, limit, slice, tolerate}; it is a list.',
    ],
    [
      'has nothing to go over',
      flow([map({ over: undefined })]),
      'tasks[0].map.over',
      'is missing; it must be a JSONata expression (a string) or a list.',
    ],
    [
      'has nothing to do',
      flow([map({ do: undefined })]),
      'tasks[0].map.do',
      `is missing; it ${node}.`,
    ],
    [
      'goes over a number',
      flow([map({ over: 5 })]),
      'tasks[0].map.over',
      'must be a JSONata expression (a string) or a list; it is 5.',
    ],
    [
      'goes over an object',
      flow([map({ over: {} })]),
      'tasks[0].map.over',
      'must be a JSONata expression (a string) or a list; it is an object without keys.',
    ],
    [
      'names its items by a number',
      flow([map({ as: 5 })]),
      'tasks[0].map.as',
      'must be a name (a string); it is 5.',
    ],
    [
      'names its items by nothing',
      flow([map({ as: '' })]),
      'tasks[0].map.as',
      'must be a name, not empty; it is an empty string.',
    ],
    [
      'names its items as the results are named',
      flow([map({ as: 'results' })]),
      'tasks[0].map.as',
      'must be another name: templates see something else as results.',
    ],
    [
      'names its items as their number is named',
      flow([map({ as: 'index' })]),
      'tasks[0].map.as',
      'must be another name: templates see something else as index.',
    ],
    [
      'has a negative limit',
      flow([map({ limit: -1 })]),
      'tasks[0].map.limit',
      'must be a number of items at a time (0 = as many as may be); it is -1.',
    ],
    [
      'has a word as limit',
      flow([map({ limit: 'all' })]),
      'tasks[0].map.limit',
      'must be a number of items at a time (0 = as many as may be); it is the string "all".',
    ],
    [
      'has its limit beside it',
      flow([{ ...map(), limit: 5 }]),
      'tasks[0].limit',
      'must stand inside "map", not beside it.',
    ],
    [
      'has slices of nothing',
      flow([map({ slice: 0 })]),
      'tasks[0].map.slice',
      'must be a number of items for each child job (a whole number, 1 or more); it is 0.',
    ],
    [
      'has slices of one and a half',
      flow([map({ slice: 1.5 })]),
      'tasks[0].map.slice',
      'must be a number of items for each child job (a whole number, 1 or more); it is 1.5.',
    ],
    [
      'has a word as slice',
      flow([map({ slice: 'all' })]),
      'tasks[0].map.slice',
      'must be a number of items for each child job (a whole number, 1 or more); it is the string "all".',
    ],
    [
      'has its slice beside it',
      flow([{ ...map(), slice: 5 }]),
      'tasks[0].slice',
      'must stand inside "map", not beside it.',
    ],
    [
      'tolerates less than none',
      flow([map({ tolerate: -1 })]),
      'tasks[0].map.tolerate',
      'must be a number of items, or a share such as "10%"; it is -1.',
    ],
    [
      'tolerates half an item',
      flow([map({ tolerate: 1.5 })]),
      'tasks[0].map.tolerate',
      'must be a number of items, or a share such as "10%"; it is 1.5.',
    ],
    [
      'tolerates more than all',
      flow([map({ tolerate: '200%' })]),
      'tasks[0].map.tolerate',
      'must be a number of items, or a share such as "10%"; it is the string "200%".',
    ],
    [
      'tolerates by a flag',
      flow([map({ tolerate: true })]),
      'tasks[0].map.tolerate',
      'must be a number of items, or a share such as "10%"; it is true.',
    ],
    [
      'has an unknown on_fail',
      flow([map({ on_fail: 'x' })]),
      'tasks[0].map.on_fail',
      'must be "wait", "cancel_rest" or "ignore"; it is the string "x".',
    ],
    ['does a number', flow([map({ do: 5 })]), 'tasks[0].map.do', `${node}; it is 5.`],
    [
      'does a task without a name',
      flow([map({ do: { task: '' } })]),
      'tasks[0].map.do.task',
      'must be a name, not empty; it is an empty string.',
    ],
  ],
  'a loop': [
    [
      'is a text',
      flow([{ loop: 'a' }]),
      'tasks[0].loop',
      'must be {while, max, do}; it is the string "a".',
    ],
    [
      'has no bound',
      flow([loop({ max: undefined })]),
      'tasks[0].loop.max',
      'is missing; it must be the most rounds the loop may take (1 to 10000).',
    ],
    [
      'has no round',
      flow([loop({ max: 0 })]),
      'tasks[0].loop.max',
      'must be the most rounds the loop may take (1 to 10000); it is 0.',
    ],
    [
      'has too many rounds',
      flow([loop({ max: 100_000 })]),
      'tasks[0].loop.max',
      'must be the most rounds the loop may take (1 to 10000); it is 100000.',
    ],
    [
      'has nothing to do',
      flow([loop({ do: undefined })]),
      'tasks[0].loop.do',
      `is missing; it ${node}.`,
    ],
    [
      'has a while that is true',
      flow([loop({ while: true })]),
      'tasks[0].loop.while',
      'must be a JSONata condition (a string); it is true.',
    ],
    ['does a number', flow([loop({ do: 7 })]), 'tasks[0].loop.do', `${node}; it is 7.`],
    [
      'has its bound beside it',
      flow([{ loop: { max: 5, do: 'a' }, max: 5 }]),
      'tasks[0].max',
      'must stand inside "loop", not beside it.',
    ],
  ],
  'a finish': [
    [
      'is false',
      flow([{ finish: false }]),
      'tasks[0].finish',
      'must be true or {result, exit}; it is false.',
    ],
    [
      'has an exit that is none',
      flow([{ finish: { exit: 256 } }]),
      'tasks[0].finish.exit',
      'must be an exit code (a whole number, 0 to 255); it is 256.',
    ],
  ],
  'a catch': [
    ['is a task', flow([caught('b')]), 'tasks[0].catch', `${clauses}; it is the string "b".`],
    [
      'is empty',
      flow([caught([])]),
      'tasks[0].catch',
      'must have at least one {errors, do, as}; it is an empty list.',
    ],
    [
      'does nothing that is known',
      flow([caught([{ errors: ['E'] }])]),
      'tasks[0].catch[0].do',
      `is missing; it ${node}.`,
    ],
    [
      'is for one name without a list',
      flow([caught([{ errors: 'E', do: 'b' }])]),
      'tasks[0].catch[0].errors',
      'must be "*" or a list of names or codes of failures; it is the string "E".',
    ],
    [
      'has a clause behind one for every failure',
      flow([{ sequence: ['a'], catch: [{ do: 'b' }, { errors: ['E'], do: 'c' }] }]),
      'tasks[0].catch[0]',
      'must have "errors", or be the last one: it catches every failure.',
    ],
    [
      'tries nothing',
      flow([{ try: 'a' }]),
      'tasks[0]',
      `${node}; it is an object with the key "try".`,
    ],
  ],
  'a wait': [
    [
      'is a text',
      flow([{ wait: 's' }]),
      'tasks[0].wait',
      'must be {"signal": name}, {"event": type, "key": text} or {"form": schema}; it is the string "s".',
    ],
    [
      'is for nothing',
      flow([{ wait: {} }]),
      'tasks[0].wait',
      'must be {"signal": name}, {"event": type, "key": text} or {"form": schema}; it is an object without keys.',
    ],
    [
      'is for a mistyped signal',
      flow([{ wait: { signl: 's' } }]),
      'tasks[0].wait',
      'must be {"signal": name}, {"event": type, "key": text} or {"form": schema}; it is an object with the key "signl".',
    ],
    [
      'is for a signal and an event',
      flow([{ wait: { signal: 's', event: 'e' } }]),
      'tasks[0].wait',
      'must be {"signal": name}, {"event": type, "key": text} or {"form": schema}; it is an object with the keys "signal", "event".',
    ],
    [
      'is for a signal that is a number',
      flow([{ wait: { signal: 5 } }]),
      'tasks[0].wait.signal',
      'must be a name (a string); it is 5.',
    ],
    [
      'is for an event without a name',
      flow([{ wait: { event: '' } }]),
      'tasks[0].wait.event',
      'must be a name, not empty; it is an empty string.',
    ],
    [
      'has a key that is a number',
      flow([{ wait: { event: 'e', key: 5 } }]),
      'tasks[0].wait.key',
      'must be a string; it is a number.',
    ],
    [
      'is for a signal with a key',
      flow([{ wait: { signal: 's', key: 'k' } }]),
      'tasks[0].wait.key',
      'must not stand beside "signal": only events have a key.',
    ],
    [
      'is for a signal with a match',
      flow([{ wait: { signal: 's', match: 'true' } }]),
      'tasks[0].wait.match',
      'must not stand beside "signal": write "schema" to refuse signals.',
    ],
    [
      'has a match that is a truth',
      flow([{ wait: { event: 'e', match: true } }]),
      'tasks[0].wait.match',
      'must be a JSONata expression (a string); it is true.',
    ],
    [
      'is for an event and has an answer',
      flow([{ wait: { event: 'e', answer: 'data' } }]),
      'tasks[0].wait.answer',
      'must not stand beside "event": only the sender of a signal is answered.',
    ],
    [
      'is for people and has a schema',
      flow([{ wait: { form: {}, schema: {} } }]),
      'tasks[0].wait.schema',
      'must not stand beside "form", which is the schema of the answer.',
    ],
    [
      'asks nobody and has a title',
      flow([{ wait: { signal: 's', title: 'T' } }]),
      'tasks[0].wait.title',
      'must stand beside "form": people fill that in.',
    ],
    [
      'has a form that is no object',
      flow([{ wait: { form: { type: 'array' } } }]),
      'tasks[0].wait.form',
      'must be a JSON Schema of an object.',
    ],
    [
      'has a field that the engine fills',
      flow([{ wait: { form: { properties: { by: {} } } } }]),
      'tasks[0].wait.form.properties.by',
      'must not be there: "by" of an answer says who answered.',
    ],
    [
      'is for a list of nobody',
      flow([{ wait: { form: {}, assignee: [] } }]),
      'tasks[0].wait.assignee',
      'must be a name, or a list of names; it is an empty list.',
    ],
    [
      'reminds too often',
      flow([{ wait: { form: {}, remind: Array.from({ length: 101 }, (_, i) => i) } }]),
      'tasks[0].wait.remind',
      'must be at most 100 reminders; it is a list.',
    ],
    [
      'reminds before a due that there is not',
      flow([{ wait: { form: {}, remind: { before_due: 5 } } }]),
      'tasks[0].wait.remind',
      'must not have "before_due" where there is no "due".',
    ],
    [
      'escalates to nobody',
      flow([{ wait: { form: {}, escalate: { after: 5 } } }]),
      'tasks[0].wait.escalate',
      'must name an "assignee" or a "group".',
    ],
    [
      'is an approval that escalates to nobody',
      flow([{ approve: { escalate: { after: 5 } } }]),
      'tasks[0].approve.escalate',
      'must name an "assignee" or a "group".',
    ],
    [
      'has a timeout in words',
      flow([{ wait: { signal: 's', timeout: '1 day' } }]),
      'tasks[0].wait.timeout',
      `${duration}; it is the string "1 day".`,
    ],
    [
      'has a delay beside it',
      flow([{ wait: { signal: 's' }, delay: 5 }]),
      'tasks[0].delay',
      'must not stand beside "wait" in one node.',
    ],
    [
      'has a task beside it',
      flow([{ wait: { signal: 's' }, task: 'a' }]),
      'tasks[0].task',
      'must not stand beside "wait" in one node; it is the string "a".',
    ],
  ],
  'a delay': [
    ['is negative', flow([{ delay: -5 }]), 'tasks[0].delay', `${number}; it is -5.`],
    [
      'is a word',
      flow([{ delay: 'soon' }]),
      'tasks[0].delay',
      'must be milliseconds, a duration ("30s"), or a time (ISO 8601 with a zone, or a template); it is the string "soon".',
    ],
    [
      'is empty',
      flow([{ delay: '' }]),
      'tasks[0].delay',
      'must be milliseconds, a duration ("30s"), or a time (ISO 8601 with a zone, or a template); it is an empty string.',
    ],
    [
      'is a time without a zone',
      flow([{ delay: '2030-01-01T08:00:00' }]),
      'tasks[0].delay',
      'must be milliseconds, a duration ("30s"), or a time (ISO 8601 with a zone, or a template); it is the string "2030-01-01T08:00:00".',
    ],
    [
      'is a flag',
      flow([{ delay: true }]),
      'tasks[0].delay',
      'must be milliseconds, a duration ("30s"), or a time (ISO 8601 with a zone, or a template); it is true.',
    ],
  ],
  'a decider': [
    [
      'is a number',
      flow([{ decider: 5 }]),
      'tasks[0].decider',
      'must be a name (a string); it is 5.',
    ],
    [
      'has no name',
      flow([{ decider: '' }]),
      'tasks[0].decider',
      'must be a name, not empty; it is an empty string.',
    ],
    [
      'has another task beside it',
      flow([{ decider: 'd', task: 'a' }]),
      'tasks[0].task',
      'must not stand beside "decider" in one node; it is the string "a".',
    ],
  ],
  'a child flow': [
    ['is a number', flow([{ flow: 5 }]), 'tasks[0].flow', 'must be a name (a string); it is 5.'],
    [
      'is an object',
      flow([{ flow: { name: 'x' } }]),
      'tasks[0].flow',
      'must be a name (a string); it is an object with the key "name".',
    ],
    [
      'has a task beside it',
      flow([{ flow: 'b', task: 'a' }]),
      'tasks[0].task',
      'must not stand beside "flow" in one node; it is the string "a".',
    ],
    [
      'has params that are a number',
      flow([{ flow: 'x', params: 5 }]),
      'tasks[0].params',
      'must be an object of parameters; it is a number.',
    ],
    [
      'has a plugin beside it in a task',
      task({ flow: 'f', plugin: 'p' }),
      'plugin',
      'must not stand beside "flow": a task runs a plugin or a flow.',
    ],
    [
      'of a task is a list',
      task({ flow: [] }),
      'flow',
      'must be a name (a string); it is an empty list.',
    ],
  ],
  'a flow': [
    ['has no name', without(flow(['a']), 'name'), 'name', 'is missing.'],
    ['has no owner', without(flow(['a']), 'owner'), 'owner', 'is missing.'],
    [
      'has an owner without letters',
      flow(['a'], { owner: '' }),
      'owner',
      'must be a name, not empty; it is an empty string.',
    ],
    [
      'has a list of params',
      flow(['a'], { params: [] }),
      'params',
      'must be an object of parameters; it is an empty list.',
    ],
    [
      'has a handler that is a number',
      flow(['a'], { error: 5 }),
      'error',
      'must be a task name, {name, params}, an entry or a structure; it is 5.',
    ],
    [
      'has a handler without a name',
      flow(['a'], { error: {} }),
      'error',
      'must be a task name, {name, params}, an entry or a structure; it is an object without keys.',
    ],
    [
      'has a handler with bad params',
      flow(['a'], { error: { name: 'x', params: 5 } }),
      'error.params',
      'must be an object of parameters; it is a number.',
    ],
    [
      'has a list as error catalogue',
      flow(['a'], { errors: [] }),
      'errors',
      'must be an object: name or code of a failure -> {severity, retry, kind}; it is an empty list.',
    ],
    [
      'has an unknown severity',
      flow(['a'], { errors: { X: { severity: 'bad' } } }),
      'errors.X.severity',
      'must be "warning", "major" or "fatal"; it is the string "bad".',
    ],
    [
      'has a word as retry in its catalogue',
      flow(['a'], { errors: { X: { retry: 'x' } } }),
      'errors.X.retry',
      'must be true, false, a number of retries or a retry policy {limit, delay, …}; it is the string "x".',
    ],
    [
      'has an unknown kind of failure',
      flow(['a'], { errors: { X: { kind: 'x' } } }),
      'errors.X.kind',
      'must be "business" or "technical"; it is the string "x".',
    ],
    [
      'has a bad node in its cancel branch',
      flow(['a'], { cancel: ['a', 5] }),
      'cancel[1]',
      `${node}; it is 5.`,
    ],
    [
      'finishes the flow in its cancel branch',
      flow(['a'], { cancel: ['a', { parallel: [{ finish: true }], catch: [{ do: 'b' }] }] }),
      'cancel[1].parallel[0]',
      'must not finish the flow: a job that was cancelled ends with exit 130.',
    ],
    [
      'has a cancel branch that is nested too deep',
      flow(['a'], { cancel: nested(25) }),
      `cancel${'.sequence[0]'.repeat(24)}`,
      'must not be nested deeper than 24 structures.',
    ],
    [
      'has a timeout in words',
      flow(['a'], { timeout: '1 min' }),
      'timeout',
      `${duration}; it is the string "1 min".`,
    ],
    [
      'has an unknown timeout_mode',
      flow(['a'], { timeout_mode: 'soft' }),
      'timeout_mode',
      'must be "start" or "hard"; it is the string "soft".',
    ],
    [
      'has less than no restarts',
      flow(['a'], { restarts: -1 }),
      'restarts',
      'must be a number of restarts (a whole number, 0 or more); it is -1.',
    ],
    [
      'is enabled by a word',
      flow(['a'], { enabled: 'no' }),
      'enabled',
      'must be true or false; it is the string "no".',
    ],
    [
      'is paused by a number',
      flow(['a'], { paused: 1 }),
      'paused',
      'must be true or false; it is 1.',
    ],
    [
      'has a queue without a name',
      flow(['a'], { queue: '' }),
      'queue',
      'must be a name, not empty; it is an empty string.',
    ],
    [
      'has a text as schema',
      flow(['a'], { schema: 'x' }),
      'schema',
      'must be an object; it is the string "x".',
    ],
    [
      'has a number as output',
      flow(['a'], { output: 5 }),
      'output',
      'must be a JSONata expression or an object of them; it is 5.',
    ],
    [
      'has a number in its output',
      flow(['a'], { output: { a: 5 } }),
      'output.a',
      'must be a JSONata expression (a string); it is 5.',
    ],
    [
      'has its tasks under a mistyped key',
      { ...without(flow([]), 'tasks'), tsaks: ['a'] },
      'tasks',
      `is missing; it ${tree}.`,
    ],
  ],
  'a task': [
    [
      'has a plugin that is a number',
      task({ plugin: 5 }),
      'plugin',
      'must be a name (a string); it is 5.',
    ],
    [
      'has a plugin without a name',
      task({ plugin: '' }),
      'plugin',
      'must be a name, not empty; it is an empty string.',
    ],
    [
      'has a text as params',
      task({ params: 'x' }),
      'params',
      'must be an object of parameters; it is a string.',
    ],
    ['has a timeout with a fraction', task({ timeout: 1.5 }), 'timeout', `${duration}; it is 1.5.`],
    [
      'has a handler that is a list',
      task({ error: [] }),
      'error',
      'must be a name (a string); it is an empty list.',
    ],
    [
      'has an undo that is a number',
      task({ undo: 5 }),
      'undo',
      'must be a name (a string); it is 5.',
    ],
    [
      'has a text as labels',
      task({ labels: 'gpu' }),
      'labels',
      'must be a list of strings; it is the string "gpu".',
    ],
    ['has a number as label', task({ labels: [1] }), 'labels[0]', 'must be a string; it is 1.'],
    [
      'has a heartbeat that is a word',
      task({ heartbeat: 'x' }),
      'heartbeat',
      `${duration}; it is the string "x".`,
    ],
    [
      'has an accept_timeout that is a word',
      task({ accept_timeout: 'x' }),
      'accept_timeout',
      `${duration}; it is the string "x".`,
    ],
    [
      'has a total_timeout below 0',
      task({ total_timeout: -1 }),
      'total_timeout',
      `${duration}; it is -1.`,
    ],
    [
      'has no slots at all',
      task({ slots: 0 }),
      'slots',
      'must be a number of slots (a whole number, 1 or more); it is 0.',
    ],
    [
      'has a limit of no permits',
      task({ concurrency: { limit: 0 } }),
      'concurrency.limit',
      'must be a number of permits (a whole number from 1 to 1000); it is 0.',
    ],
    [
      'has a limit with a strategy of its own',
      task({ concurrency: [{ limit: 1 }, { limit: 1, strategy: 'lifo' }] }),
      'concurrency[1].strategy',
      'must be one of queue, cancel_oldest, cancel_newest, round_robin; it is the string "lifo".',
    ],
    [
      'has a limit with a key that is no text',
      task({ concurrency: { limit: 1, key: 5 } }),
      'concurrency.key',
      'must be a JSONata expression (a text); it is a number.',
    ],
    [
      'has a number for its limits',
      task({ concurrency: 3 }),
      'concurrency',
      'must be a limit {key, limit, strategy, name} or a list of 1 to 10 of them; it is 3.',
    ],
    [
      'has no limit in its limits',
      task({ concurrency: [] }),
      'concurrency',
      'must be a limit {key, limit, strategy, name} or a list of 1 to 10 of them; it is an empty list.',
    ],
    [
      'is optional by a number',
      task({ optional: 1 }),
      'optional',
      'must be true or false; it is 1.',
    ],
    [
      'has a text as schema',
      task({ schema: 'x' }),
      'schema',
      'must be an object; it is the string "x".',
    ],
    [
      'has an owner that begins with $$',
      task({ owner: '$$x' }),
      'owner',
      'must be a name that does not begin with "$$"; it is the string "$$x".',
    ],
  ],
};

/** Flow and task documents with one mistake each. */
export const badDefinitions: readonly BadDefinition[] = Object.entries(groups).flatMap(
  ([subject, rows]) =>
    rows.map(([what, doc, path, says]) => ({ what: `${subject} ${what}`, doc, path, says })),
);
