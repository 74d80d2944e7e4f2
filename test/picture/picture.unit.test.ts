import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toTree } from '../../src/structures/to-tree.js';
import { childrenOf } from '../../src/structures/tree.js';
import { isStructure, type Node } from '../../src/model/tree.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { layout } from '../../src/picture/layout.js';
import type { Box, Picture } from '../../src/picture/picture.js';
import type { ShownJob } from '../../src/reading/trail.js';
import { pictureOf } from '../../src/picture/picture-of.js';
import { anyTasks } from '../decide/simulation/flows.js';

/** The edges of a picture as `from>to`, with the labels that stand on them. */
function edgesOf(tasks: WrittenNode, about: ShownJob = {}): readonly string[] {
  return pictureOf(toTree(tasks), about).edges.map(
    ({ from, to, kind, label }) =>
      `${from}>${to}${kind === 'then' ? '' : ` ${kind}`}${label === undefined ? '' : ` (${label})`}`,
  );
}

describe('The edges of a picture', () => {
  const cases: readonly (readonly [string, WrittenNode, readonly string[], ShownJob?])[] = [
    ['a sequence', ['a', 'b'], ['0>1', '#begin>0', '1>#end']],
    [
      'a sequence in a sequence',
      ['a', ['b', 'c']],
      ['1.sequence.0>1.sequence.1', '0>1.sequence.0', '#begin>0', '1.sequence.1>#end'],
    ],
    [
      'a parallel at the root',
      { parallel: ['a', 'b'] },
      [
        '>parallel.0',
        '>parallel.1',
        'parallel.0>#meet',
        'parallel.1>#meet',
        '#begin>',
        '#meet>#end',
      ],
    ],
    [
      'a parallel of one',
      [{ parallel: ['a'] }],
      ['0>0.parallel.0', '#begin>0', '0.parallel.0>#end'],
    ],
    [
      'a batch with all callbacks',
      [{ batch: ['a'], on_success: 's', on_failure: 'f', on_complete: 'c' }],
      [
        '0>0.batch.0',
        '0.batch.0>0.on_success (all succeeded)',
        '0.batch.0>0.on_failure (one failed)',
        '0.batch.0>0.on_complete (in any case)',
        '0.on_success>0#called',
        '0.on_failure>0#called',
        '0.on_complete>0#called',
        '#begin>0',
        '0#called>#end',
      ],
    ],
    [
      'a batch with what follows in any case',
      [{ batch: ['a', 'b'], on_complete: 'c' }],
      [
        '0>0.batch.0',
        '0>0.batch.1',
        '0.batch.0>0#meet',
        '0.batch.1>0#meet',
        '0#meet>0.on_complete (in any case)',
        '#begin>0',
        '0.on_complete>#end',
      ],
    ],
    [
      'a graph',
      [
        {
          graph: {
            a: { task: 'x' },
            b: { task: 'y', after: ['a'], join: 'any' },
            c: { task: 'z', after: ['a', 'b'], join: 'any' },
          },
        },
      ],
      [
        '0>0.graph.a',
        '0.graph.a>0.graph.b',
        '0.graph.a>0.graph.c (any of 2)',
        '0.graph.b>0.graph.c (any of 2)',
        '#begin>0',
        '0.graph.c>#end',
      ],
    ],
    [
      'a graph with every other join',
      [
        {
          graph: {
            a: { task: 'x' },
            b: { task: 'y', after: ['a'], join: 'done' },
            c: { task: 'y', after: ['a'], join: 'none_failed' },
            d: { task: 'z', after: ['a', 'b', 'c'], join: 2 },
          },
        },
      ],
      [
        '0>0.graph.a',
        '0.graph.a>0.graph.b (however it ends)',
        '0.graph.a>0.graph.c (unless it fails)',
        '0.graph.a>0.graph.d (2 of 3)',
        '0.graph.b>0.graph.d (2 of 3)',
        '0.graph.c>0.graph.d (2 of 3)',
        '#begin>0',
        '0.graph.d>#end',
      ],
    ],
    [
      'a choice without a default',
      [{ choice: [{ when: 'x = 1', then: 'a' }] }, 'b'],
      [
        '0>0.choice.0 (x = 1)',
        '0.choice.0>0#meet',
        '0>0#meet (otherwise)',
        '0#meet>1',
        '#begin>0',
        '1>#end',
      ],
    ],
    [
      'a choice with a default',
      [{ choice: [{ when: 'x', then: 'a' }], default: 'b' }],
      [
        '0>0.choice.0 (x)',
        '0>0.default (otherwise)',
        '0.choice.0>0#meet',
        '0.default>0#meet',
        '#begin>0',
        '0#meet>#end',
      ],
    ],
    [
      'a map',
      [{ map: { over: 'x', do: ['a', 'b'] } }],
      [
        '0.map.*.sequence.0>0.map.*.sequence.1',
        '0>0.map.*.sequence.0',
        '#begin>0',
        '0.map.*.sequence.1>#end',
      ],
    ],
    ['a loop', [{ loop: { max: 3, do: 'a' } }], ['0>0.loop.*', '#begin>0', '0.loop.*>#end']],
    ['an empty structure', [{ sequence: [] }, 'a'], ['0>1', '#begin>0', '1>#end']],
    [
      'handlers and what undoes',
      [{ task: 'a', error: 'h', undo: 'u' }],
      [
        '0>0.error error (on error)',
        '0.error>0.error.error error (on error)',
        '0>0.undo undo (undo)',
        '#begin>0',
        '0>#end',
      ],
      {
        definitions: {
          h: { type: 'task', name: 'h', error: 'h2' },
          h2: { type: 'task', name: 'h2', error: 'h' },
        },
      },
    ],
    [
      'the ends of a flow',
      ['a'],
      [
        '#begin>0',
        '0>#end',
        '#begin>error error (when the flow fails)',
        '#begin>cancel.sequence.0 cancel (on cancel)',
      ],
      { flow_definition: { error: { name: 'tell' }, cancel: toTree(['clean']) } },
    ],
    [
      'structures with nothing in them',
      [{ parallel: [] }, { graph: {} }],
      ['0>1', '#begin>0', '1>#end'],
    ],
    [
      'a parallel in a graph, whose join is about its own nodes',
      [{ graph: { a: 'x', b: 'x', p: { parallel: ['y'], join: 'any', after: ['a', 'b'] } } }],
      [
        '0.graph.p>0.graph.p.parallel.0',
        '0>0.graph.a',
        '0>0.graph.b',
        '0.graph.a>0.graph.p',
        '0.graph.b>0.graph.p',
        '#begin>0',
        '0.graph.p.parallel.0>#end',
      ],
    ],
    [
      'a flow with a structure for its failure',
      ['a'],
      [
        '#begin>0',
        '0>#end',
        'error.sequence.0>error.sequence.1',
        '#begin>error.sequence.0 error (when the flow fails)',
      ],
      { flow_definition: { error: toTree(['tell', 'clean']) } },
    ],
  ];
  it.each(cases.map((row) => ({ row, name: row[0] })))('are those of $name', ({ row }) => {
    const [, tasks, edges, about] = row;
    expect(edgesOf(tasks, about)).toEqual(edges);
  });
});

