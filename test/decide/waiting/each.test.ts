import { describe, expect, it } from 'vitest';
import type { Child } from '../../../src/decide/world.js';
import type { NotifyEntry } from '../../../src/model/notify.js';
import { eachTold, inId } from '../../../src/decide/waiting/each.js';
import { begun, type Story } from '../story.js';

const to = '{{job.notifies.assignee}}@example.com';
const own: NotifyEntry = { on: ['waiting'], task: 'mail', params: { to, text: '{{form.link}}' } };
const facts = { event: 'waiting' as const, because: 'b', assignee: ['ann', 'bob'] };
const usersIn = (more: object, entry: NotifyEntry) =>
  eachTold({ ...facts, ...more }, entry).map(({ user }) => user);

describe('what an entry tells of a form', () => {
  const { params: _params, ...bare } = own;
  const { task: _task, ...posted } = bare;
  const link = { text: '{{form.link}}' };

  it.each<[what: string, more: object, entry: NotifyEntry, users: readonly unknown[]]>([
    ['both link and user in parameters', {}, own, ['ann', 'bob']],
    [
      'both link and user in what is posted',
      {},
      { ...posted, url: 'https://x.y/{{job.notifies.assignee}}', body: link },
      ['ann', 'bob'],
    ],
    ['each: true alone', {}, { ...bare, each: true }, ['ann', 'bob']],
    ['each: true for a flow', {}, { ...posted, flow: 'f', each: true }, ['ann', 'bob']],
    ['each: false', {}, { ...own, each: false }, [undefined]],
    ['the link alone: its address is the same for all', {}, { ...bare, params: link }, [undefined]],
    ['the user alone', {}, { ...bare, params: { to } }, [undefined]],
    ['a flow that uses both', {}, { ...posted, flow: 'f', params: { ...own.params } }, [undefined]],
    ['one user', { assignee: ['ann'] }, own, [undefined]],
    ['a group', { assignee: undefined, group: ['finance'] }, own, [undefined]],
    ['another alert', { event: 'late' }, { ...own, each: true }, [undefined]],
    [
      '50 users',
      { assignee: Array.from({ length: 50 }, String) },
      own,
      Array.from({ length: 50 }, String),
    ],
    ['51 users', { assignee: Array.from({ length: 51 }, String) }, own, [undefined]],
  ])('PF10: goes to each user on their own where it asks so: %s', (_what, more, entry, users) => {
    expect(usersIn(more, entry)).toEqual(users);
  });

  // Shows X-13.
  it('PF10: has for each user nothing but their own links', () => {
    const links = ['ann', 'bob', 'ann'].map((user, until) => ({ for: user, hash: 'h', until }));
    const answer = { path: '0', attempt: 1, since: 0, links };
    expect(eachTold({ ...facts, answer }, own)).toEqual([
      {
        user: 'ann',
        facts: { ...facts, assignee: ['ann'], answer: { ...answer, links: [links[0], links[2]] } },
      },
      {
        user: 'bob',
        facts: { ...facts, assignee: ['bob'], answer: { ...answer, links: [links[1]] } },
      },
    ]);
  });

  it('PF10: gives each user an id that no entry of a list has', () => {
    expect(['ann', 'a:5', 'a%3A5'].map(inId)).toEqual(['ann', 'a%3A5', 'a%253A5']);
  });
});

describe('users who are told on their own', () => {
  const absent: Child = { kind: 'absent' };
  const all = (children: Readonly<Record<string, Child>>): Readonly<Record<string, Child>> =>
    new Proxy(children, { get: (kept, id: string) => kept[id] ?? absent });
  const asking = (children: Readonly<Record<string, Child>> = {}): Story =>
    begun(
      [
        {
          name: 'sign',
          approve: { assignee: ['ann', 'bob'], escalate: { after: 9, assignee: 'eve' } },
        },
        'a',
      ],
      {
        flow: { notify: [{ ...own, on: ['waiting', 'escalated'] }] },
        world: { children: all(children) },
      },
    ).at(1);
  const madeBy = (told: Story): readonly unknown[] => {
    const intent = told.go();
    return intent.kind === 'write' ? (intent.makes ?? []).map(({ notifies }) => notifies) : [];
  };
  const namesIn = ({ job }: Story): readonly (string | undefined)[] =>
    (job as { notifications?: readonly { for?: string }[] }).notifications?.map((one) => one.for) ??
    [];
  const idOf = ({ job }: Story, at: number): string =>
    (job as { notifications: readonly { id: string }[] }).notifications[at]?.id ?? '';

  it('PF10: are named in one write, and nobody is told again, nor one who is asked later', () => {
    const told = asking();
    expect(madeBy(told)).toMatchObject([{ assignee: ['ann'] }, { assignee: ['bob'] }]);
    expect(namesIn(told)).toEqual(['ann', 'bob']);
    expect(idOf(told, 0)).toMatch(/^j:notify:1:waiting-0-\d+:0@ann$/);
    expect(madeBy(told.at(2))).toEqual([]);
    told.at(9).go();
    expect(madeBy(told.at(11))).toMatchObject([
      { event: 'escalated', assignee: ['ann'] },
      { event: 'escalated', assignee: ['bob'] },
      { event: 'escalated', assignee: ['eve'] },
    ]);
    expect(namesIn(told)).toEqual(['ann', 'bob', 'ann', 'bob', 'eve']);
  });

  it('PF10: are told once where an engine died after it had stored what it tells one of them', () => {
    const first = asking();
    first.go();
    const again = asking({ [idOf(first, 0)]: { kind: 'live' } });
    expect(madeBy(again)).toMatchObject([{ assignee: ['bob'] }]);
    expect(namesIn(again)).toEqual(['ann', 'bob']);
  });

  it('PF10: are looked up together before any of them is told', () => {
    const first = asking();
    first.go();
    const unknown: Child = { kind: 'unknown' };
    const ids = [idOf(first, 0), idOf(first, 1)];
    const again = asking(Object.fromEntries(ids.map((id) => [id, unknown])));
    expect(again.decide()).toEqual(expect.objectContaining({ kind: 'look_up', children: ids }));
  });
});
