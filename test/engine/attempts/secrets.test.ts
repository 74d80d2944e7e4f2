import { describe, expect, it } from 'vitest';
import { createKeyring, type SecretPlace } from '../../../src/secrets/keyring.js';
import { encryptVersion1 } from '../../support/version1.js';
import { startReceiver } from '../../support/receiver.js';
import { openWorkspace } from '../../support/workspace.js';
import { flow } from '../../cli/terminal.js';

const cryptoKey = 'key of this test';
const clear = 'hunter22-of-acme';
const ring = createKeyring(cryptoKey);
const place: SecretPlace = {
  kind: 'task',
  owner: 'acme',
  name: 'login',
  field: 'params.auth.token',
};
const files = {
  'login.mjs': `export default ({ params, job, render }) =>
    [params.auth?.token?.length, params.url, render('{{params.auth.token}}').length];`,
  'tell.mjs': `export default ({ params }) => JSON.stringify(params).split('').join('.');`,
};

const task = (name: string, more: object = {}) => ({ type: 'task', name, ...more });

/** A task of acme with a secret, and flows that use it. */
async function acme(token?: string) {
  const space = await openWorkspace(files);
  const params = { url: 'good', auth: { token: token ?? (await ring.encrypt(clear, place)) } };
  const own = { owner: 'acme' };
  await space.put(
    { _id: 'login', ...task('login', { params }), ...own },
    { _id: 'tell', ...task('tell'), owner: 'DEFAULT' },
    { _id: 'jsonata', ...task('jsonata'), owner: 'DEFAULT' },
    { _id: 'http', ...task('http-request'), owner: 'DEFAULT' },
    { _id: 'f', ...flow('f', ['login']), ...own },
  );
  await space.engine({ cryptoKey, keyless: true });
  const ended = async (doc: object) => {
    await space.put({ type: 'job', owner: 'acme', ...doc, _id: 'j' });
    return space.ended('j');
  };
  return { ...space, params, ended };
}

const textOf = (value: unknown): string => JSON.stringify(value).replaceAll('.', '');

describe('a secret of a stored task', () => {
  // Shows X-47.
  it.each<[string, (() => string) | undefined]>([
    ['version 2', undefined],
    ['version 1', () => encryptVersion1(clear, cryptoKey)],
  ])('reaches its plugin, and stands nowhere in the job (%s)', async (_version, older) => {
    const { ended } = await acme(older?.());
    const job = await ended({ flow: 'f' });
    expect(job).toMatchObject({ exit: 0, steps: [{ result: [clear.length, 'good', 44] }] });
    expect(JSON.stringify(job)).not.toMatch(/tws:v\d|hunter/);
    expect(JSON.stringify(job)).toContain('tws:secret:task:acme:login:params.auth.token');
  });

  it('is that of now when an attempt begins: a rotated one works in a job under way', async () => {
    const space = await openWorkspace(files);
    const first = await ring.encrypt(clear, place);
    const waiting = { wait: { signal: 'go' } };
    const doc = {
      _id: 'login',
      ...task('login', { params: { auth: { token: first } } }),
      owner: 'acme',
    };
    await space.put(doc, { _id: 'f', ...flow('f', [waiting, 'login']), owner: 'acme' });
    await space.engine({ cryptoKey });
    await space.put({ _id: 'j', type: 'job', flow: 'f', owner: 'acme' });
    await space.until('j', ({ steps }) => Array.isArray(steps) && steps.length > 0);
    const stored = (await space.store.get('login')) as object;
    const token = await ring.encrypt('a longer secret than before', place);
    await space.put({ ...stored, params: { url: 'moved', auth: { token } } });
    await space.put({ type: 'signal', job: 'j', name: 'go' });
    const job = await space.ended('j');
    expect(job).toMatchObject({
      exit: 0,
      steps: [{}, { result: ['a longer secret than before'.length, 'moved', 44] }],
    });
  });

  it('that was copied from another field fails the step by name', async () => {
    const elsewhere = await ring.encrypt(clear, { ...place, field: 'params.auth.pass' });
    const { ended } = await acme(elsewhere);
    const job = await ended({ flow: 'f' });
    expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretUnreadable' } });
    expect(job.failure?.message).toContain(
      'params.auth.token of task "login" (owner acme) cannot be decrypted',
    );
    expect(job.failure?.message).toContain('another owner, document or field');
  });

  it('is used by a job of an earlier release, which carries it encrypted', async () => {
    const old = encryptVersion1('the old value', cryptoKey);
    const { ended } = await acme();
    const params = { url: 'good', auth: { token: old } };
    const definitions = { login: { type: 'task', name: 'login', owner: 'acme', params } };
    const job = await ended({ ...begun, definitions, params: { 'login-0': params } });
    expect(job).toMatchObject({ exit: 0, steps: [{ result: [clear.length, 'good', 44] }] });
  });
});

