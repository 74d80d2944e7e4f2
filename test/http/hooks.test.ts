import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { hookOpener } from '../../src/cli/hooks/open.js';
import { createKeyring } from '../../src/secrets/keyring.js';
import { flow, task } from '../cli/terminal.js';
import { openApi, type Reply, type TestApi, type TestOptions } from './server.js';

const cryptoKey = 'a key of this test';
const secret = 'the secret of the sender';

/** An API with a flow that says its parameter `text`, and a hook of it that GitHub signs. */
async function withHook(hook: object = {}, options: TestOptions = {}): Promise<TestApi> {
  const openHook = hookOpener({ cryptoKey });
  const api = await openApi({ openHook, ...options });
  const place = { kind: 'hook', owner: 'me', name: 'push', field: 'check.hmac.secret' } as const;
  const sealed = await createKeyring(cryptoKey).encrypt(secret, place);
  await api.put(
    { ...task('say', { params: { text: '{{params.text}}' } }), _id: 'task:DEFAULT:say' },
    {
      ...flow('f', ['say'], { owner: 'me', output: 'results.say' }),
      ...{ _id: 'flow:me:f', schema: { properties: { text: { type: 'string' } } } },
    },
    {
      ...{ _id: 'hook:me:push', type: 'hook', name: 'push', owner: 'me', flow: 'f' },
      check: { hmac: { header: 'X-Hub-Signature-256', prefix: 'sha256=', secret: sealed } },
      ...{ dedupe: 'X-GitHub-Delivery', match: 'body.ref = "main"' },
      params: '{"say": {"text": body.message & " by " & headers.`x-github-event` & query.q}}',
      ...hook,
    },
  );
  return api;
}

type Delivered = Reply<{
  readonly outcome: string;
  readonly job: string;
  readonly result: unknown;
}>;
type Sent = { readonly id?: string; readonly path?: string; readonly signed?: string };

function deliver(
  { ask }: TestApi,
  raw: string,
  { id = 'd1', path = '/hooks/push::me', signed = raw }: Sent = {},
): Promise<Delivered> {
  const signature = createHmac('sha256', secret).update(signed).digest('hex');
  const headers = {
    ...{ 'x-hub-signature-256': `sha256=${signature}`, 'x-github-delivery': id },
    'x-github-event': 'push',
  };
  return ask('POST', path, { raw, headers });
}

/** What a delivery is answered that says how long it is, and never sends its body. */
function announced({ url }: TestApi, bytes: number): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes) };
    const asked = request(`${url}/_tws/hooks/push::me`, { method: 'POST', headers }, (reply) => {
      void text(reply).then((said) => {
        asked.destroy();
        resolve([reply.statusCode ?? 0, said]);
      }, reject);
    });
    asked.on('error', reject);
    asked.flushHeaders();
  });
}

const body = '{ "ref": "main", "message":  "hi" }';

