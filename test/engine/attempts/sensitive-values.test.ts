import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeyring } from '../../../src/secrets/keyring.js';
import { openStore } from '../../../src/store/store.js';
import { openVault } from '../../../src/sensitive/vault.js';
import { openWorkspace } from '../../support/workspace.js';
import { flow, task } from '../../cli/terminal.js';

const cryptoKey = 'key of this test';
const iban = 'DE02 1203 0000 0000 2020 51';
const person = 'maria@example.com';
const files = {
  'pay.mjs': `export default ({ params }) => ({ length: params.iban.length, to: 'paid to ' + params.iban });`,
};

async function acme(params: object = { iban: { $sensitive: 'iban' } }, sensitive = ['iban']) {
  const space = await openWorkspace(files);
  const vault = openVault(space.store.connection, createKeyring(cryptoKey));
  onTestFinished(vault.close);
  await vault.prepare();
  await space.put(
    { ...task('pay', { plugin: 'pay', params, sensitive, retry: 3 }), owner: 'acme', _id: 'pay' },
    { ...flow('f', ['pay']), owner: 'acme', _id: 'f' },
    { type: 'task', name: 'sub', flow: 'f', owner: 'acme', _id: 'sub' },
    { ...flow('above', ['sub']), owner: 'acme', _id: 'above' },
  );
  await space.engine({ cryptoKey, keyless: true, sensitive: vault });
  const subject = await vault.reference('acme', person);
  const ended = async (doc: object, id = 'j') => {
    await space.put({ type: 'job', owner: 'acme', flow: 'f', ...doc, _id: id });
    return space.ended(id);
  };
  return { ...space, vault, subject, ended };
}

describe('a sensitive value that a task names', () => {
  it('reaches the plugin for the subject of the job, and stands nowhere in the job', async () => {
    const { vault, subject, ended, store } = await acme();
    await vault.put('acme', person, { iban });
    const job = await ended({ subject });
    expect(job).toMatchObject({ exit: 0, steps: [{ result: { length: iban.length } }] });
    const child = await ended({ subject, flow: 'above' }, 'k');
    expect(child).toMatchObject({ exit: 0 });
    const all = JSON.stringify(await store.range(''));
    expect(all).not.toContain('2020 51');
    expect(all).not.toContain('maria');
    expect(all).toContain('paid to [secret]');
  });

  it.each<[string, object, RegExp]>([
    ['no subject', {}, /has no "subject" that is a reference/],
    ['a subject in clear', { subject: 'maria' }, /has no "subject" that is a reference/],
    [
      'a subject without values',
      { subject: `s-${'A'.repeat(43)}` },
      /"iban" of subject s-A+ \(owner acme\), which was purged or never stored/,
    ],
  ])('fails the step once where the job has %s', async (_name, doc, sentence) => {
    const { ended } = await acme();
    const job = await ended(doc);
    expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretUnreadable' } });
    expect(job.failure?.message).toMatch(sentence);
    expect(job.steps).toHaveLength(1);
  });

  it('is not that of a subject of another owner', async () => {
    const { vault, ended } = await acme();
    const subject = await vault.reference('other', 'maria');
    await vault.put('other', 'maria', { iban });
    const job = await ended({ subject });
    expect(job.failure?.message).toMatch(/purged or never stored/);
    expect(await vault.purge([{ owner: 'acme', subject }], { who: 'test' })).toEqual([]);
    expect(await vault.open({ owner: 'other', subject }, 'iban')).toBe(iban);
    expect(await vault.accesses()).toEqual([]);
  });

  it('fails the step once where the key of its subject cannot be read', async () => {
    const { vault, subject, ended, store } = await acme();
    await vault.put('acme', person, { iban });
    const { connection } = store;
    const keys = openStore({ ...connection, database: `${connection.database}_subject_keys` });
    onTestFinished(() => keys.close());
    await keys.write({ ...(await keys.get(subject)), _id: subject, key: 'no key' });
    const job = await ended({ subject });
    expect(job).toMatchObject({ exit: 3, failure: { name: 'SecretUnreadable' } });
    expect(job.steps).toHaveLength(1);
  });

  it('is refused where the task does not list it, and in a job', async () => {
    const { ended, vault, subject, put } = await acme({ iban: { $sensitive: 'iban' } }, ['other']);
    await vault.put('acme', person, { iban });
    const job = await ended({ subject });
    expect(job.exit).toBe(3);
    expect(job.failure?.message).toContain('which "sensitive" of the task does not list');
    await put({
      ...task('plain', { plugin: 'pay', sensitive: ['iban'] }),
      owner: 'acme',
      _id: 'plain',
    });
    const params = { plain: { iban: { $sensitive: 'iban' } } };
    const own = await ended({ subject, flow: undefined, tasks: ['plain'], params }, 'k');
    expect(own).toMatchObject({ exit: 3, failure: { name: 'SecretMisplaced' } });
  });

  it('cannot be read after a purge, also by what was copied before without the keys', async () => {
    const { vault, subject, ended } = await acme();
    const of = { owner: 'acme', subject };
    await vault.put('acme', person, { iban });
    const [purged] = await vault.purge([of], { who: 'test' });
    expect(purged).toEqual(of);
    const job = await ended({ subject });
    expect(job.failure?.message).toMatch(/purged or never stored/);
    await vault.put('acme', person, { iban: 'another one' });
    expect(await vault.open(of, 'iban')).toBe('another one');
    const accesses = await vault.accesses();
    expect(accesses).toMatchObject([{ how: 'purge', who: 'test', subject }]);
  });
});
