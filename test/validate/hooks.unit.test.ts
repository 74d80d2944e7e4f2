import { expect, it } from 'vitest';
import { documentProblems } from '../../src/validate/single.js';

const hook = {
  ...{ type: 'hook', name: 'push', flow: 'f', check: 'none' },
  ...{ match: 'body.a', params: '{"a": {}}' },
};

it.each([
  { check: { hmac: { header: 'x-a', prefix: 'sha256=', secret: ['a', { $enc: 'tws:v2:a' }] } } },
  { check: { standard_webhooks: { secret: 'whsec_c2VjcmV0', tolerance: 60_000 } } },
  { check: { token: { query: 'key', secret: 'a' } } },
  { respond: 'result', wait: 'PT1M', dedupe: 'x-id', max_bytes: 1_000, enabled: false },
])('a hook with %j is right', (more) => {
  expect(documentProblems({ ...hook, ...more })).toEqual([]);
});

it.each<[object, RegExp]>([
  [{ check: undefined }, /check is missing; it must be \{token\}, \{hmac\} or/],
  [{ check: { token: { header: 'a', query: 'b', secret: 's' } } }, /check\.token\.header must be/],
  [{ check: { hmac: { header: 'a b', secret: 's' } } }, /check\.hmac\.header must be the name of/],
  [{ check: { hmac: { header: 'a', algorithm: 'md5', secret: 's' } } }, /must be one of sha256/],
  [{ check: { hmac: { header: 'a' } } }, /check\.hmac\.secret is missing; it must be a secret/],
  [
    { check: { hmac: { header: 'a', secret: 's', timestamp: 't', signed: '{body}' } } },
    /check\.hmac\.signed must have "\{timestamp\}"/,
  ],
  [{ check: { token: { header: 'a', secret: '' } } }, /check\.token\.secret must be a secret/],
  [{ check: { token: { header: 'a', secret: '{{KEY}}' } } }, /check\.token\.secret must be the/],
  [
    { check: { hmac: { header: 'a', secret: ['k', '[[k]]'] } } },
    /secret\S*1\S* must be the secret/,
  ],
  [
    { check: { hmac: { header: 'a', secret: 'tws:secret:task:a:b:c' } } },
    /check\.hmac\.secret must not be a reference/,
  ],
  ...['whsec_', 'whsec_…', 'whsec_a', '…', 'whsec_a b'].map((secret): [object, RegExp] => [
    { check: { standard_webhooks: { secret } } },
    /check\.standard_webhooks\.secret must be base64, usually after "whsec_"/,
  ]),
  [{ check: { basic: {} } }, /check\.basic must be left out/],
  [{ match: 'a b' }, /match is no valid JSONata/],
  [{ params: {} }, /params must be a JSONata expression/],
  [{ wait: 'PT5S' }, /wait must be left out unless "respond" is "result"/],
  [{ respond: 'result', wait: 'PT1H' }, /wait must be at most PT2M/],
  [{ max_bytes: 0 }, /max_bytes must be a number of bytes/],
  [{ max_bytes: 2 ** 21 }, /max_bytes must be a number of bytes from 1 to 1048576/],
  [{ problems: [] }, /problems is written by the engines; leave it out/],
])('a hook with %j is refused', (more, message) => {
  const found = documentProblems({ ...hook, ...more });
  expect(found.map((one) => one.message).join('\n')).toMatch(message);
});
