import { describe, expect, it } from 'vitest';
import { formTold, linkToldBy } from '../../src/reading/form-told.js';

const one = { for: 'ann', hash: 'h', until: 1, mark: 'mark' };
const answer = { path: '0', attempt: 1, since: 0, links: [one] };
const telling = (more: Record<string, unknown>, run = 1) => ({
  run,
  notifies: {
    ...{
      job: 'j',
      run: 1,
      status: 'waiting',
      depth: 1,
      event: 'waiting',
      link: 'page',
      assignee: ['ann'],
    },
    ...more,
  },
});
/** What is told where no user is asked by name. */
const { assignee: _assignee, ...ofGroup } = telling({ answer }).notifies;

describe('form.link in a notification', () => {
  it.each([
    ['the mark of the only link', telling({ answer }), { form: { link: 'mark' } }],
    [
      'the page where two users are asked, also when only one has a link that is good',
      telling({ answer, assignee: ['ann', 'bob'] }),
      { form: { link: 'page' } },
    ],
    [
      'the page where only a group is asked',
      { run: 1, notifies: ofGroup },
      { form: { link: 'page' } },
    ],
    ['the page where there is no link', telling({ event: 'reminder' }), { form: { link: 'page' } }],
    ['the page once it was begun anew', telling({ answer }, 2), { form: { link: 'page' } }],
    ['absent without either', telling({ link: undefined }), { form: {} }],
  ])('is %s', (_what, job, seen) => {
    expect(formTold(job)).toEqual(seen);
  });

  it('has no link of a job that tells nothing', () => {
    expect(linkToldBy({})).toBeUndefined();
  });

  it('is what it is told to be', () => {
    expect(formTold(telling({ answer }), ({ for: user }) => `for ${user}`)).toEqual({
      form: { link: 'for ann' },
    });
  });

  it.each([
    ['an end', telling({ event: undefined })],
    ['a job that is late', telling({ event: 'late' })],
    ['no notification', {}],
  ])('is unknown in %s', (_what, job) => {
    expect(formTold(job)).toEqual({});
  });
});