const begun = {
  flow: 'f',
  flow_rev: '1-x',
  state: '$$ready',
  start: Date.now(),
  tasks: { structure: 'sequence', sequence: [{ task: 'login' }] },
  flow_definition: { type: 'flow', name: 'f', owner: 'acme' },
  steps: [],
  run: 1,
};

describe('an attack on a secret', () => {
  const reference = 'tws:secret:task:acme:login:params.auth.token';

  it.each(['$base64encode(params.x)', '$join($split(params.x, ""), ".")'])(
    'gets nothing from an encrypted value in the parameters of jsonata: %s',
    async (expression) => {
      const { ended, params } = await acme();
      for (const x of [params.auth.token]) {
        const job = await ended({ tasks: ['jsonata'], params: { jsonata: { expression, x } } });
        expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretMisplaced' } });
        expect(textOf(job)).not.toContain(clear);
      }
    },
  );

  it.each<[string, (token: string) => unknown]>([
    ['version 1', () => encryptVersion1(clear, cryptoKey)],
    ['version 2', (token) => token],
    ['an object', (token) => ({ $enc: token })],
    ['a reference', () => reference],
  ])('gets nothing sent in clear by http-request (%s)', async (_form, form) => {
    const { url, received } = await startReceiver();
    const { ended, params } = await acme();
    const json = { x: form(params.auth.token) };
    const job = await ended({ tasks: ['http-request'], params: { 'http-request': { url, json } } });
    expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretMisplaced' } });
    expect(received).toEqual([]);
  });

  it('gets nothing by a template, a result or data: what comes of these stays a text', async () => {
    const { ended, params } = await acme();
    const { token } = params.auth;
    const data = { x: token };
    const expression = `{"x": "${token}"}`;
    const tasks = [
      { task: 'jsonata', params: { expression } },
      { task: 'tell', params: { a: '{{results.jsonata.x}}', b: '{{job.data.x}}' } },
    ];
    const job = await ended({ tasks, data });
    expect(job.exit).toBe(0);
    expect(textOf(job)).not.toContain(clear);
    const told = JSON.stringify(job.steps.at(-1)).replaceAll('.', '');
    expect(told).toContain(token.slice(-12));
  });

  it('cannot send it elsewhere: parameters beside a secret are sealed', async () => {
    const { ended } = await acme();
    const job = await ended({ flow: 'f', params: { login: { url: 'evil' } } });
    expect(job).toMatchObject({ exit: 3, failure: { name: 'ParamSealed' } });
    expect(job.failure?.message).toContain('url of task "login"');
  });

  it.each<[string, object]>([
    ['another address', { url: 'evil', auth: { token: reference } }],
    ['other parameters beside', { url: 'evil', more: 'x', auth: { token: reference } }],
  ])('with a forged snapshot gets the stored parameters: %s', async (_what, params) => {
    const { ended } = await acme();
    const definitions = { login: { type: 'task', name: 'login', owner: 'acme', params } };
    const job = await ended({ ...begun, definitions, params: { 'login-0': params } });
    expect(job).toMatchObject({ exit: 0, steps: [{ result: [clear.length, 'good', 44] }] });
  });

  it.each<[string, object, string]>([
    [
      'another plugin',
      {
        login: {
          type: 'task',
          name: 'login',
          owner: 'acme',
          plugin: 'tell',
          params: { auth: { token: reference } },
        },
      },
      'SecretPlugin',
    ],
    [
      'another owner',
      {
        login: {
          type: 'task',
          name: 'login',
          owner: 'zeta',
          params: { auth: { token: reference } },
        },
      },
      'SecretGone',
    ],
    [
      'a field that is none',
      { login: { type: 'task', name: 'login', owner: 'acme', params: { y: reference } } },
      'SecretGone',
    ],
  ])('with a forged snapshot is refused: %s', async (_what, definitions, name) => {
    const { ended } = await acme();
    const [{ params }] = Object.values(definitions) as [{ params: object }];
    const job = await ended({ ...begun, definitions, params: { 'login-0': params } });
    expect(job).toMatchObject({ exit: 3, failure: { name } });
    expect(textOf(job)).not.toContain(clear);
  });

  it('of another owner does not see it under the name of its own', async () => {
    const { ended } = await acme();
    const params = { auth: { token: reference } };
    const definitions = { login: { type: 'task', name: 'login', owner: 'acme', params } };
    const job = await ended({
      ...begun,
      owner: 'zeta',
      definitions,
      params: { 'login-0': params },
    });
    expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretGone' } });
  });
});
