import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { notificationBody } from '../../../src/decide/notices/formats.js';
import { cut, noticeOf } from '../../../src/decide/notices/notice.js';
import { notifyFormats } from '../../../src/model/notify.js';
import { t0 } from '../../support/builders.js';

const link = 'https://tws.example.com/jobs/j';
const failed = {
  job: 'j',
  run: 1,
  depth: 1,
  status: 'failed',
  flow: 'report',
  owner: 'me',
  exit: 2,
  failure: { name: 'Error', message: 'a < b & *c* <!channel> @everyone', step: 'send' },
  start: t0,
  end: t0 + 65_000,
  link,
} as const;

describe('a notice', () => {
  it('says what happened, and why', () => {
    expect(noticeOf(failed)).toEqual({
      title: 'Job j of flow report failed',
      detail: 'Error: a < b & *c* <!channel> @everyone',
      facts: [
        ['Owner', 'me'],
        ['Step', 'send'],
        ['Exit', '2'],
        ['Started', '2026-01-01T00:00:00Z'],
        ['Ended', '2026-01-01T00:01:05Z'],
        ['Took', '1 min 5 s'],
      ],
      link,
      tone: 'bad',
    });
  });

  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{ status: 'succeeded' }, { title: 'Job j succeeded', tone: 'good', facts: [] }],
    [{ status: 'cancelled' }, { title: 'Job j was cancelled', tone: 'neutral' }],
    [
      { event: 'late', because: 'It takes long.' },
      { title: 'Job j is late', tone: 'warning', detail: 'It takes long.' },
    ],
    [{ event: 'stuck' }, { title: 'Job j is stuck', tone: 'bad' }],
    [{ event: 'waiting' }, { title: 'Job j waits for a person' }],
    [{ failure: {} }, { title: 'Job j failed', facts: [] }],
    [
      { external_id: ' \u200b\n', failure: { name: 'E', message: '\u0000' } },
      { facts: [], detail: 'E' },
    ],
    [{ start: 9e15, end: Infinity }, { facts: [] }],
    [
      { start: t0, end: 1, external_id: 'a\nb\u2028c' },
      {
        facts: [
          ['Started', expect.anything()],
          ['Ended', expect.anything()],
          ['External id', 'a b c'],
        ],
      },
    ],
  ])('of %j says so', (more, notice) => {
    expect(noticeOf({ job: 'j', status: 'failed', ...more })).toMatchObject(notice);
  });

  it('is cut between characters, after they are escaped', () => {
    expect(cut('abc', 3)).toBe('abc');
    expect(cut('abcd', 3)).toBe('ab…');
    expect(cut('a😀😀', 4)).toBe('a😀…');
    expect(cut('<<', 6, () => '&lt;')).toBe('&lt;…');
  });
});

