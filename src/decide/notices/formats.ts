import type { NotifyFormat, Notifies } from '../../model/notify.js';
import { cut, noticeOf, type Notice, type Tone } from './notice.js';

/*
 * The bodies of notifications for programs that people read. Limits are those that the makers document;
 * what comes from a job is escaped, so that it is text and neither markup nor a mention.
 */

/** Returns the body that a format gives to a notification. */
export function notificationBody(
  format: NotifyFormat,
  notifies: Parameters<typeof noticeOf>[0] & Partial<Notifies>,
) {
  return formats[format](noticeOf(notifies));
}

type Body = Readonly<Record<string, unknown>>;

const formats: Readonly<Record<NotifyFormat, (notice: Notice) => Body>> = {
  mail: mailOf,
  slack: slackOf,
  teams: teamsOf,
  discord: discordOf,
};

/** Subject and text of a mail. */
function mailOf({ title, detail, facts, link }: Notice): Body {
  const lines = facts.map(([label, value]) => `${label}: ${value}`);
  const parts = [`${title}.`, detail, lines.join('\n'), link];
  const text = parts.filter((part) => part !== undefined && part !== '').join('\n\n');
  return { subject: title, text: `${text}\n` };
}

/**
 * Slack: https://docs.slack.dev/reference/block-kit/blocks. A header takes 150 characters, the text of a
 * section 3,000, each of at most 10 fields 2,000. `&`, `<` and `>` are escaped: mentions and links begin with `<`.
 */
function slackOf({ title, detail, facts, link }: Notice): Body {
  const fields = facts.map(([label, value]) => mrkdwn(`*${label}*\n${slackText(value, 400)}`));
  const button = {
    type: 'button',
    text: { type: 'plain_text', text: 'Open job' },
    url: link,
  };
  return {
    text: slackText(title, 1_000),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(title, 150), emoji: false } },
      ...(detail === undefined
        ? []
        : [
            {
              type: 'section',
              text: { type: 'mrkdwn', text: slackText(detail, 3_000), verbatim: true },
            },
          ]),
      ...(fields.length === 0 ? [] : [{ type: 'section', fields }]),
      ...(isShortLink(link, 3_000) ? [{ type: 'actions', elements: [button] }] : []),
    ],
  };
}

function mrkdwn(text: string): Body {
  return { type: 'mrkdwn', text, verbatim: true };
}

const slackSigns: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function slackText(text: string, length: number): string {
  return cut(text, length, (one) => slackSigns[one] ?? one);
}

/**
 * Teams, for the webhook of a workflow: an Adaptive Card of at most 28 KB, valid by the schema 1.4.0 of
 * https://github.com/microsoft/AdaptiveCards. `RichTextBlock` shows texts as
 * they are; `TextBlock` and `FactSet` would read Markdown and dates in them.
 */
function teamsOf({ title, detail, facts, link, tone }: Notice): Body {
  const heading = { text: title, weight: 'bolder', size: 'large', color: teamsColors[tone] };
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      richText(heading),
      ...(detail === undefined ? [] : [richText({ text: detail })]),
      ...facts.map(([label, value]) =>
        richText({ text: `${label}: `, weight: 'bolder' }, { text: value }),
      ),
    ],
    ...(!isShortLink(link, 2_000)
      ? {}
      : { actions: [{ type: 'Action.OpenUrl', title: 'Open job', url: link }] }),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}

const teamsColors: Readonly<Record<Tone, string>> = {
  good: 'good',
  bad: 'attention',
  warning: 'warning',
  neutral: 'default',
};

function richText(...runs: readonly Body[]): Body {
  return { type: 'RichTextBlock', inlines: runs.map((run) => ({ type: 'TextRun', ...run })) };
}

/**
 * Discord: https://discord.com/developers/docs/resources/message#embed-object. A title takes 256
 * characters, a description 4,096, a field 1,024, an embed 6,000 in all. Markdown is escaped, and nobody is mentioned.
 */
function discordOf({ title, detail, facts, link, tone }: Notice): Body {
  const embed = {
    title: discordText(title, 256),
    ...(detail === undefined ? {} : { description: discordText(detail, 3_500) }),
    color: discordColors[tone],
    fields: facts.map(([name, value]) => ({ name, value: discordText(value, 250), inline: true })),
    ...(isShortLink(link, 2_000) ? { url: link } : {}),
  };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}

/** Green, red, yellow and grey. */
const discordColors: Readonly<Record<Tone, number>> = {
  good: 0x2e_a0_43,
  bad: 0xd1_24_2f,
  warning: 0xd2_99_22,
  neutral: 0x6e_77_81,
};

function discordText(text: string, length: number): string {
  return cut(text, length, (one) => (/[\\*_~`|>#<[\]()@-]/.test(one) ? `\\${one}` : one));
}

function isShortLink(link: string | undefined, length: number): boolean {
  return link !== undefined && link.length <= length;
}
