import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/model/tree.js';
import { formAskedBy } from '../../src/structures/people.js';
import { entryKeys, entryKindOf, textsOf, wordOf } from '../../src/structures/kinds.js';

type Case = readonly [word: string, entry: Entry, notes: readonly string[], texts: object];

describe('an entry', () => {
  const cases: readonly Case[] = [
    ['task', { task: 'a' }, [], {}],
    ['task', { task: 'a', name: 'a' }, [], {}],
    ['task', { task: 'a', name: 'b' }, ['a'], {}],
    [
      'wait',
      { task: 'wait', wait: { signal: 's' } },
      ['waits for signal s'],
      { 'wait.signal': 's' },
    ],
    [
      'wait',
      { task: 'wait', wait: { signal: 's', timeout: 60_000 } },
      ['waits for signal s', 'at most 1 min'],
      { 'wait.signal': 's' },
    ],
    ['wait', { task: 'wait', wait: { event: 'e' } }, ['waits for event e'], {}],
    [
      'wait',
      { task: 'wait', wait: { event: 'e', key: 'k' } },
      ['waits for event e k'],
      { 'wait.key': 'k' },
    ],
    ['wait', { task: 'wait', wait: { form: {} } }, ['waits for a person'], {}],
    [
      'wait',
      {
        task: 'wait',
        wait: { form: {}, title: 'T', signal: 's', escalate: { after: 1, group: 'g' } },
      },
      ['waits for a person: T', 'escalates after 1 ms'],
      { 'wait.signal': 's', 'wait.title': 'T', 'wait.escalate.group': 'g' },
    ],
    ['approve', { task: 'approve', approve: {} }, ['waits for an approval'], {}],
    [
      'approve',
      { task: 'approve', approve: { title: 'T', assignee: ['a'], timeout: 60_000 } },
      ['waits for an approval: T', 'at most 1 min'],
      { 'approve.title': 'T', 'approve.assignee': ['a'] },
    ],
    [
      'approve',
      { task: 'approve', approve: { due: 86_400_000, remind: [1, 2], link: 60_000 } },
      ['waits for an approval', 'due after 1 d', '2 reminders', 'links for 1 min'],
      {},
    ],
    [
      'approve',
      { task: 'approve', approve: { remind: 5, link: false } },
      ['waits for an approval', '1 reminder', 'no links'],
      {},
    ],
    ['delay', { task: 'delay', delay: 60_000 }, ['waits 1 min'], { delay: 60_000 }],
    ['delay', { task: 'delay', delay: '{{at}}' }, ['waits until {{at}}'], { delay: '{{at}}' }],
    ['flow', { task: 'f', flow: 'f', name: 'n' }, ['runs flow f'], {}],
    ['flow', { task: 'f', flow: 'f', version: '2' }, ['runs flow f (version 2)'], {}],
    [
      'wait',
      { task: 'wait', wait: { event: 'e', match: 'event.n > 1' } },
      ['waits for event e', 'that matches event.n > 1'],
      {},
    ],
    ['decider', { task: 'd', decider: 'd' }, ['decider d'], {}],
    ['finish', { task: 'finish', finish: true }, ['ends the flow'], {}],
    [
      'finish',
      { task: 'finish', finish: { result: 1, exit: 0 } },
      ['ends the flow'],
      { 'finish.result': 1 },
    ],
    ['finish', { task: 'finish', finish: { exit: 7 } }, ['ends the flow with exit 7'], {}],
  ];

  it.each(cases)('of kind %s tells what it does: %j', (word, entry, notes, texts) => {
    expect(wordOf(entry)).toBe(word);
    expect(entryKindOf(entry).notes(entry)).toEqual(notes);
    expect(textsOf(entry)).toEqual(texts);
  });

  it.each<[what: string, entry: Entry]>([
    ['finishes its flow', { task: 'finish', finish: true }],
    ['waits for an approval', { task: 'approve', approve: {} }],
    ['waits for a person', { task: 'wait', wait: { form: {} } }],
  ])('that %s cannot run in the job of a slice', (_what, entry) => {
    expect(entryKindOf(entry).needsWholeJob?.(entry)).toBe(true);
  });

  it('that asks for an approval keeps what can be read of its further fields', () => {
    const form = { properties: 7, required: 5 };
    expect(formAskedBy({ task: 'approve', approve: { form } })?.form).toMatchObject({
      required: ['approved'],
      properties: { approved: { type: 'boolean' } },
    });
  });

  it('is of one of these kinds', () => {
    expect(new Set(cases.map(([word]) => word))).toEqual(new Set(entryKeys));
  });
});
