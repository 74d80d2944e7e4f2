import { describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/validate/document.js';
import { checkDefinitions } from '../../src/reading/check.js';
import { readNotify } from '../../src/model/notify.js';
import { parseDocument } from '../../src/reading/parse.js';
import type { Flow } from '../../src/model/flow.js';

const url = 'https://example.com/hook';

describe('readNotify', () => {
  it.each<[string, unknown]>([
    ['a webhook', { url }],
    ['an address by template', { url: '{{job.data.url}}' }],
    ['an encrypted address', { url: { $enc: 'tws:v1:x' }, secret: { $enc: 'tws:v1:y' } }],
    ['a task with parameters', { on: ['failed', 'cancelled'], task: 'mail', params: { a: 1 } }],
    ['a flow', { on: ['succeeded'], flow: 'next', include: ['params', 'result'] }],
    ['an entry for each user', { on: ['due'], task: 'mail', each: true }],
    [
      'the link of a form as it is',
      {
        task: 'mail',
        params: {
          a: '{{form.link}} {{{ form.link }}} {{~form.link~}} {{json form.link}} {{! up form.link }}',
          b: '{{#if form.link}}{{../form.link}}{{else if @root.form.link}}x{{/if}} form.link',
          c: ['{{upper job.params.form.link}} {{form.linked}} {{upper platform.link}}', null, 5],
        },
      },
    ],
    ['a webhook with all there is', { url, headers: { a: 1 }, body: [], timeout: 1, retry: 2 }],
  ])('takes %s', (_title, entry) => {
    expect(readNotify([entry])).toEqual({ entries: [entry], problems: [] });
  });

  it.each<[unknown, string, RegExp]>([
    [{}, 'notify[0]', /must name a "url", a "task" or a "flow"/],
    ['mail', 'notify[0]', /must be \{on, url\}/],
    [{ url: 'ftp://x' }, 'notify[0].url', /must be an address with http or https[^;]*\.$/],
    [{ url: 'https://a:b@x' }, 'notify[0].url', /without a password\.$/],
    [{ url, task: 'mail' }, 'notify[0].task', /must not stand beside "url"/],
    [{ url, params: {} }, 'notify[0].params', /a webhook has a "body"/],
    [{ task: 'mail', secret: 'x' }, 'notify[0].secret', /it is for webhooks/],
    [{ url, on: ['sometimes'] }, 'notify[0].on[0]', /must be a list of "succeeded"/],
    [{ url, on: [] }, 'notify[0].on', /must be a list of "succeeded"/],
    [{ url, format: 'irc' }, 'notify[0].format', /must be "mail", "slack"/],
    [{ url, format: 'mail' }, 'notify[0].format', /name a "task" that sends mail/],
    [{ url, format: 'slack', body: 1 }, 'notify[0].format', /must not stand beside "body"/],
    [{ flow: 'f', format: 'slack' }, 'notify[0].format', /a flow makes its own texts/],
    [{ url, include: ['secrets'] }, 'notify[0].include[0]', /"params" or "result"/],
    [
      { url, body: { a: ['{{lookup form.link 0}}'] } },
      'notify[0].body',
      /^notify\[0\]\.body must use form\.link as it is, \{\{form\.link\}\}: \{\{lookup form\.link 0\}\} would change the link\.$/,
    ],
    [{ task: 'm', params: { t: 'a {{uppercase form.link}}' } }, 'notify[0].params', /would change/],
    [{ task: 'm', params: { t: '{{form.link.length}}' } }, 'notify[0].params', /would change/],
    [{ task: 'm', params: { t: '{{#with form.link}}{{/with}}' } }, 'notify[0].params', /change/],
    [{ task: 'm', params: { t: '{{f (g form.link)}}' } }, 'notify[0].params', /change/],
    [{ url: 'https://x.y/{{enc @root.form.link}}' }, 'notify[0].url', /would change/],
    [{ url, retry: -1 }, 'notify[0].retry', /retries/],
    [{ url, each: true }, 'notify[0].each', /"waiting", .* nothing else asks users/],
    [{ url, on: ['late'], each: true }, 'notify[0].each', /nothing else asks users/],
    [{ url, on: ['waiting'], each: 1 }, 'notify[0].each', /true or false/],
  ])('leaves out %j and tells of %s', (entry, path, message) => {
    const { entries, problems } = readNotify([entry, { url }]);
    expect(entries).toEqual([{ url }]);
    expect(problems).toMatchObject([{ path }]);
    expect(problems[0]?.message).toMatch(message);
  });

  it('takes the first of very many', () => {
    const { entries, problems } = readNotify(Array.from({ length: 101 }, () => ({ url })));
    expect(entries).toHaveLength(100);
    expect(problems).toEqual([
      { path: 'notify', message: 'notify must have at most 100 entries; it is a list.' },
    ]);
  });

  it('tells of what is no list', () => {
    expect(readNotify(5)).toEqual({
      entries: [],
      problems: [{ path: 'notify', message: 'notify must be a list of notifications; it is 5.' }],
    });
    expect(readNotify(undefined)).toEqual({ entries: [], problems: [] });
  });
});

describe('a document whose notify cannot be read', () => {
  const flow = { type: 'flow', name: 'f', owner: 'me', tasks: ['a'], notify: [{ url: 'x' }] };

  it('is told so before it is stored, and can be used all the same', () => {
    expect(checkDocument('f.json', flow)).toMatchObject([
      { file: 'f.json', path: 'notify[0].url' },
    ]);
    const job = { type: 'job', flow: 'f', notify: {} };
    expect(checkDocument('j.json', job)).toMatchObject([{ file: 'j.json', path: 'notify' }]);
    for (const doc of [flow, job]) {
      expect(parseDocument({ ...doc, _id: 'x', _rev: '1-0' })).toMatchObject({ ok: true });
    }
  });

  it('is told of tasks and flows that nobody has defined', () => {
    const notify = [{ task: 'gone' }, { flow: 'lost' }, { url }];
    const parsed = parseDocument({ ...flow, notify, _id: 'x', _rev: '1-0' });
    const flows = parsed.kind === 'flow' && parsed.ok ? [parsed.value as Flow] : [];
    const tasks = [{ type: 'task' as const, name: 'a' }];
    expect(checkDefinitions({ tasks, flows })).toMatchObject([
      { path: 'notify[0].task', level: 'warning', missing: { kind: 'task', name: 'gone' } },
      { path: 'notify[1].flow', level: 'warning', missing: { kind: 'flow', name: 'lost' } },
    ]);
  });
});
