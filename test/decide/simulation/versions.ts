import fc from 'fast-check';
import type { Flow } from '../../../src/model/flow.js';
import { parseDocument } from '../../../src/reading/parse.js';
import { flow as flowOf } from '../../support/builders.js';
import type { Scenario } from '../simulator.js';
import { anyScenario, anyTasks, some } from './flows.js';

/** Flows in two versions, and jobs that move between them at any point. */

type Parts = Record<string, unknown>;
type Change = { readonly what: (typeof whats)[number]; readonly list: number; readonly at: number };
type List = { readonly kind: string; readonly nodes: unknown[] };

const whats = [
  'append',
  'append',
  'append',
  'insert',
  'remove',
  'rename',
  'optional',
  'handler',
] as const;

const change: fc.Arbitrary<Change> = fc.record({
  what: fc.constantFrom(...whats),
  list: fc.nat(20),
  at: fc.nat(20),
});

/** Every list of nodes in a tree. */
function listsIn(node: unknown): readonly List[] {
  if (Array.isArray(node)) return node.flatMap(listsIn);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    Array.isArray(value) && ['sequence', 'parallel', 'batch'].includes(key)
      ? [{ kind: key, nodes: value as unknown[] }, ...listsIn(value)]
      : listsIn(value),
  );
}

function apply(tree: unknown, { what, list, at }: Change): void {
  const lists = listsIn(tree);
  const nodes = lists[list % Math.max(1, lists.length)]?.nodes ?? [];
  const place = at % Math.max(1, nodes.length);
  const node = nodes[place] as Parts | undefined;
  switch (what) {
    case 'append':
      nodes.push({ task: `t${at % 4}` });
      return;
    case 'insert':
      nodes.splice(place, 0, { task: `t${at % 4}` });
      return;
    case 'remove':
      if (nodes.length > 1) nodes.splice(place, 1);
      return;
    case 'rename':
      if (typeof node?.['task'] === 'string') node['task'] = `t${at % 4}`;
      return;
    case 'optional':
      if (node !== undefined) node['optional'] = at % 2 === 0;
      return;
    case 'handler':
      if (node !== undefined && node['structure'] === undefined) node['error'] = 'h1';
  }
}

function edited(flow: Flow, changes: readonly Change[], more: object): Flow & { _rev: string } {
  const copy = structuredClone(flow) as Flow & { _rev: string };
  for (const one of changes) apply(copy.tasks, one);
  const next = { ...copy, ...more, version: '2', _rev: '1-two' };
  const parsed = parseDocument({ ...next, _id: 'two' });
  return parsed.kind === 'flow' && parsed.ok ? next : { ...next, tasks: flow.tasks };
}

const moves = fc.array(
  fc.record({ at: fc.nat(9_000), migrate: fc.constantFrom('1', '2', '2', '2') }),
  { minLength: 1, maxLength: 3 },
);

/** Any flow with any trouble, and a second version of it: an edited one, or now and then quite another one. */
export const movingScenario: fc.Arbitrary<Scenario> = fc
  .record({
    given: anyScenario,
    changes: fc.array(change, { maxLength: 3 }),
    other: some(anyTasks, 8),
    settings: fc.constantFrom({}, {}, { timeout: 3_000 }, { timeout: 0 }),
    moves,
  })
  .map(({ given, changes, other, settings, moves: asked }): Scenario => {
    const one = { ...given.flow, version: '1', current: true, _rev: '1-one' };
    const base = other === undefined ? one : { ...one, tasks: flowOf(other).tasks };
    const { current: _current, ...two } = edited(base, changes, settings);
    return {
      ...given,
      flow: one,
      versions: [two],
      messages: [...(given.messages ?? []), ...asked],
    };
  });
