import { describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/validate/document.js';
import { settingsFileSchema } from '../../src/config/file.js';
import { readNotifyList } from '../../src/model/notify-list.js';

const url = 'https://example.com/hook';
const list = (more: Record<string, unknown>) => ({ type: 'notify', notify: [{ url }], ...more });
const secret = { $enc: 'tws:v2:a:b:c:d:e' };

describe('a notify list', () => {
  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['an owner that is none', { owner: 7 }, 'owner', /^owner must be a name/],
    ['no entries', { notify: undefined }, 'notify', /^notify /],
    ['entries that are no list', { notify: 'mail' }, 'notify', /must be a list of notifications/],
    ['an entry that says nothing', { notify: [{}] }, 'notify[0]', /must name a "url"/],
    [
      'an encrypted value',
      { notify: [{ url: secret }] },
      'notify[0].url',
      /no list can decrypt.*name a "task"/,
    ],
    [
      'a secret in clear',
      { notify: [{ url, secret: 'whsec_AAAA' }] },
      'notify[0].secret',
      /would be readable.*name a "task"/,
    ],
    [
      'headers in clear',
      { notify: [{ url, headers: { authorization: 'Bearer x' } }] },
      'notify[0].headers',
      /would be readable/,
    ],
  ])('with %s is refused, and told in the document', (_title, more, path, message) => {
    const doc = list(more);
    const [found, ...others] = checkDocument('f.json', doc);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ path });
    expect(found?.message).toMatch(message);
    const { problems, entries } = readNotifyList({ ...doc, _id: 'n', _rev: '1-a' });
    expect(problems).toMatchObject([{ path }]);
    expect(entries).toEqual([]);
  });

  it('belongs to everybody without an owner', () => {
    const read = readNotifyList({ ...list({ problems: [] }), _id: 'n', _rev: '1-a' });
    expect(read).toEqual({
      entries: [{ of: 'n', at: 0, owner: 'DEFAULT', entry: { url } }],
      problems: [],
    });
    expect(checkDocument('f.json', list({}))).toEqual([]);
  });

  it.each<[unknown, boolean]>([
    [
      [
        { url, owner: 'me' },
        { on: ['failed'], task: 'mail' },
      ],
      true,
    ],
    [[{ url, onn: ['failed'] }], false],
    [[{ url: secret }], false],
    [[{ url, secret: 'whsec_AAAA' }], false],
    [{ url }, false],
  ])('may be in tws.json: %j', (notify, isGood) => {
    expect(settingsFileSchema.safeParse({ notify }).success).toBe(isGood);
  });
});
