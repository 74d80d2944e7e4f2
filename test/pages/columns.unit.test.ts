import { describe, expect, it } from 'vitest';
import {
  chosenWords,
  columnsOf,
  keyText,
  shownColumns,
  toggled,
  tracks,
} from '../../src/pages/jobs/columns.js';

const said = (columns: string) => columnsOf(new URLSearchParams({ columns }));
const usual = ['flow', 'now', 'started', 'took', 'owner'];

describe('the columns of the list of jobs', () => {
  it.each([
    ['flow,took', ['flow', 'took']],
    ['took,flow', ['took', 'flow']],
    ['key.order', ['key.order']],
    ['flow,flow', ['flow']],
    ['flow,colour,key.,status', ['flow']],
    ['', []],
  ])('are those of an address: %j', (text, words) => {
    expect(chosenWords(said(text))).toEqual(words);
  });

  it('are the usual ones where an address says nothing, or says these', () => {
    expect(columnsOf(new URLSearchParams())).toBeUndefined();
    expect(said(usual.join())).toBeUndefined();
    expect(chosenWords(undefined)).toEqual(usual);
  });

  it('are added at the end, taken away, and usual again', () => {
    const more = toggled(undefined, 'priority');
    expect(more).toEqual([...usual, 'priority']);
    expect(toggled(more, 'priority')).toBeUndefined();
    expect(toggled(undefined, 'owner')).toEqual(usual.slice(0, -1));
    expect(toggled(undefined, 'colour')).toBeUndefined();
  });

  it('begin with status and job, and show search keys as text', () => {
    const columns = shownColumns(['key.order', 'key.lines']);
    expect(columns.map(({ title }) => title)).toEqual(['Status', 'Job', 'order', 'lines']);
    const job = {
      ...{ id: 'j', rev: '1-a', owner: 'o', status: 'running' as const, attempts: 1 },
      keys: { order: 'A-7', lines: 3 },
    };
    expect(['order', 'lines', 'none'].map((name) => keyText(job, name))).toEqual([
      'A-7',
      '3',
      undefined,
    ]);
    expect(tracks(columns)).toBe('6.6rem minmax(8rem, 1.5fr) minmax(6rem, 1fr) minmax(6rem, 1fr)');
  });
});
