import { describe, expect, it } from 'vitest';
import { listsIn, withList, withoutList } from '../../src/pages/jobs/saved-lists.js';

describe('lists that are saved in the browser', () => {
  it('are those that it has kept', () => {
    const text = JSON.stringify([{ name: 'a', search: 'flow=x' }]);
    expect(listsIn(text)).toEqual([{ name: 'a', search: 'flow=x' }]);
    expect(listsIn(null)).toEqual([]);
  });

  it('are sorted by name; a name stands for one list', () => {
    const lists = withList(withList([], { name: 'b', search: '1' }), { name: 'a', search: '2' });
    expect(withList(lists, { name: 'b', search: '3' })).toEqual([
      { name: 'a', search: '2' },
      { name: 'b', search: '3' },
    ]);
    expect(withoutList(lists, 'a')).toEqual([{ name: 'b', search: '1' }]);
  });

  it.each(['{', '7', '[{"name":1}]', '[null]'])('are none where %s is kept', (text) => {
    expect(listsIn(text)).toEqual([]);
  });
});
