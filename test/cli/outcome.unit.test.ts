import { expect, it } from 'vitest';
import { outcomeOf } from '../../src/cli/outcome.js';
import type { StoredDocument } from '../../src/model/document.js';
import { story } from '../decide/story.js';

it('what came of a job has the items of maps, and no structure without a name', () => {
  const list = [1, 2];
  const over = (name?: string) => ({
    ...(name && { name }),
    map: { over: 'params.list', do: 'a' },
  });
  const it = story({ steps: [over('all'), over(), 'b'], job: { params: { list } } });
  it.answering({ '0.map.over': list, '1.map.over': list }).go();
  for (const n of [1, 2, 3, 4]) it.did('a', { n });
  it.did('b');
  expect(outcomeOf(it.job as StoredDocument)).toEqual({
    all: [{ n: 1 }, { n: 2 }],
    a: [{ n: 3 }, { n: 4 }],
    b: null,
  });
});

it('what came of a job that somebody changed by hand is told by its steps', () => {
  const steps = [{ name: 'a', state: '$$complete', result: 1 }];
  expect(outcomeOf({ _id: 'j', _rev: '1-a', type: 'job', tasks: 7, steps })).toEqual({ a: 1 });
});
