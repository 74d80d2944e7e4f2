import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from './shipped.js';

type Answer = { readonly status: number; readonly body: object };

/**
 * Answers as Stripe's API does: the first answer to an idempotency key is kept, and given again; what failed
 * within the server is not.
 */
async function stripe(answers: readonly Answer[] = []) {
  const charged: Record<string, string>[] = [];
  const kept = new Map<string, Answer>();
  const keys: string[] = [];
  const left = [...answers];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += String(part)));
    request.on('end', () => {
      const key = String(request.headers['idempotency-key']);
      keys.push(key);
      const made = kept.get(key) ?? left.shift() ?? success(text);
      if (made.status < 500) kept.set(key, made);
      response.writeHead(made.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(made.body));
    });
  });
  const success = (text: string): Answer => {
    const form = Object.fromEntries(new URLSearchParams(text));
    charged.push(form);
    const { amount, currency } = form;
    const id = `pi_${charged.length}`;
    const facts = { amount: Number(amount), currency, latest_charge: `ch_${charged.length}` };
    return { status: 200, body: { id, object: 'payment_intent', status: 'succeeded', ...facts } };
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, charged, keys };
}

const order = {
  secret_key: 'sk_test_hunter22',
  amount: 500,
  currency: 'eur',
  payment_method: 'pm_1',
};
const error = (status: number, more: object): Answer => ({ status, body: { error: more } });

describe('stripe-charge', () => {
  it('charges a payment method', async () => {
    const { api, charged } = await stripe();
    expect(await run('stripe-charge', { ...order, api, metadata: { order: '7' } })).toMatchObject({
      kind: 'done',
      result: { id: 'pi_1', status: 'succeeded', amount: 500, currency: 'eur', charge: 'ch_1' },
    });
    expect(charged).toMatchObject([
      { amount: '500', confirm: 'true', 'metadata[order]': '7', 'metadata[job]': 'job-1' },
    ]);
  });

  it('charges once, however often the step is tried', async () => {
    const broken = error(500, { type: 'api_error', message: 'Try again.' });
    const { api, charged, keys } = await stripe([broken]);
    expect(await run('stripe-charge', { ...order, api })).toMatchObject({
      failure: { name: 'PaymentRefused' },
      retryable: true,
    });
    for (const attempt of [2, 3]) {
      const step = { index: 0, name: 's', attempt };
      expect(await run('stripe-charge', { ...order, api }, { step })).toMatchObject({
        result: { id: 'pi_1' },
      });
    }
    expect(charged).toHaveLength(1);
    expect(keys).toEqual(['job-1/s/0', 'job-1/s/0', 'job-1/s/0']);
  });

  it.each([
    [
      error(402, {
        type: 'card_error',
        code: 'card_declined',
        decline_code: 'stolen_card',
        message: 'No.',
      }),
      {
        failure: { name: 'PaymentDeclined', code: 'stolen_card', kind: 'business' },
        retryable: false,
      },
    ],
    [
      error(401, {
        type: 'invalid_request_error',
        message: 'Invalid API Key provided: sk_test_hunter22',
      }),
      { failure: { name: 'PaymentRefused' }, retryable: false },
    ],
    [error(429, { type: 'invalid_request_error', message: 'Slow.' }), { retryable: true }],
    [
      { status: 200, body: { id: 'pi_9', object: 'payment_intent', status: 'requires_action' } },
      { failure: { name: 'PaymentIncomplete', code: 'requires_action' }, retryable: false },
    ],
  ])('reads the answer %j', async (answer, expected) => {
    const { api } = await stripe([answer]);
    const outcome = await run('stripe-charge', { ...order, api });
    expect(outcome).toMatchObject({ kind: 'failed', ...expected });
    expect(JSON.stringify(outcome)).not.toContain('hunter22');
  });

  it('may be tried again when nobody answers', async () => {
    const outcome = await run('stripe-charge', { ...order, api: 'http://127.0.0.1:1' });
    expect(outcome).toMatchObject({ failure: { name: 'PaymentRefused' }, retryable: true });
  });
});