describe('a delivery to a hook', () => {
  it('T25, T27: runs a flow once, whichever server it comes to, without other credentials', async () => {
    const settings = { sign_in: 'always' } as const;
    const api = await withHook({}, { settings });
    const other = await openApi({ workspace: api, settings, openHook: hookOpener({ cryptoKey }) });
    const text = '{"ref": "main", "message": "{{job.flow}} [[x]]"}';
    const both = await Promise.all([api, other, api].map((one) => deliver(one, text)));
    expect(both.map(({ body: { outcome } }) => outcome).sort()).toEqual([
      ...['duplicate', 'duplicate', 'started'],
    ]);
    const job = String(both[0]?.body.job);
    expect(new Set(both.map((one) => one.body.job))).toEqual(new Set([job]));
    expect(job).toMatch(/^hook-run:push:me:[0-9a-f]{32}$/);
    await api.engine();
    const { exit, result, started_by: by } = await api.ended(job);
    expect([exit, result]).toEqual([0, { text: '{{job.flow}} [[x]] by push' }]);
    expect(by).toMatchObject({ hook: 'hook:me:push', delivery: 'd1' });
    const query = '/hooks/hook:me:push?q=!';
    const named = await deliver(api, body, { id: 'd2', path: query });
    expect((await api.ended(named.body.job))['result']).toEqual({ text: 'hi by push!' });
    const again = await deliver(api, body, { id: 'd2', path: query });
    expect([again.status, again.body]).toEqual([
      200,
      { outcome: 'duplicate', job: named.body.job },
    ]);
  });

  it('is refused without a word when the bytes are not those that were signed', async () => {
    const api = await withHook({ max_bytes: 70_000 });
    const same = JSON.stringify(JSON.parse(body));
    const { status, body: answer } = await deliver(api, body, { signed: same });
    expect([status, answer]).toEqual([
      401,
      expect.objectContaining({
        error: 'hook_refused',
        reason: 'The sender could not be verified.',
      }),
    ]);
    expect(JSON.stringify(api.lines)).not.toContain(secret);
    const shown = await api.ask('GET', '/hooks/hook:me:push?owner=me');
    expect(shown.text).not.toContain(secret);
    expect(shown.body).toMatchObject({ path: '/_tws/hooks/push%3A%3Ame', status: 'active' });
    expect(await announced(api, 70_001)).toEqual([413, expect.stringContaining('70000')]);
    // What was counted is written when the server ends, or after some seconds.
    await api.close();
    const refused = { count: 2, at: expect.any(Number) as number, status: 413 };
    expect(await api.store.get('hook:me:push')).toMatchObject({
      refused,
      dedupe: 'X-GitHub-Delivery',
    });
  });

  it('starts nothing where match does not hold, and is not there while the hook is disabled', async () => {
    const api = await withHook();
    const { status, body: answer } = await deliver(api, '{"ref": "dev"}');
    expect([status, answer]).toEqual([200, { outcome: 'ignored' }]);
    const doc = (await api.store.get('hook:me:push')) as { readonly _id: string };
    await api.put({ ...doc, enabled: false });
    expect((await deliver(api, body)).status).toBe(404);
  });

  it('T26: is told by a job that ends at once when the hook cannot be followed for it', async () => {
    const api = await withHook({ params: '$number(body.message)' });
    const refused = await deliver(api, body);
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      error: 'hook_unfit',
      reason: expect.stringMatching(/: job hook-run:push:me:[0-9a-f]{32} says why\.$/) as string,
    });
    const [job = ''] = /hook-run:push:me:[0-9a-f]{32}/.exec(refused.text) ?? [];
    await api.engine();
    const { exit, failure } = await api.ended(job);
    expect([exit, failure?.name]).toEqual([3, 'TriggerRefused']);
    expect(failure?.message).toContain('params cannot be evaluated: Unable to cast value');
    const doc = (await api.store.get('hook:me:push')) as { readonly _id: string };
    await api.put({ ...doc, params: '{}' });
    expect((await deliver(api, body)).status).toBe(202);
  });

  it('is answered with the output of the flow where the hook waits for it', async () => {
    const hook = { check: 'none', respond: 'result', match: undefined, dedupe: undefined };
    const params = '{"say": {"text": body.text}}';
    const api = await withHook({ ...hook, params });
    await api.engine();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = { raw: 'text=a+b%21&x=1&x=2', headers };
    const { status, body: answer } = await api.ask('POST', '/hooks/push::me', form);
    expect([status, answer]).toEqual([
      200,
      expect.objectContaining({
        ...{ outcome: 'started', status: 'succeeded', result: { text: 'a b!' } },
      }),
    ]);
  });
});

it('a hook that was stored by hand with mistakes is told them by an engine', async () => {
  const { put, engine, until } = await withHook();
  const hook = { type: 'hook', name: 'bad', flow: 'f' };
  await put(
    { ...hook, _id: 'bad', check: { hmac: { header: 'x', signed: 'a', secret: 's' } } },
    { ...hook, _id: 'worse', check: 'none', params: '{' },
  );
  await engine();
  await put({ ...hook, _id: 'none' });
  const problemsOf = async (id: string) =>
    (await until(id, ({ problems }) => problems !== undefined))['problems'];
  expect(await problemsOf('bad')).toEqual([
    { path: 'check.hmac.signed', message: 'check.hmac.signed must have "{body}" once.' },
  ]);
  expect(await problemsOf('worse')).toEqual([
    { path: 'params', message: expect.stringContaining('params is no valid JSONata') as string },
  ]);
  expect(await problemsOf('none')).toMatchObject([{ path: 'check' }]);
});
