import { expect, it } from 'vitest';
import { trigger } from '../../src/cli/commands/trigger.js';
import { openProject } from './database.js';

const rule = { flow: 'digest', owner: 'me', entry: 0, size: 3, period: 60_000 };
const gathering = (id: string, more: object) => ({
  ...{ _id: `gathering:${id}`, type: 'gathering', ...rule, by: 'batch', events: [], ...more },
});

it('tws trigger gatherings lists what waits, the next job first, for whom it may', async () => {
  const { tws, put } = await openProject();
  const now = Date.now();
  await put(
    { _id: 'event:sold:1', type: 'event', event: 'sold', key: '1' },
    gathering('digest:me:a', {
      ...{ key: '"north"', next_due: now + 7_200_000 },
      events: [
        { id: 'event:sold:1', at: 1 },
        { id: 'event:sold:2', at: 2 },
      ],
    }),
    gathering('index:ann:b', {
      ...{ flow: 'index', owner: 'ann', by: 'debounce', next_due: now + 3_600_000 },
      events: [{ id: 'event:gone:1', at: 1 }],
    }),
    gathering('digest:me:c', {
      starting: { job: 'event-run:1', at: 1, events: [{ id: 'e', at: 1 }] },
    }),
    // Whose flow is "digest:more", and what is none.
    gathering('digest:more:me:d', { flow: 'digest:more', events: [{ id: 'e', at: 1 }] }),
    { _id: 'gathering:digest:odd', type: 'gathering', flow: 7 },
  );
  const { out, json } = await tws(trigger, { args: ['gatherings'] });
  const rows = out.split('\n').map((line) => line.replace(/ {2,}/g, ' | '));
  expect(rows).toEqual([
    'digest | me | ? | batch | - | 0 of 3 | event-run:1 | gathering:digest:me:c',
    expect.stringMatching(/^index \| ann \| \? \| debounce \| - \| 1 \| in (1 h|59 min)/) as string,
    expect.stringMatching(
      /^digest \| me \| sold \| batch \| "north" \| 2 of 3 \| in (2 h|1 h)/,
    ) as string,
    'digest:more | me | ? | batch | - | 1 of 3 | - | gathering:digest:more:me:d',
  ]);
  expect(json).toMatchObject({
    more: false,
    gatherings: [{ starting: 'event-run:1' }, {}, {}, {}],
  });
  const one = await tws(trigger, { args: ['gatherings', 'digest'], flags: { limit: '1' } });
  expect([one.out.split('\n').length, one.err]).toEqual([1, 'There are others; see `--limit`.']);
  const ofAnn = await tws(trigger, { args: ['gatherings'], settings: { owner: 'ann' } });
  expect(ofAnn.json).toMatchObject({ gatherings: [{ flow: 'index', events: ['event:gone:1'] }] });
  const none = await tws(trigger, { args: ['gatherings'], settings: { owner: 'eve' } });
  expect(none.err).toBe('No events wait for further ones.');
  const many = await tws(trigger, { args: ['gatherings', 'a', 'b'] });
  expect(many.error?.message).toBe('"tws trigger gatherings" takes the name of one flow.');
});
