import { describe, expect, it } from 'vitest';
import { nodesLike, seenFor } from '../../src/pages/graph/find-nodes.js';
import { isFoldable } from '../../src/picture/fold.js';
import { pictureOf } from '../../src/picture/picture-of.js';
import { toTree } from '../../src/structures/to-tree.js';

const picture = pictureOf(
  toTree([
    'load',
    { parallel: ['clean', { map: { over: [1], do: [{ task: 'mail', name: 'tell Ada' }, 'x'] } }] },
  ]),
  { flow_definition: { cancel: toTree(['tidy']) } },
);

describe('the search in a graph', () => {
  it('finds steps by their name and their second line, and no points of the picture', () => {
    expect(nodesLike(picture, ' ADA ').map(({ path }) => path)).toEqual([
      '1.parallel.1.map.*.sequence.0',
    ]);
    expect(nodesLike(picture, 'mail')).toHaveLength(1);
    expect(nodesLike(picture, '')).toEqual([]);
    expect(nodesLike(picture, 'begin')).toEqual([]);
  });

  it('marks the outermost folded structure for what is in it', () => {
    const [ada] = nodesLike(picture, 'Ada');
    if (ada === undefined) throw new Error('It is not there.');
    expect(seenFor(ada, new Set())).toBe(ada.id);
    expect(seenFor(ada, new Set(['1.parallel.1', '1']))).toBe('1');
    expect(seenFor(ada, new Set(['0']))).toBe(ada.id);
  });
});

it('folds structures that have a head, neither the whole flow nor its cancel branch', () => {
  expect(picture.frames.map(({ id }) => id)).toContain('#cancel');
  expect(picture.frames.filter(isFoldable).map(({ path }) => path)).toEqual(['1', '1.parallel.1']);
});
