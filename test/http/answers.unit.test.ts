import { describe, expect, it, test } from 'vitest';
import { problem } from '../../src/errors.js';
import { toAnswer } from '../../src/http/answers/problems.js';
import { withSecretsOf, withoutSecrets, withoutSecretsAt } from '../../src/http/answers/redact.js';

const enc = 'tws:v1:aaaaaaaaaaaaaaaaaaaaaa:bbbbbbbbbbbbbbbb:cccccccccccccccccccccc:dddd';
const hidden = '[secret]';
const older = `${'0a'.repeat(16)}:${'1b'.repeat(16)}`;
const reference = 'tws:secret:task:DEFAULT:mail:params.smtp.auth.pass';

describe('an answer', () => {
  test.each<[string, unknown, unknown]>([
    ['a text', { password: 'x' }, { password: hidden }],
    ['a number', { pass: 1234 }, { pass: hidden }],
    ['a list', { api_key: ['a', { b: 'c' }, 'd'] }, { api_key: [hidden, { b: 'c' }, hidden] }],
    [
      'deep down',
      { a: [{ smtp: { auth: { user: 'u', pass: 'p' } } }] },
      { a: [{ smtp: { auth: { user: 'u', pass: hidden } } }] },
    ],
    [
      'headers',
      { Authorization: 'Bearer x', 'X-Api-Key': 'k', cookie: 'a=b', accept: '*/*' },
      { Authorization: hidden, 'X-Api-Key': hidden, cookie: hidden, accept: '*/*' },
    ],
    ['an encrypted text', { password: enc, x: [enc] }, { password: hidden, x: [hidden] }],
    [
      'an encrypted object',
      { password: { $enc: enc }, x: { $enc: enc } },
      { password: hidden, x: hidden },
    ],
    [
      'an encrypted text in another',
      { text: `pass ${enc}, user x` },
      { text: `pass ${hidden}, user x` },
    ],
    [
      'the older format',
      { pass: older, auth: { user: 'u', any: older } },
      { pass: hidden, auth: { user: 'u', any: hidden } },
    ],
    ['a reference', { password: reference }, { password: reference }],
    ['a template', { password: '{{params.secret}}' }, { password: '{{params.secret}}' }],
    ['half a template', { password: 'abc{{x}}' }, { password: hidden }],
    [
      'nothing',
      { password: '', token: null, secret: true },
      { password: '', token: null, secret: true },
    ],
    ['a schema', { password: { type: 'string' } }, { password: { type: 'string' } }],
    [
      'a URL',
      { to: 'see ftp://a:b@h/ and http://u:p@h' },
      { to: `see ftp://${hidden}@h/ and http://${hidden}@h` },
    ],
    ['a mail address', { to: 'ada@example.com' }, { to: 'ada@example.com' }],
    ['other keys', { passenger: 'x', keyboard: 'y' }, { passenger: 'x', keyboard: 'y' }],
  ])('hides a secret in %s as it should', (_what, value, shown) => {
    expect(withoutSecrets(value)).toEqual(shown);
  });

  it('shows encrypted values where that is asked for, and clear ones never', () => {
    const doc = { password: enc, auth: { key: { $enc: enc }, x: older }, token: 'clear' };
    expect(withoutSecrets(doc, { encrypted: true })).toEqual({ ...doc, token: hidden });
  });

  it('hides a secret of a difference by the names on the way to it', () => {
    expect(withoutSecretsAt('clear', ['params', 'password', 0])).toBe(hidden);
    expect(withoutSecretsAt({ password: 'clear', a: 1 }, ['params'])).toEqual({
      ...{ password: hidden, a: 1 },
    });
    expect(withoutSecretsAt(7, ['tasks', 0, 'timeout'])).toBe(7);
  });

  it('is cut where it would be too deep to walk', () => {
    let deep: unknown = 'end';
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(JSON.stringify(withoutSecrets(deep))).toContain('[too deep]');
  });
});

describe('what was shown and comes back', () => {
  it('gets its secrets again, where they were', () => {
    const stored = {
      params: { pass: 'p', url: 'http://a:b@h/', list: [{ token: 't' }] },
      other: 1,
    };
    const shown = withoutSecrets(stored);
    expect(withSecretsOf({ ...shown, other: 2 }, stored)).toEqual({
      doc: { ...stored, other: 2 },
      lost: [],
    });
  });

  it('tells where nothing is known to stand for the sign of a secret', () => {
    const shown = { params: { pass: hidden, list: [{ token: hidden }], note: `a ${hidden} text` } };
    expect(withSecretsOf(shown, undefined).lost).toEqual(['params.pass', 'params.list[0].token']);
    expect(withSecretsOf(shown, { params: { pass: enc } }).lost).toContain('params.pass');
    expect(withSecretsOf({ __proto__: hidden, constructor: hidden }, {}).lost).toEqual([
      'constructor',
    ]);
  });
});

describe('a problem', () => {
  const lines: string[] = [];
  const write = (about: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(about)}`);
  };
  const log = { debug: write, info: write, warn: write, error: write };

  it('of our database is told in the log, and to others as little as can be', () => {
    const away = problem('couch_unreachable', { url: 'http://db.internal', cause: 'refused' });
    const { status, body } = toAnswer(away, log);
    expect([status, body.error]).toEqual([503, 'database_away']);
    expect(JSON.stringify(body)).not.toContain('internal');
    expect(lines.at(-1)).toContain('db.internal');
  });

  it('of a database that was not brought up to date says so', () => {
    const old = problem('view_missing', { view: 'search', database: 'd', app: 'tws' });
    const { status, body } = toAnswer(old, log);
    expect([status, body.error]).toEqual([503, 'database_old']);
    expect(body.hint).toContain('tws init');
  });

  it('that nobody expected is told by a reference only', () => {
    const { status, body } = toAnswer(new Error('at /srv/secret.js'), log);
    expect([status, body.error]).toEqual([500, 'unexpected']);
    expect(body.reason).not.toContain('/srv');
    const reference = /reference ([\w-]+)/.exec(body.reason)?.[1] ?? '?';
    expect(lines.at(-1)).toContain(reference);
    expect(lines.at(-1)).toContain('/srv/secret.js');
    expect(toAnswer('thrown text', log).status).toBe(500);
  });
});
