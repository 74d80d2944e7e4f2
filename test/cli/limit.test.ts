import { describe, expect, it } from 'vitest';
import { limit } from '../../src/cli/commands/limit.js';
import { keyedLimit, limitsOfFlow, permitText } from '../../src/decide/compete/limits.js';
import { lockIdOf } from '../../src/lock-id.js';
import { createClient } from '../../src/client.js';
import { openProject } from './database.js';

const flow = {
  ...{ _id: 'flow-import', type: 'flow', name: 'import', owner: 'me', tasks: ['fetch'] },
  concurrency: { key: 'params.fetch.customer', limit: 1 },
};
const fetching = { _id: 'task-fetch', type: 'task', name: 'fetch', owner: 'me', plugin: 'noop' };
const mail = { _id: 'flow-mail', type: 'flow', name: 'mail', owner: 'DEFAULT', tasks: ['send'] };
const sending = {
  ...{ _id: 'task-send', type: 'task', name: 'send', owner: 'DEFAULT', plugin: 'noop' },
  rate: { limit: 2, per: 'P1D' },
};
const job = (_id: string, more: object = {}) => ({
  ...{ _id, type: 'job', flow: 'import', owner: 'me', params: { fetch: { customer: 'acme' } } },
  ...more,
});

/** What was stored with `rate:` is that of the task: the id is of the same text as engines have. */
const rateId = lockIdOf('["rate",["task","send::DEFAULT"],null]').replace('lock:', 'rate:');

/** A permit that is taken, with a line behind it, and a rate that is used up. */
async function openLimits() {
  const opened = await openProject();
  const put = async (doc: object): Promise<string> => {
    const result = await opened.store.write(doc as { readonly _id: string });
    if (result.kind !== 'written') throw new Error(result.kind);
    return result.rev;
  };
  for (const doc of [flow, fetching, mail, sending]) await put(doc);
  const now = Date.now();
  const rev = await put(job('first'));
  for (const of of limitsOfFlow(flow)) {
    const { key, value } = keyedLimit(of, 'acme', lockIdOf);
    const permit = { _id: lockIdOf(permitText(key, 0)), type: 'lock', kind: 'permit', key, value };
    await put({ ...permit, job: 'first', rev, limit: 7, at: now - 120_000, nonce: 'n' });
  }
  await put(job('second'));
  await put(job('urgent', { priority: 1 }));
  await put(job('free', { params: { fetch: { customer: 'other' } } }));
  await put({ _id: 'sent', type: 'job', flow: 'mail', owner: 'ann' });
  await put({ _id: 'unsent', type: 'job', flow: 'mail', owner: 'bob' });
  const grant = { at: now - 1_000, gen: 1, for: '["sent","0",1,1]' };
  const grants = [grant, { at: now - 3_000, gen: 1 }, { at: 1, gen: 1, for: '["old","0",1,1]' }];
  const window = { of: 'task "send"', owner: 'DEFAULT', limit: 2, per: 86_400_000 };
  await put({ _id: rateId, type: 'rate', ...window, grants, born: 'b', nonce: 'n' });
  return { ...opened, client: createClient({ store: opened.store }) };
}

