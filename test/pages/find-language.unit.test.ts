import { describe, expect, it } from 'vitest';
import { completionsOf, readSearch } from '../../src/pages/jobs/find-language.js';
import { matches } from '../../src/pages/jobs/filter.js';
import type { Summary } from '../../src/pages/answers.js';

describe('what is written into the search for jobs', () => {
  it.each([
    ['job-1', { rest: 'job-1' }],
    ['day=7', { rest: 'day=7' }],
    ['flow:etl', { filter: { status: [], flow: 'etl' }, rest: '' }],
    [
      'status:running,failed Flow:"my flow" id:imp- more',
      {
        filter: { status: ['failed', 'running'], flow: 'my flow', id_prefix: 'imp-' },
        rest: 'more',
      },
    ],
    ['status:failed status:paused', { filter: { status: ['failed', 'paused'] }, rest: '' }],
    [
      'text:"no amount" external:7',
      { filter: { status: [], text: 'no amount', external_id: '7' }, rest: '' },
    ],
    ['flow:order version:2', { filter: { status: [], flow: 'order', version: '2' }, rest: '' }],
    ['engine:a', { rest: 'engine:a' }],
    ['constructor:x', { rest: 'constructor:x' }],
  ])('%s', (text, read) => {
    expect(readSearch(text)).toEqual(read);
  });

  it.each([
    ['engine:a key:a=b', /^There is no field "engine"; the fields are status, flow/],
    ['status:broken', /^There is no status "broken"; the statuses are failed, running/],
    ['status:failed,nope', /no status "nope"/],
    ['text:"no amount', /^A quotation mark is not closed/],
    ['flow:', /^Write a value after "flow:"/],
    ['flow:""', /^Write a value after "flow:"/],
    ['flow:a flow:b', /^"flow:" is given twice/],
    ['key:day', /^"day" is no search key; write it as NAME=VALUE/],
    ['from:yesterday', /^"yesterday" is no time; write it as 2030-01-31T08:00/],
  ])('is refused in a sentence: %s', (text, sentence) => {
    expect(readSearch(text).problem).toMatch(sentence);
  });

  it('is completed: fields, statuses and flows', () => {
    expect(completionsOf('fl', [])).toEqual(['flow:']);
    expect(completionsOf('tag:a status:f', [])).toEqual(['tag:a status:failed']);
    expect(completionsOf('flow:', ['etl', 'my flow'])).toEqual(['flow:etl', 'flow:"my flow"']);
    expect(completionsOf('owner:x', [])).toEqual([]);
  });

  it('holds for jobs that change meanwhile', () => {
    const job = {
      ...{ id: 'imp-1', rev: '1', status: 'failed', owner: 'o', flow_version: '2' },
      failure: { name: 'NoAmount', message: 'Invoice 7 has none.' },
    } as unknown as Summary;
    const found = (more: object): boolean => matches(job, { status: [], ...more });
    expect(found({ id_prefix: 'imp', text: 'INVOICE 7' })).toBe(true);
    expect(found({ text: 'noamount: inv' })).toBe(true);
    expect([found({ version: '2' }), found({ version: '1' })]).toEqual([true, false]);
    expect(found({ id_prefix: 'x' })).toBe(false);
    expect(found({ text: 'other' })).toBe(false);
  });
});
