import { describe, expect, it } from 'vitest';
import { folderWith } from '../plugin/attempt.js';
import { run } from './shipped.js';

describe('noop', () => {
  it('gives back its parameters', async () => {
    expect(await run('noop', { a: [1] })).toMatchObject({ kind: 'done', result: { a: [1] } });
  });
});

describe('fail', () => {
  it('fails', async () => {
    expect(await run('fail', {})).toMatchObject({
      kind: 'failed',
      failure: { name: 'Failed', message: 'It was told to fail.' },
    });
  });

  it('fails exactly as it is told', async () => {
    const params = {
      message: 'no luck',
      name: 'Luck',
      code: 'E7',
      retryable: true,
      retry_after: 90,
      exit: 9,
    };
    expect(await run('fail', params)).toMatchObject({
      kind: 'failed',
      failure: { name: 'Luck', message: 'no luck', code: 'E7' },
      retryable: true,
      retryAfterMs: 90,
      exit: 9,
    });
  });
});

describe('worker', () => {
  const job = (more: object = {}) => ({ job: { _id: 'j', type: 'job', flow: 'f', ...more } });

  it.each<[string, object, RegExp]>([
    ['the usual queue', {}, /^work\/default\/500\/\d{16}\/[0-9a-f-]{36}$/],
    ['queue and priority of its job', { queue: 'mail', priority: 7 }, /^work\/mail\/007\//],
    ['the queue of the flow', { flow_definition: { queue: 'slow' } }, /^work\/slow\/500\//],
    ['the queue of the parent', { parent: { queue: 'a b' } }, /^work\/a%20b\/500\//],
  ])('offers the step in %s', async (_title, more, signal) => {
    const outcome = await run('worker', {}, job(more));
    expect(outcome).toMatchObject({
      kind: 'wait',
      signal: expect.stringMatching(signal) as string,
    });
    expect(outcome).not.toHaveProperty('timeoutMs');
  });

  it('offers it in a queue of its own where its parameters name one', async () => {
    const params = { worker: { queue: 'mail' } };
    expect(await run('worker', params, job({ queue: 'slow' }))).toMatchObject({
      signal: expect.stringMatching(/^work\/mail\/500\//) as string,
    });
  });

  it('offers every attempt under a name of its own', async () => {
    const [one, other] = await Promise.all([run('worker', {}), run('worker', {})]);
    expect(one).not.toEqual(other);
  });

  it('offers it no longer than its job may wait, and not at all when that is over', async () => {
    const soon = await run('worker', {}, job({ expires: Date.now() + 3_600_000 }));
    expect((soon as { timeoutMs?: number }).timeoutMs).toBeLessThanOrEqual(3_600_000);
    for (const expires of [1, '2020-01-01T00:00:00Z']) {
      expect(await run('worker', {}, job({ expires }))).toMatchObject({
        ...{ kind: 'failed', failure: { name: 'Expired' }, retryable: false, exit: 5 },
      });
    }
  });

  it.each([{ args: {} }, { worker: { speed: 1 } }, { worker: { lease: 0 } }])(
    'takes no %j',
    async (params) => {
      expect(await run('worker', params)).toMatchObject({
        kind: 'failed',
        failure: { name: 'ParamsInvalid' },
      });
    },
  );
});

describe('templater', () => {
  const results = { order: { total: 12, items: ['a', 'b'] } };

  it.each([
    ['names of the step', { template: '{{job._id}}: {{results.order.total}}' }, 'job-1: 12'],
    ['its other parameters by bare name', { template: '{{title}}', title: 'T' }, 'T'],
    ['data', { template: '{{title}}', title: 'T', data: { title: 'D' } }, 'D'],
    ['lists', { template: '{{#each results.order.items}}<{{this}}>{{/each}}' }, '<a><b>'],
    ['no escaping', { template: '{{x}}', x: '<&>' }, '<&>'],
    [
      'escaping when asked for',
      { template: '{{x}} {{{x}}}', x: '<&>', html: true },
      '&lt;&amp;&gt; <&>',
    ],
    ['JSON', { template: '{{json results.order.items}}' }, '["a","b"]'],
  ])('fills in %s', async (_title, params, text) => {
    expect(await run('templater', params, { results })).toMatchObject({
      kind: 'done',
      result: text,
    });
  });

  it.each(['{{lookup token 0}}-{{lookup token 1}}', '{{inner}}', '{{params.token}}', '{{deep.x}}'])(
    'sees references in place of secrets: %s',
    async (template) => {
      const hidden = (token: string) => ({
        template,
        token,
        deep: { x: token },
        data: { inner: token },
      });
      const params = hidden('QZsecret');
      const options = { shown: hidden('tws:ref'), clear: ['QZsecret'] };
      const { result } = (await run('templater', params, options)) as { readonly result?: unknown };
      expect(['t-w', 'tws:ref']).toContain(result);
    },
  );

  it('fills in several templates at once', async () => {
    const template = { subject: 'Order {{n}}', text: 'It is {{n}}.' };
    expect(await run('templater', { template, n: 3 })).toMatchObject({
      result: { subject: 'Order 3', text: 'It is 3.' },
    });
  });

  it('takes the template from a file of the project', async () => {
    const cwd = folderWith({ 'templates/a.html': '<b>{{x}}</b>' });
    const params = { file: 'templates/a.html', x: '"', html: true };
    expect(await run('templater', params, { cwd })).toMatchObject({
      result: '<b>&quot;</b>',
    });
  });

  it.each([
    [{ file: '../a.html' }, 'FileOutside'],
    [{ file: 'none.html' }, 'FileUnreadable'],
    [{}, 'TemplateMissing'],
    [{ template: 7 }, 'ParamsInvalid'],
    [{ template: '{{nobody}}' }, 'TemplateError'],
    [{ template: '{{#if' }, 'TemplateError'],
  ])('refuses %j', async (params, name) => {
    expect(await run('templater', params, { cwd: folderWith() })).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name },
    });
  });
});