describe('The picture of any flow', () => {
  it('has every entry and every structure once, and no circle', () => {
    fc.assert(
      fc.property(anyTasks, (tasks) => {
        const tree = toTree(tasks);
        const picture = pictureOf(tree);
        const ids = picture.nodes.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining([...pathsToDraw(tree, '')]));
        expect(hasCircle(picture)).toBe(false);
        for (const { from, to } of picture.edges)
          expect(ids).toEqual(expect.arrayContaining([from, to]));
        expect(unreachable(picture)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('has a place for everything, and nothing covers anything else', () => {
    fc.assert(
      fc.property(anyTasks, (tasks) => {
        const { nodes, frames, width, height } = layout(pictureOf(toTree(tasks)));
        for (const [i, one] of nodes.entries()) {
          expect(one.x - one.width / 2).toBeGreaterThanOrEqual(0);
          expect(one.x + one.width / 2).toBeLessThanOrEqual(width);
          expect(one.y + one.height / 2).toBeLessThanOrEqual(height);
          for (const other of nodes.slice(i + 1)) expect(covers(one, other)).toBe(false);
          for (const frame of frames) {
            const isInside = framesAround(one.frame, frames).includes(frame.id);
            if (!isInside) expect(covers(one, frame)).toBe(false);
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** Plain sequences are the order of edges alone. */
function pathsToDraw(node: Node, path: string): readonly string[] {
  if (!isStructure(node)) return [path];
  const children = childrenOf(node, path);
  const { name, when, guards, optional } = node;
  const isPlain = [name, when, guards, optional].every((one) => one === undefined);
  const own = node.structure === 'sequence' && isPlain && children.length > 0 ? [] : [path];
  return [...own, ...children.flatMap((child) => pathsToDraw(child.node, child.path))];
}

function hasCircle({ nodes, edges }: Picture): boolean {
  let left = nodes.map(({ id }) => id);
  for (;;) {
    const free = left.filter(
      (id) => !edges.some(({ from, to }) => to === id && left.includes(from)),
    );
    if (free.length === 0) return left.length > 0;
    left = left.filter((id) => !free.includes(id));
  }
}

function unreachable({ nodes, edges }: Picture): readonly string[] {
  const reached = new Set(['#begin']);
  for (let before = 0; before < reached.size;) {
    before = reached.size;
    for (const { from, to } of edges) if (reached.has(from)) reached.add(to);
  }
  return nodes.map(({ id }) => id).filter((id) => !reached.has(id));
}

function covers(one: Box, other: Box): boolean {
  const apart = 0.5;
  return (
    Math.abs(one.x - other.x) < (one.width + other.width) / 2 - apart &&
    Math.abs(one.y - other.y) < (one.height + other.height) / 2 - apart
  );
}

function framesAround(frame: string | undefined, frames: Picture['frames']): readonly string[] {
  if (frame === undefined) return [];
  return [frame, ...framesAround(frames.find(({ id }) => id === frame)?.frame, frames)];
}
