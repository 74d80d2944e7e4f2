import { sendWebhook, webhookId, type PluginContext } from '../src/plugin/index.js';

export const description = 'Posts a message to Slack, Microsoft Teams or Discord';

export const params = {
  type: 'object',
  required: ['service', 'url', 'text'],
  additionalProperties: false,
  properties: {
    service: { enum: ['slack', 'teams', 'discord'] },
    url: { type: 'string', minLength: 1, description: 'of the incoming webhook; a secret' },
    text: { type: 'string', minLength: 1, maxLength: 20_000 },
    title: { type: 'string' },
    facts: {
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      description: 'names with their values, shown as a list',
    },
    link: { type: 'string', description: 'an address that the message leads to' },
  },
};

type Params = {
  readonly service: 'slack' | 'teams' | 'discord';
  readonly url: string;
  readonly text: string;
  readonly title?: string;
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
  readonly link?: string;
};

export default async function chatMessage(context: PluginContext<Params>): Promise<unknown> {
  const { params: given, signal, key, egress } = context;
  const url = context.secret('url');
  const id = webhookId(key);
  const body = JSON.stringify(bodyOf(given));
  const status = await sendWebhook({ url, id, body, signal, egress, now: Date.now() });
  return context.done({ status });
}

type Fact = readonly [name: string, value: string];

function bodyOf(given: Params): object {
  const facts = Object.entries(given.facts ?? {}).map(([name, value]): Fact => [
    name,
    String(value),
  ]);
  switch (given.service) {
    case 'slack':
      return slackBody(given, facts);
    case 'teams':
      return teamsBody(given, facts);
    case 'discord':
      return discordBody(given, facts);
  }
}

/** A text within what the service takes. */
const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** https://docs.slack.dev/reference/block-kit/blocks; what a value holds is no markup and calls nobody. */
function slackBody({ text, title, link }: Params, facts: readonly Fact[]): object {
  const safe = (value: string): string =>
    value.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;' })[sign] ?? '&gt;');
  const section = (value: string) => ({ type: 'section', text: { type: 'mrkdwn', text: value } });
  return {
    text: cut(safe(title ?? text), 1_000),
    blocks: [
      ...(title === undefined
        ? []
        : [{ type: 'header', text: { type: 'plain_text', text: cut(title, 150) } }]),
      section(cut(safe(text), 3_000)),
      ...facts
        .slice(0, 40)
        .map(([name, value]) => section(cut(`*${safe(name)}*: ${safe(value)}`, 3_000))),
      ...(link === undefined ? [] : [section(cut(`<${encodedLink(link)}>`, 3_000))]),
    ],
  };
}

/** A link without what would end it in the markup. Escapes that it has stay as they are. */
const encodedLink = (link: string): string =>
  encodeURI(link.replace(/[\uD800-\uDFFF]/gu, '\uFFFD')).replace(/%25([0-9a-f]{2})/gi, '%$1');

/** https://adaptivecards.io/explorer: what a workflow of Teams takes. */
function teamsBody({ text, title, link }: Params, facts: readonly Fact[]): object {
  const block = (value: string, more: object = {}) => ({
    ...{ type: 'TextBlock', text: value, wrap: true },
    ...more,
  });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    ...{ type: 'AdaptiveCard', version: '1.4' },
    body: [
      ...(title === undefined ? [] : [block(cut(title, 300), { weight: 'bolder', size: 'large' })]),
      block(cut(text, 10_000)),
      ...(facts.length === 0
        ? []
        : [{ type: 'FactSet', facts: facts.map(([name, value]) => ({ title: name, value })) }]),
    ],
    ...(link === undefined
      ? {}
      : { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }] }),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, content }] };
}

/** https://discord.com/developers/docs/resources/webhook; it mentions nobody. */
function discordBody({ text, title, link }: Params, facts: readonly Fact[]): object {
  const fields = facts.slice(0, 25).map(([name, value]) => ({
    name: cut(name, 256),
    value: cut(value, 1_024),
    inline: true,
  }));
  const embed = {
    ...(title === undefined ? {} : { title: cut(title, 256) }),
    description: cut(text, 4_000),
    ...(link === undefined ? {} : { url: link }),
    fields,
  };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}