describe('tws limit', () => {
  it('lists who has a limit and who waits for it, by the rules of the engines', async () => {
    const { tws } = await openLimits();
    const list = await tws(limit, { args: ['list'] });
    const [permits = '', rates = '', ...others] = list.out.split('\n');
    expect(permits).toMatch(
      /^the limit of flow import +me +"acme" +1 of 1 +2, first urgent +first \(2 min .*ago\)$/,
    );
    expect(rates).toMatch(
      /^the rate of task send +DEFAULT +- +2 of 2 per 1 d +1, first unsent +sent step 0 \(\d s ago\), 1 more$/,
    );
    expect(others).toEqual([]);
    expect(list.json).toMatchObject({
      limits: [
        { kind: 'concurrency', of: 'flow', name: 'import', held: 1, limit: 1, waiting: 2 },
        { kind: 'rate', of: 'task', name: 'send', held: 2, limit: 2, per: 86_400_000, waiting: 1 },
      ],
      ...{ more: 0, partly: false },
    });
    const one = await tws(limit, { args: ['list'], flags: { limit: '1' } });
    expect(one.out).toMatch(/^the limit of flow import .*ago\)$/);
    expect(one.err).toBe('And 1 more; see `--limit`.');
    // Jobs of other owners are counted, and nothing else.
    const bob = await tws(limit, { args: ['list'], settings: { owner: 'bob' } });
    expect(bob.out).toMatch(/2 of 2 per 1 d +1, first unsent +2 others$/);
    expect(JSON.stringify(bob.json)).not.toMatch(/import|"sent"/);
    const nobody = await tws(limit, { args: ['list'], settings: { owner: 'eve' } });
    expect(nobody.err).toContain('No job holds a permit or waits for one.');
  });

  it('shows who has a limit and everybody in line, each with its place', async () => {
    const { tws, client, put } = await openLimits();
    const { out, json } = await tws(limit, { args: ['show', 'import'] });
    expect(out.split('\n')).toEqual([
      'the limit of flow import for "acme" of owner me: 1 of 1',
      expect.stringMatching(/^ {2}first has a permit \(2 min .*ago\)$/) as string,
      '  urgent is 1st of 2 in line',
      '  second is 2nd of 2 in line',
    ]);
    expect(json).toMatchObject({
      limits: [
        {
          line: [
            { job: 'urgent', place: 1 },
            { job: 'second', place: 2 },
          ],
        },
      ],
    });
    const { reasons } = await client.explain('second');
    expect(reasons[0]?.because).toBe(
      'The only permit of the limit of flow import for "acme" is taken; now: first. It is 2nd of 2 in line.',
    );
    await put({
      ...{ _id: 'engine:e', type: 'engine', host: 'h', pid: 1, version: '1', plugins: ['noop'] },
      ...{ labels: [], slots: 4, started: Date.now(), beat: 1, state: 'running' },
    });
    const rated = await client.explain('unsent');
    expect(rated.reasons[0]).toMatchObject({
      kind: 'rate',
      because: expect.stringContaining(' No other job is in line for it.') as string,
    });
    const first = await tws(limit, { args: ['show', 'import'], flags: { limit: '1' } });
    expect(first.out).toMatch(/urgent is 1st of 2 in line\n {2}1 other in line not shown$/);
    const none = await tws(limit, { args: ['show', 'nothing'] });
    expect(none.err).toBe('No job holds a permit of "nothing" or waits for one.');
  });

  it('names the jobs that somebody may see, however many others began under a rate', async () => {
    const { tws, put } = await openProject();
    const now = Date.now();
    const ids = Array.from({ length: 12 }, (_, i) => `theirs-${i}`);
    await put(
      ...ids.map((_id) => ({ _id, type: 'job', flow: 'f', owner: 'ann' })),
      { _id: 'mine', type: 'job', flow: 'f', owner: 'bob' },
      {
        ...{ _id: rateId, type: 'rate', of: 'task "send"', owner: 'DEFAULT', limit: 20 },
        ...{ per: 86_400_000, born: 'b', nonce: 'n' },
        grants: [...ids, 'mine'].map((id, i) => ({
          ...{ at: now - 1_000 * (i + 1), gen: 1, for: JSON.stringify([id, '0', 1, 1]) },
        })),
      },
    );
    const bob = await tws(limit, { args: ['show', 'send'], settings: { owner: 'bob' } });
    expect(bob.json).toMatchObject({ limits: [{ held: 13, holders: [{ job: 'mine' }] }] });
    expect(bob.out).toContain('mine step 0 began');
    expect(bob.out).toContain('12 others not shown');
  });

  it.each([
    [['shew'], {}, 'There is no "tws limit shew"; it is one of list, show.'],
    [['show'], {}, '"tws limit show" takes one name: of a limit, a flow, a task or a queue.'],
    [['list', 'x'], {}, '"tws limit list" takes no names.'],
    [['list'], { limit: '0' }, '--limit must be a whole number from 1 to 1000.'],
  ])('refuses %j', async (args, flags, reason) => {
    const { tws } = await openProject({});
    const { exit, error } = await tws(limit, { args, flags });
    expect([exit, error?.message]).toEqual([2, reason]);
  });
});