describe('the body of a notification', () => {
  it('is subject and text of a mail', () => {
    expect(notificationBody('mail', failed)).toEqual({
      subject: 'Job j of flow report failed',
      text: [
        'Job j of flow report failed.\n',
        'Error: a < b & *c* <!channel> @everyone\n',
        'Owner: me\nStep: send\nExit: 2\nStarted: 2026-01-01T00:00:00Z\nEnded: 2026-01-01T00:01:05Z\nTook: 1 min 5 s\n',
        `${link}\n`,
      ].join('\n'),
    });
  });

  it('is blocks for Slack, in which nothing is a mention', () => {
    const { blocks, text } = notificationBody('slack', failed) as {
      blocks: readonly unknown[];
      text: string;
    };
    expect(text).toBe('Job j of flow report failed');
    expect(blocks).toMatchObject([
      { type: 'header', text: { type: 'plain_text', text } },
      { text: { type: 'mrkdwn', text: 'Error: a &lt; b &amp; *c* &lt;!channel&gt; @everyone' } },
      { fields: [{ text: '*Owner*\nme' }, {}, {}, {}, {}, {}] },
      { type: 'actions', elements: [{ type: 'button', url: link }] },
    ]);
  });

  it('is an Adaptive Card for Teams, whose texts are shown as they are', () => {
    const body = notificationBody('teams', failed);
    expect(body).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            body: [
              { type: 'RichTextBlock', inlines: [{ type: 'TextRun', color: 'attention' }] },
              { inlines: [{ text: failed.failure.message.replace(/^/, 'Error: ') }] },
              { inlines: [{ text: 'Owner: ' }, { text: 'me' }] },
              ...[{}, {}, {}, {}, {}],
            ],
            actions: [{ type: 'Action.OpenUrl', url: link }],
          },
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('"TextBlock"');
  });

  it('is an embed for Discord that mentions nobody', () => {
    expect(notificationBody('discord', failed)).toMatchObject({
      embeds: [
        {
          title: 'Job j of flow report failed',
          description: 'Error: a \\< b & \\*c\\* \\<!channel\\> \\@everyone',
          url: link,
          color: 0xd1_24_2f,
          fields: [{ name: 'Owner', value: 'me', inline: true }, {}, {}, {}, {}, {}],
        },
      ],
      allowed_mentions: { parse: [] },
    });
  });

  it.each(notifyFormats)(
    'for %s keeps to the limits of its receiver, whatever a job says',
    (format) => {
      const wild = fc.oneof(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.constantFrom('<'.repeat(4_000), '*'.repeat(4_000), '\u0000"'.repeat(2_000)),
      );
      fc.assert(
        fc.property(wild, wild, (job, text) => {
          const failure = { name: text, message: text, step: text };
          const body = notificationBody(format, {
            ...failed,
            job,
            owner: text,
            failure,
            link,
          });
          expect(overLimits(format, body)).toEqual([]);
          const bare = notificationBody(format, { job, status: 'succeeded' });
          expect(overLimits(format, bare)).toEqual([]);
        }),
        { numRuns: 15 },
      );
    },
  );
});

type Text = { readonly text: string };
type Slack = {
  readonly text: string;
  readonly blocks: readonly {
    readonly type: string;
    readonly text?: Text;
    readonly fields?: readonly Text[];
    readonly elements?: readonly { readonly url: string }[];
  }[];
};
type Embed = {
  readonly title: string;
  readonly description?: string;
  readonly url?: string;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
};

/** What the receiver would refuse. */
function overLimits(format: string, body: unknown): readonly string[] {
  const lengths: readonly (readonly [string, number, number])[] = (() => {
    switch (format) {
      case 'slack': {
        const { blocks, text } = body as Slack;
        return [
          ['text', text.length, 4_000],
          ['all', JSON.stringify(blocks).length - JSON.stringify(blocks.at(-1)).length, 13_000 * 6],
          ...blocks.flatMap(({ type, text: own, fields = [], elements = [] }) => [
            [type, own?.text.length ?? 1, type === 'header' ? 150 : 3_000] as const,
            ...fields.map(({ text: field }) => ['field', field.length, 2_000] as const),
            ...elements.map(({ url }) => ['url', url.length, 3_000] as const),
          ]),
        ];
      }
      case 'discord': {
        const [embed] = (body as { readonly embeds: readonly Embed[] }).embeds;
        const { title = '', description = '', fields = [], url = '' } = embed ?? ({} as Embed);
        const values = fields.map(({ value }) => value);
        const all = [title, description, ...fields.map(({ name }) => name), ...values].join('');
        return [
          ['title', title.length, 256],
          ['description', description.length, 4_096],
          ['url', url.length, 2_048],
          ['all', all.length, 6_000],
          ...values.map((value) => ['field', value.length, 1_024] as const),
        ];
      }
      case 'teams':
        return [['all', Buffer.byteLength(JSON.stringify(body)), 28 * 1_024]];
      default: {
        const { subject } = body as { readonly subject: string };
        return [
          ['subject', subject.length, 200],
          ['lines', subject.split(/[\r\n]/).length, 1],
        ];
      }
    }
  })();
  return lengths.filter(([, length, most]) => length > most).map(([what]) => what);
}
