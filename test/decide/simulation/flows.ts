import fc from 'fast-check';
import { leavesOf, structuresIn } from '../../../src/structures/tree.js';
import { toTree } from '../../../src/structures/to-tree.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import { flow, task } from '../../support/builders.js';
import type { Message, Scenario } from '../simulator.js';

/** A value once in `odds` times, otherwise none. */
export const some = <T>(arbitrary: fc.Arbitrary<T>, odds = 3): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: odds - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** An object of those keys that were drawn. */
export const sparse = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc
    .record(model)
    .map((drawn) =>
      Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)),
    );

const retry = fc.oneof(fc.nat(2), sparse({ limit: fc.nat(3), delay: some(fc.nat(4_000)) }));

const common = {
  when: some(fc.constant('x'), 8),
  optional: some(fc.constant(true), 8),
};
const ofSteps = {
  ...common,
  retry: some(retry, 4),
  error: some(fc.constantFrom('h0', 'h1'), 6),
  undo: some(fc.constantFrom('u0', 'u1'), 4),
};
const timeout = some(fc.integer({ min: 500, max: 6_000 }), 2);
const withKeys = (
  own: fc.Arbitrary<object>,
  more: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<WrittenNode> =>
  fc.tuple(own, sparse(more)).map(([node, keys]) => ({ ...node, ...keys }));

const taskEntry = withKeys(fc.record({ task: fc.constantFrom('t0', 't1', 't2', 't3') }), ofSteps);
const signalWait = withKeys(
  fc
    .tuple(fc.constantFrom('s0', 's1'), timeout)
    .map(([signal, ms]) => ({ wait: { signal, ...(ms === undefined ? {} : { timeout: ms }) } })),
  ofSteps,
);
const formWait = withKeys(
  fc
    .tuple(
      fc.constantFrom('s0', 's1'),
      sparse({
        timeout,
        due: some(fc.nat(3_000), 2),
        remind: some(fc.array(fc.nat(4_000), { maxLength: 3 }), 2),
        escalate: some(
          fc.nat(4_000).map((after) => ({ after, group: 'heads' })),
          2,
        ),
      }),
    )
    .map(([signal, asked]) => ({ wait: { signal, form: {}, ...asked } })),
  ofSteps,
);
const eventWait = withKeys(
  fc.tuple(fc.constantFrom('k0', 'k1'), timeout).map(([key, ms]) => ({
    wait: { event: 'e', key, ...(ms === undefined ? {} : { timeout: ms }) },
  })),
  ofSteps,
);
const delay = withKeys(
  fc.nat(3_000).map((ms) => ({ delay: ms })),
  { undo: ofSteps.undo, when: common.when },
);
const child = withKeys(fc.constant({ flow: 'sub' }), ofSteps);
const decider = withKeys(fc.constant({ decider: 'd' }), { ...common, retry: ofSteps.retry });

/** What may follow the failure of a node: a branch for some failures, or for any. */
const clauses = (
  branch: fc.Arbitrary<WrittenNode>,
  errors: fc.Arbitrary<unknown> = fc.constantFrom('*', ['Broken'], ['*Timeout', 'Released']),
): fc.Arbitrary<readonly object[]> =>
  fc
    .array(fc.record({ do: branch, errors }), { minLength: 1, maxLength: 2 })
    .map((all) => all.filter(({ errors }, i) => errors !== '*' || i === all.length - 1));

const finish = withKeys(
  fc.constantFrom({ finish: true }, { finish: { exit: 7 } }, { finish: { result: '{{run}}' } }),
  { when: common.when },
);

const simple = fc.oneof(
  { weight: 27, arbitrary: taskEntry },
  { weight: 3, arbitrary: signalWait },
  { weight: 2, arbitrary: formWait },
  { weight: 3, arbitrary: eventWait },
  { weight: 3, arbitrary: delay },
  { weight: 3, arbitrary: child },
  { weight: 3, arbitrary: decider },
  { weight: 1, arbitrary: finish },
);
const entry = withKeys(simple as fc.Arbitrary<object>, {
  catch: some(clauses(fc.oneof(simple, fc.array(simple, { maxLength: 2 }))), 6),
});

const onFail = some(fc.constantFrom('wait', 'cancel_rest', 'ignore'), 2);

/** Any node that is nested at most so deep. */
function nodeOf(depth: number): fc.Arbitrary<WrittenNode> {
  if (depth === 0) return entry;
  const inner = nodeOf(depth - 1);
  const few = (minLength: number) => fc.array(inner, { minLength, maxLength: 3 });
  const sequence = withKeys(
    few(0).map((nodes) => ({ sequence: nodes })),
    common,
  );
  const parallel = few(1).chain((nodes) =>
    withKeys(fc.constant({ parallel: nodes }), {
      ...common,
      join: some(fc.constantFrom('all', 'any', nodes.length), 2),
      on_fail: onFail,
      cancel_rest: some(fc.constant(true)),
    }),
  );
  const callback = fc.oneof(
    { weight: 3, arbitrary: entry },
    { weight: 1, arbitrary: nodeOf(0).map((one) => [one, 't3']) },
  );
  const batch = withKeys(fc.record({ batch: few(1), on_complete: callback }), {
    ...common,
    on_success: some(callback, 2),
    on_failure: some(callback, 2),
    on_fail: onFail,
  });
  const choice = withKeys(
    fc
      .array(inner, { minLength: 1, maxLength: 2 })
      .map((nodes) => ({ choice: nodes.map((then) => ({ when: 'x', then })) })),
    { ...common, default: some(inner, 2) },
  );
  const map = withKeys(
    fc
      .tuple(
        inner,
        fc.oneof(fc.constant('x'), fc.constant([1, 2, 3])),
        sparse({
          as: some(fc.constant('one')),
          limit: some(fc.nat(2), 2),
          tolerate: some(fc.constantFrom(1, '50%')),
          on_fail: onFail,
        }),
      )
      .map(([node, over, more]) => ({ map: { over, do: node, ...more } })),
    common,
  );
  const loop = withKeys(
    fc
      .tuple(inner, fc.integer({ min: 1, max: 3 }), some(fc.constant('x'), 2))
      .map(([node, max, condition]) => ({
        loop: { do: node, max, ...(condition === undefined ? {} : { while: condition }) },
      })),
    common,
  );
  const caught = withKeys(
    fc.record({ try: inner, catch: clauses(inner, fc.constant('*')) }),
    common,
  );
  return fc.oneof(
    { weight: 4, arbitrary: entry },
    { weight: 1, arbitrary: caught },
    { weight: 2, arbitrary: sequence },
    { weight: 2, arbitrary: parallel },
    { weight: 1, arbitrary: batch },
    { weight: 1, arbitrary: graphOf(inner) },
    { weight: 1, arbitrary: choice },
    { weight: 1, arbitrary: map },
    { weight: 1, arbitrary: loop },
  );
}

/** Names of nodes in graphs: most of them are words that the engine uses in paths. */
const names = [
  ...['n0', 'n1', 'n2', 'n3', 'on_success', 'on_failure', 'on_complete', 'continue', 'cancel'],
  ...['activity', 'timer', 'child', 'news', 'decision', 'map', 'loop', 'batch', 'slice', 'graph'],
] as const;
const mostNodes = 4;

/** Nodes come after others that are written before them: no circles. */
function graphOf(inner: fc.Arbitrary<WrittenNode>): fc.Arbitrary<WrittenNode> {
  const place = fc.record({
    node: inner.map((node) => (typeof node === 'string' ? { task: node } : node)),
    after: fc.subarray([...Array(mostNodes).keys()]),
    join: some(fc.constantFrom('all', 'any', 'done', 'none_failed', 1), 2),
    rest: some(fc.constant(true)),
  });
  const places = fc.array(place, { minLength: 1, maxLength: mostNodes });
  const drawn = fc.shuffledSubarray([...names], { minLength: mostNodes, maxLength: mostNodes });
  const nodes = fc.tuple(places, drawn).map(([places, drawn]) => {
    const written = places.map(({ node, after, join, rest }, i) => {
      const earlier = after.filter((at) => at < i).map((at) => drawn[at]);
      const isOwn = 'parallel' in (node as object);
      const rule = {
        ...(earlier.length === 0 ? {} : { after: earlier }),
        ...(join === undefined || isOwn || earlier.length === 0 ? {} : { join }),
        ...(rest === undefined || isOwn ? {} : { cancel_rest: rest }),
      };
      return [String(drawn[i]), { ...(node as object), ...rule }] as const;
    });
    return { graph: Object.fromEntries(written) };
  });
  return withKeys(nodes, { ...common, on_fail: onFail });
}

/** The written tasks of a flow: structures up to six deep, of a size that is quickly run. */
export const anyTasks: fc.Arbitrary<WrittenNode[]> = fc
  .array(nodeOf(5), { minLength: 1, maxLength: 3 })
  .filter((nodes) => {
    const { length } = leavesOf(toTree(nodes));
    return length > 0 && length <= 12;
  });

const flowOptions = sparse({
  retry: some(retry, 4),
  error: some(fc.constant('h0'), 4),
  cancel: some(fc.constantFrom('t0', { parallel: ['t1', { task: 't2', error: 'h0' }] }), 4),
  timeout: some(fc.constantFrom(0, 3_000, 20_000)),
  timeout_mode: some(fc.constantFrom('start' as const, 'hard' as const)),
});
/** What handles the failure of a flow, as a structure. */
const branchOptions = sparse({
  error: some(
    fc.constantFrom<WrittenNode>(
      ['t0', { parallel: ['h0', { wait: { signal: 's0' } }], join: 'any' }],
      { batch: ['t1', { delay: 50 }], on_complete: 'h1' },
    ),
    2,
  ),
  error_result: some(fc.constantFrom('handler' as const, 'failure' as const), 2),
});
const taskOptions = sparse({
  retry: some(fc.nat(1), 6),
  optional: some(fc.constant(true), 12),
  undo: some(fc.constant('u1'), 8),
  accept_timeout: some(fc.integer({ min: 500, max: 5_000 }), 12),
  total_timeout: some(fc.integer({ min: 500, max: 20_000 }), 12),
});
const span = fc
  .tuple(fc.nat(20_000), fc.nat(20_000))
  .map(([from, ms]) => ({ from, to: from + ms }));
const message: fc.Arbitrary<Message> = fc
  .tuple(fc.nat(12_000), fc.constantFrom('s0', 's1', 't0-0', 't1-1', 't2', '0', '1.parallel.0'))
  .map(([at, word]) => (word.startsWith('s') ? { at, signal: word } : { at, skip: word }));
const wish = sparse({
  from: some(fc.constantFrom('t0-0', 't1-0', 't2', '0', '1', '0.parallel.1', 't3-1'), 2),
  params: some(fc.constant({ t0: { changed: true } }), 4),
  latest: some(fc.constant(true), 4),
});
/** A wish to go on, and which structure of the flow it names in place of a step. */
const wishes = fc.array(fc.record({ wish, structure: some(fc.nat(30), 2) }), { maxLength: 2 });

/** Paths of the structures below the root: of each item or round, or of the first one. */
function structurePaths(nodes: readonly WrittenNode[]): readonly string[] {
  const paths = structuresIn(toTree(nodes)).flatMap(({ path }) => (path === '' ? [] : path));
  const first = paths.map((path) => path.replaceAll('*', '0'));
  return [...new Set([...paths, ...first])];
}

/** Any flow with any trouble: engines that are lost, people that pause, cancel, skip and retry. */
export const anyScenario: fc.Arbitrary<Scenario> = fc
  .record({
    nodes: anyTasks,
    options: flowOptions,
    branch: branchOptions,
    ofTasks: fc.array(taskOptions, { minLength: 4, maxLength: 4 }),
    engines: fc.integer({ min: 1, max: 3 }),
    slots: fc.integer({ min: 1, max: 3 }),
    busy: fc.array(span, { maxLength: 1 }),
    losses: fc.nat(4),
    stops: fc.nat(2),
    pauseAt: some(span, 4),
    cancelAt: some(fc.nat(12_000), 6),
    messages: fc.array(message, { maxLength: 3 }),
    eventAt: some(fc.nat(12_000), 2),
    wishes,
    detours: fc.boolean(),
    seed: fc.nat(1_000_000),
  })
  .map(
    ({ nodes, options, branch, ofTasks, pauseAt, cancelAt, eventAt, wishes: asked, ...rest }) => {
      const paths = structurePaths(nodes);
      const retries = asked.map(({ wish: one, structure }) => {
        const from = structure === undefined ? undefined : paths[structure % paths.length];
        return from === undefined ? one : { ...one, from };
      });
      const pauses =
        pauseAt === undefined
          ? []
          : [
              { at: pauseAt.from, change: { paused: true } },
              { at: pauseAt.to, change: { paused: false } },
            ];
      const cancel =
        cancelAt === undefined ? [] : [{ at: cancelAt, change: { cancel: { by: 'user' } } }];
      const name = { type: 'e', key: 'k0' };
      return {
        ...rest,
        retries,
        job: {},
        flow: flow(nodes, { ...options, ...branch }),
        tasks: tasksWith(ofTasks),
        // Whoever pauses goes on in the end: a job that stays paused is not meant to end.
        edits: [...pauses, { at: 60_000, change: { paused: false } }, ...cancel],
        events: eventAt === undefined ? [] : [{ at: eventAt, name }],
      };
    },
  );

/** Any flow without any trouble, on engines with slots to spare; only the order is left to chance. */
export const calmScenario: fc.Arbitrary<Scenario> = fc
  .record({
    nodes: anyTasks,
    options: flowOptions,
    seed: fc.nat(1_000_000),
    messages: fc.array(message, { maxLength: 2 }),
    eventAt: some(fc.nat(12_000), 2),
  })
  .map(({ nodes, options, eventAt, messages, seed }) => ({
    seed,
    messages: messages.map((one) => ({ ...one, at: one.at + 0.123 })),
    flow: flow(nodes, options),
    tasks: tasksWith([]),
    job: {},
    engines: 1,
    slots: 50,
    busy: [],
    losses: 0,
    stops: 0,
    detours: false,
    edits: [],
    events: eventAt === undefined ? [] : [{ at: eventAt + 0.321, name: { type: 'e', key: 'k0' } }],
    order: 1,
  }));

function tasksWith(options: readonly object[]) {
  const plain = ['t0', 't1', 't2', 't3'].map((name, i) =>
    task(name, { plugin: 'p', ...options[i] }),
  );
  return [
    ...plain,
    task('h0', { plugin: 'q', error: 'h1', retry: 1 }),
    task('h1', { plugin: 'q' }),
    task('u0', { plugin: 'q', retry: 1 }),
    task('u1', { plugin: 'q', error: 'h1' }),
  ];
}
