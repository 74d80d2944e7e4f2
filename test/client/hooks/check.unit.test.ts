import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isProved, proofOf, type HookRequest } from '../../../src/client/hooks/check.js';
import type { HookCheck } from '../../../src/model/hook.js';

type Example = {
  readonly check: HookCheck;
  readonly secret: string;
  /** Seconds. */
  readonly at: number;
  readonly request: HookRequest;
};

const text = (body: string): Uint8Array => Buffer.from(body);

/** As GitHub documents it: "Validating webhook deliveries". */
const github: Example = {
  check: { hmac: { header: 'X-Hub-Signature-256', prefix: 'sha256=', secret: '' } },
  secret: "It's a Secret to Everybody",
  at: 0,
  request: {
    headers: {
      'x-hub-signature-256':
        'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
    query: {},
    raw: text('Hello, World!'),
  },
};

/** As Slack documents it: "Verifying requests from Slack". */
const slack: Example = {
  check: {
    hmac: {
      ...{ header: 'x-slack-signature', prefix: 'v0=', timestamp: 'x-slack-request-timestamp' },
      ...{ signed: 'v0:{timestamp}:{body}', secret: '' },
    },
  },
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  at: 1531420618,
  request: {
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    query: {},
    raw: text(
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    ),
  },
};

/** The example of the Standard Webhooks specification. */
const standard: Example = {
  check: { standard_webhooks: { secret: '' } },
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  at: 1614265330,
  request: {
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    query: {},
    raw: text('{"test": 2432232314}'),
  },
};

/** Stripe publishes the scheme, and no example with a secret: this one is made by hand. */
const stripe: Example = {
  check: {
    hmac: {
      ...{ header: 'stripe-signature', secret: '' },
      fields: { timestamp: 't', signature: 'v1' },
    },
  },
  secret: 'whsec_test_secret',
  at: 1492774577,
  request: {
    headers: {
      'stripe-signature': `t=1492774577,v1=${'0'.repeat(64)},v1=${createHmac('sha256', 'whsec_test_secret').update('1492774577.{"id":"evt_1"}').digest('hex')},v0=6ffbb59b`,
    },
    query: {},
    raw: text('{"id":"evt_1"}'),
  },
};

const examples = { github, slack, standard, stripe };

describe.each(Object.entries(examples))('a signature as of %s', (_name, one) => {
  const { check, secret, at, request } = one;
  const passes = (more: Partial<Example> & { readonly secrets?: readonly string[] } = {}) =>
    isProved(more.check ?? check, more.request ?? request, {
      secrets: more.secrets ?? [more.secret ?? secret],
      now: (more.at ?? at) * 1_000,
    });

  it('is the one that was published', () => {
    expect(passes()).toBe(true);
    expect(passes({ secrets: ['b3RoZXI=', secret] })).toBe(true);
  });

  it('is refused with another secret, body or header', () => {
    expect(passes({ secret: 'b3RoZXI=' })).toBe(false);
    expect(passes({ secrets: [] })).toBe(false);
    expect(passes({ request: { ...request, raw: text('{"test": 1}') } })).toBe(false);
    for (const name of Object.keys(request.headers)) {
      const { [name]: value = '', ...headers } = request.headers;
      expect(passes({ request: { ...request, headers } }), name).toBe(false);
      const cut = { ...headers, [name]: value.slice(0, -3) };
      expect(passes({ request: { ...request, headers: cut } }), name).toBe(
        // The last part of Stripe's header is of a scheme that does not count.
        one === stripe,
      );
    }
  });

  it('is too old after five minutes, and too new before, where it has a time', () => {
    const hasTime = one !== github;
    expect([passes({ at: at + 300 }), passes({ at: at - 300 })]).toEqual([true, true]);
    expect(passes({ at: at + 301 })).toBe(!hasTime);
    expect(passes({ at: at - 301 })).toBe(!hasTime);
  });

  it('is made by a sender that has the secret', () => {
    const now = 1_700_000_000_123;
    const proof = proofOf(check, secret, { raw: request.raw, now, id: 'msg_1' });
    const headers = Object.fromEntries(
      Object.entries(proof.headers).map(([key, value]) => [key.toLowerCase(), value]),
    );
    expect(isProved(check, { ...request, ...proof, headers }, { secrets: [secret], now })).toBe(
      true,
    );
  });
});

describe('a token', () => {
  const asks = (check: HookCheck, request: Partial<HookRequest>, ...secrets: string[]) =>
    isProved(check, { headers: {}, query: {}, raw: text(''), ...request }, { secrets, now: 0 });

  it('is read from a header, behind a prefix, or from the address', () => {
    const inHeader = { token: { header: 'X-Gitlab-Token', secret: '' } };
    expect(asks(inHeader, { headers: { 'x-gitlab-token': 'a' } }, 'a')).toBe(true);
    expect(asks(inHeader, { headers: { 'x-gitlab-token': 'b' } }, 'a')).toBe(false);
    expect(asks(inHeader, {}, 'a')).toBe(false);
    const bearer = { token: { header: 'authorization', prefix: 'Bearer ', secret: '' } };
    expect(asks(bearer, { headers: { authorization: 'Bearer a' } }, 'old', 'a')).toBe(true);
    expect(asks(bearer, { headers: { authorization: 'a' } }, 'a')).toBe(false);
    const inQuery = { token: { query: 'key', secret: '' } };
    expect(asks(inQuery, { query: { key: 'a' } }, 'a')).toBe(true);
    expect(asks(inQuery, { query: { key: ['a', 'a'] } }, 'a')).toBe(false);
    expect(proofOf(bearer, 'a', { raw: text(''), now: 0, id: '' })).toEqual({
      headers: { authorization: 'Bearer a' },
      query: {},
    });
    expect(proofOf(inQuery, 'a', { raw: text(''), now: 0, id: '' }).query).toEqual({ key: 'a' });
  });
});

it('a signature may be of another hash and in base64', () => {
  const check = {
    hmac: { header: 's', algorithm: 'sha1', encoding: 'base64', secret: '' },
  } as const;
  const signature = createHmac('sha1', 'k').update('body').digest('base64');
  const request = { headers: { s: signature }, query: {}, raw: text('body') };
  expect(isProved(check, request, { secrets: ['k'], now: 0 })).toBe(true);
});
