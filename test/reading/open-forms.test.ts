import { describe, expect, it } from 'vitest';
import type { LiveJob } from '../../src/model/job.js';
import { openForms, shownForm } from '../../src/reading/open-forms.js';
import { t0 } from '../support/builders.js';
import { begun } from '../decide/story.js';

describe('the forms of a job', () => {
  const form = { properties: { n: { type: 'number' } } };

  it('that wait are told with whom they wait for, and with what can be filled in', () => {
    const told = begun([
      {
        parallel: [
          { name: 'ask', wait: { form, assignee: 'ann', title: 'T' } },
          { wait: { form } },
          'a',
        ],
      },
    ]);
    const common = { job: 'j', owner: 'DEFAULT', attempt: 1, since: t0 };
    expect(openForms(told.job as LiveJob)).toMatchObject([
      { ...common, step: 'ask', signal: 'ask', assignee: ['ann'], title: 'T', form },
      { ...common, path: '0.parallel.1', form: { type: 'object', ...form } },
    ]);
  });

  it('are shown without their timers and links', () => {
    const escalate = { after: 2_000, assignee: 'eve' };
    const told = begun([{ name: 'ask', wait: { form, assignee: 'ann', due: 1_000, escalate } }]);
    const [open] = openForms(told.job as LiveJob);
    const links = [{ for: 'ann', hash: 'h', until: 1 }];
    const shown = shownForm({ ...(open as NonNullable<typeof open>), links });
    expect(shown).toMatchObject({ step: 'ask', assignee: ['ann'], due: t0 + 1_000 });
    for (const key of ['timers', 'escalate', 'links']) expect(shown).not.toHaveProperty(key);
  });

  it('that were answered, or whose place is gone from the flow, are not told', () => {
    const told = begun([{ name: 'ask', wait: { form } }, 'a']);
    const { job } = told;
    expect(openForms({ ...job, tasks: { sequence: [] } } as unknown as LiveJob)).toEqual([]);
    const other = { sequence: [{ task: 'a' }] };
    expect(openForms({ ...job, tasks: other } as unknown as LiveJob)).toEqual([]);
    expect(openForms(told.signal('ask', {}).job as LiveJob)).toEqual([]);
  });

  it('have the owner of the job, where it has one, else that of its flow', () => {
    const told = begun([{ name: 'ask', wait: { form } }], { job: { owner: 'me' } });
    expect(openForms(told.job as LiveJob)).toMatchObject([{ owner: 'me' }]);
    const { owner: _owner, ...others } = told.job as LiveJob;
    expect(openForms(others)).toMatchObject([{ owner: 'DEFAULT' }]);
  });
});
