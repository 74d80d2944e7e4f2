import { describe, expect, it } from 'vitest';
import { freePort } from '../support/ports.js';
import { startReceiver } from '../support/receiver.js';
import { run } from './shipped.js';

const message = {
  ...{ title: 'Order 7', text: 'Paid <@everyone> & shipped', link: 'https://example.com/7' },
  facts: { total: 12, paid: true },
};

describe('chat-message', () => {
  it.each([
    ['https://example.com/a%3Ab?c=d%20e', 'https://example.com/a%3Ab?c=d%20e'],
    ['https://example.com/x|y>z', 'https://example.com/x%7Cy%3Ez'],
    ['https://example.com/ä 100%', 'https://example.com/%C3%A4%20100%25'],
    ['https://example.com/\uD800', 'https://example.com/%EF%BF%BD'],
  ])('links %s in Slack as it was meant', async (link, expected) => {
    const receiver = await startReceiver();
    await run('chat-message', { service: 'slack', url: receiver.url, text: 'a', link });
    expect(receiver.received[0]?.body).toMatchObject({
      blocks: [{}, { text: { text: `<${expected}>` } }],
    });
  });

  it.each([
    [
      'slack',
      {
        text: 'Order 7',
        blocks: [
          { type: 'header', text: { text: 'Order 7' } },
          { text: { text: 'Paid &lt;@everyone&gt; &amp; shipped' } },
          { text: { text: '*total*: 12' } },
          { text: { text: '*paid*: true' } },
          { text: { text: `<${message.link}>` } },
        ],
      },
    ],
    [
      'teams',
      {
        attachments: [
          {
            content: {
              type: 'AdaptiveCard',
              body: [
                { text: 'Order 7' },
                { text: message.text },
                { facts: [{ title: 'total', value: '12' }, {}] },
              ],
              actions: [{ url: message.link }],
            },
          },
        ],
      },
    ],
    [
      'discord',
      {
        embeds: [
          { title: 'Order 7', url: message.link, fields: [{ name: 'total', value: '12' }, {}] },
        ],
        allowed_mentions: { parse: [] },
      },
    ],
  ])('posts what %s takes', async (service, expected) => {
    const receiver = await startReceiver();
    const url = `${receiver.url}/hook/hunter22`;
    expect(await run('chat-message', { ...message, service, url })).toMatchObject({
      kind: 'done',
      result: { status: 204 },
    });
    const [got] = receiver.received;
    expect(JSON.parse(String(got?.text))).toMatchObject(expected);
  });

  it('never tells the address, which is a secret', async () => {
    const outcome = await run('chat-message', {
      ...message,
      service: 'slack',
      url: `http://127.0.0.1:${await freePort()}/hunter22`,
    });
    expect(outcome).toMatchObject({ failure: { name: 'WebhookUnreachable' } });
    expect(JSON.stringify(outcome)).not.toContain('hunter22');
    expect(await run('chat-message', { ...message, service: 'irc', url: 'x' })).toMatchObject({
      failure: { name: 'ParamsInvalid' },
    });
  });
});
