import { expect, it } from 'vitest';
import type { StoredDocument } from '../../src/model/document.js';
import { eventReasons } from '../../src/client/event-reasons.js';

const now = Date.UTC(2026, 0, 1);
const into = 'gathering:f:me:x';
const rule = { flow: 'f', owner: 'me', entry: 0, by: 'batch', period: 60_000, size: 3 };
const never = (more: object = {}): StoredDocument => ({
  ...{ _id: into, _rev: '1-g', type: 'gathering', ...rule },
  events: ['a', 'b'].map((id) => ({ id, at: now })),
  ...more,
});
const gathering = (more: object = {}) => never({ next_due: now + 60_000, ...more });
const event = (triggered: unknown): StoredDocument => ({
  ...{ _id: 'e', _rev: '1-e', type: 'event', event: 'paid', triggered },
});
const waiting = { into, ...rule };
const due = 'due in 1 min (2026-01-01T00:01:00.000Z)';
const waits = `2 events (a, b) wait in ${into} for a job of flow f::me (batch); ${due}, or as soon as there are 3.`;

it.each<[string, StoredDocument, StoredDocument | undefined, readonly string[] | undefined]>([
  ['an event that waits', event({ at: 1, gathered: [waiting] }), gathering(), [waits]],
  [
    'an event that waits with a key, for no more of its kind',
    event({ at: 1, gathered: [waiting] }),
    gathering({ by: 'debounce', key: '"k"', events: [{ id: 'a', at: now }] }),
    [`1 event (a) waits in ${into} for a job of flow f::me (debounce with the key "k"); ${due}.`],
  ],
  [
    'an event whose gathering was removed',
    event({ at: 1, gathered: [waiting] }),
    undefined,
    [
      `Document ${into}, which gathered it, was removed. An engine gathers it again within a minute.`,
    ],
  ],
  [
    'an event that nobody has decided',
    event(undefined),
    undefined,
    ['No engine has decided yet which jobs it starts.'],
  ],
  [
    'an event that was spoilt',
    event('x'),
    undefined,
    ['Its "triggered" cannot be read, so it starts no job.'],
  ],
  [
    'an event that nobody listens to',
    event({ at: 1 }),
    undefined,
    [
      'It starts no job: no flow had a trigger ("on") whose "event", "key" and "match" all fit it when it came.',
    ],
  ],
  [
    'an event that lives for a time',
    event({ at: 1, until: now + 1_000, started: ['j'] }),
    undefined,
    ['It has started job j.', 'It releases steps that wait for it until 2026-01-01T00:00:01.000Z.'],
  ],
  [
    'an event that has expired',
    event({ at: 1, until: now, started: ['j'] }),
    undefined,
    [
      'It has started job j.',
      'It expired at 2026-01-01T00:00:00.000Z: it releases no step, and retention removes it.',
    ],
  ],
  [
    'all that an event does',
    event({
      ...{ at: 1, started: ['j'], gathering: [{ into, ...rule }] },
      starting: [{ job: 'k', flow: 'f', owner: 'me', entry: 0 }],
      refused: [{ flow: 'g::me', because: 'no.' }],
    }),
    undefined,
    [
      ...['It has started job j.', 'It starts job k.', `It is about to be gathered in ${into}.`],
      'It starts no job of flow g::me: no.',
    ],
  ],
  ['gathered events', gathering(), undefined, [waits]],
  [
    'gathered events that are never due',
    never({ by: 'debounce' }),
    undefined,
    [`2 events (a, b) wait in ${into} for a job of flow f::me (debounce).`],
  ],
  [
    'gathered events that start',
    gathering({ events: [], starting: { job: 'j', at: 1, events: [{ id: 'a', at: 1 }] } }),
    undefined,
    [`1 event of ${into} starts job j.`],
  ],
  [
    'gathered events that were spoilt',
    gathering({ size: 0 }),
    undefined,
    [`Document ${into} holds no gathered events that can be read.`],
  ],
  ['no job', { _id: 'j', _rev: '1-j', type: 'job' }, undefined, undefined],
])('tells of %s', async (_title, doc, other, told) => {
  expect(await eventReasons(doc, () => Promise.resolve(other), now)).toEqual(told);
});
