import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { createKeyring } from '../../../src/secrets/keyring.js';
import { openWorkspace } from '../../support/workspace.js';
import { flow, task } from '../../cli/terminal.js';

const cryptoKey = 'key of this test';
const ring = createKeyring(cryptoKey);
const clear = 'hunter22-of-acme';
const files = {
  'login.mjs': `export default ({ params, log }) => {
    log('as ' + params.auth.pass);
    if (params.fail) throw new Error('refused ' + params.auth.pass);
    return { length: params.auth.pass.length, echo: 'it is ' + params.auth.pass };
  };`,
};
const pass = { $secret: 'mail.pass' };

/** An engine, a task of acme that names a secret, and a flow of it; the secret is stored when it is given. */
async function acme(value: string | undefined = clear, params: object = { auth: { pass } }) {
  const space = await openWorkspace(files);
  const client = createClient({ store: space.store });
  const set = async (text: string, owner = 'acme') => {
    const place = { kind: 'secret' as const, owner, name: 'mail', field: 'values.pass' };
    const encrypted = await ring.encrypt(text, place);
    return client.setSecret(owner, { name: 'mail', field: 'pass' }, encrypted);
  };
  const own = { owner: 'acme' };
  await space.put(
    { ...task('login', { plugin: 'login', params, retry: 3 }), ...own, _id: 'login' },
    { ...flow('f', ['login']), ...own, _id: 'f' },
    { ...flow('waits', [{ wait: { signal: 'go' } }, 'login']), ...own, _id: 'waits' },
  );
  if (value !== '') await set(value);
  await space.engine({ cryptoKey, keyless: true });
  const ended = async (doc: object, id = 'j') => {
    await space.put({ type: 'job', owner: 'acme', ...doc, _id: id });
    return space.ended(id);
  };
  return { ...space, client, set, ended };
}

describe('a secret that a task names', () => {
  it('reaches the plugin, and is hidden in what that returns and throws', async () => {
    const { ended } = await acme();
    const job = await ended({ flow: 'f' });
    expect(job).toMatchObject({ exit: 0, steps: [{ result: { length: clear.length } }] });
    const failed = await ended({ flow: 'f', params: { login: {} } }, 'k');
    expect(failed).toMatchObject({ exit: 0 });
    expect(JSON.stringify([job, failed])).not.toMatch(/hunter22|tws:v\d/);
    expect(JSON.stringify(job)).toContain('it is [secret]');
    expect(JSON.stringify(job)).toContain('tws:secret:task:acme:login:params.auth.pass');
  });

  it('is hidden in a failure', async () => {
    const { ended } = await acme(clear, { auth: { pass }, fail: true });
    const job = await ended({ flow: 'f' });
    expect(job).toMatchObject({ failure: { message: 'refused [secret]' } });
    expect(JSON.stringify(job)).not.toContain('hunter22');
  });

  it('that is changed in one place is the new one at the next attempt', async () => {
    const { put, set, until, ended } = await acme();
    await put({ _id: 'w', type: 'job', flow: 'waits', owner: 'acme' });
    await until('w', ({ steps }) => Array.isArray(steps) && steps.length > 0);
    await set('a longer one than before');
    await put({ type: 'signal', job: 'w', name: 'go' });
    const second = await ended({ flow: 'f' });
    expect(second).toMatchObject({ steps: [{ result: { length: 24 } }] });
  });

  it('fails the step once, by name, when it is not stored', async () => {
    const { ended } = await acme('');
    const job = await ended({ flow: 'f' });
    expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretUnreadable' } });
    expect(job.steps).toHaveLength(1);
    expect(job.failure?.message).toBe(
      'params.auth.pass of task "login" (owner acme) names the secret "mail.pass", which owner acme does not have: store it with `tws secret set mail pass`, and retry the job.',
    );
  });

  it('is that of the same owner only', async () => {
    const { ended, set } = await acme('');
    await set(clear, 'DEFAULT');
    const job = await ended({ flow: 'f' });
    expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretUnreadable' } });
  });

  it('does not decrypt what was copied from another secret, and nothing in clear', async () => {
    const { ended, client } = await acme('');
    const other = { kind: 'secret' as const, owner: 'acme', name: 'other', field: 'values.pass' };
    const copied = await ring.encrypt(clear, other);
    await client.setSecret('acme', { name: 'mail', field: 'pass' }, copied);
    const job = await ended({ flow: 'f' });
    expect(job.failure?.message).toContain('another owner, document or field');
    await expect(client.setSecret('acme', { name: 'x' }, 'clear text')).rejects.toThrow(
      /must be encrypted/,
    );
  });
});

describe('a job that names a secret itself', () => {
  it.each<[string, object]>([
    ['in its parameters', { flow: 'f', params: { login: { other: pass } } }],
    ['in a structure of its own', { tasks: [{ task: 'login', params: { other: pass } }] }],
  ])('is refused %s', async (_where, doc) => {
    const { ended } = await acme(clear, { auth: { pass } });
    const job = await ended(doc);
    expect(job.exit).toBe(3);
    expect(['SecretMisplaced', 'ParamSealed']).toContain(job.failure?.name);
    expect(JSON.stringify(job)).not.toContain('hunter22');
  });

  it('gets nothing for a task without secrets either', async () => {
    const { ended } = await acme(clear, { auth: { pass: 'none' } });
    const job = await ended({ flow: 'f', params: { login: { auth: { pass } } } });
    expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretMisplaced' } });
  });
});
