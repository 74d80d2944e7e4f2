import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createClient, createPulse } from '../../src/client.js';
import { createPrometheus } from '../../src/metrics/prometheus.js';
import { createKeyring } from '../../src/secrets/keyring.js';
import { openValue } from '../../src/secrets/subject-keys.js';
import { openVault } from '../../src/sensitive/vault.js';
import { flow, task } from '../cli/terminal.js';
import { ownDirectory, ownServer } from '../embedded/own-server.js';
import { openApi } from '../http/server.js';
import { smtpServer } from '../plugins/smtp.js';
import { openWorkspace } from '../support/workspace.js';

const cryptoKey = 'the main key of this test';
const person = 'Maria Sommer, born 1971-03-02';
const values = {
  email: 'maria.sommer@clinic-north.test',
  iban: 'DE02 1203 0000 0000 2020 51',
  note: 'Diagnosis "F41.1" & more;\nher doctor is Dr. Überall',
};
/** What nobody may find, as it is and as others write it. */
const traces = [
  person,
  ...Object.values(values),
  'maria.sommer',
  '2020 51',
  'F41.1',
  'Überall',
  'known here',
].flatMap((text) => [
  text,
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(text),
  Buffer.from(text).toString('hex'),
  Buffer.from(text).toString('base64').slice(0, -4),
]);

const plugins = {
  'quote.mjs': `export default async ({ params, log, setData, setStatus, progress, heartbeat }) => {
    const { iban, note } = params;
    log('The note is ' + note, { iban });
    setData({ note });
    setStatus('at ' + iban);
    progress('now ' + iban);
    heartbeat({ iban });
    const text = note + ' ' + iban;
    const encoded = [Buffer.from(text).toString('base64'), encodeURIComponent(text), JSON.stringify(text)];
    const html = note.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    const lines = note.split('\\n');
    return { text, encoded, html, lines, [iban]: 1, upper: note.toUpperCase(), large: text.repeat(2000) };
  };`,
  'letter.mjs': `export const isolate = 'thread';
  export const templates = ['text'];
  export default async ({ params, render, sensitive, log, setData }) => {
    const { iban, email } = await sensitive('iban', 'email');
    const letter = render(params.text, { html: true });
    log(letter + iban, { email });
    setData({ letter, url: params.url });
    const all = [letter, params.url, iban, email, Buffer.from(letter + email).toString('base64')];
    return { all, large: all.join(' ').repeat(500) };
  };`,
  'refuse-letter.mjs': `export default async ({ params, sensitive }) => {
    const { note } = await sensitive('note');
    throw Object.assign(new Error(params.url + ' for ' + note), { details: params });
  };`,
  'refuse.mjs': `export default ({ params }) => {
    const cause = new Error('cause: ' + params.note);
    throw Object.assign(new Error('cannot pay ' + params.iban, { cause }), { details: { iban: params.iban } });
  };`,
};

/** All bytes of the files below a folder. */
async function bytesBelow(folder: string): Promise<Buffer> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const named = files.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  // Names of files are bytes on the disk, too.
  return Buffer.concat([
    ...(await Promise.all(named.map((name) => readFile(name)))),
    Buffer.from(named.join('\n')),
  ]);
}

const foundIn = (bytes: Buffer | string): readonly string[] =>
  traces.filter((text) => bytes.includes(text));

async function started() {
  const dir = await ownDirectory();
  const server = await ownServer(dir);
  const { user, password } = server;
  const url = server.url.replace('//', `//${user}:${password}@`);
  const space = await openWorkspace(plugins, url);
  const prometheus = createPrometheus();
  prometheus.watch(createClient({ store: space.store }), createPulse());
  const api = await openApi({ workspace: space, metrics: prometheus });
  const vault = openVault(space.store.connection, createKeyring(cryptoKey));
  onTestFinished(vault.close);
  await vault.prepare();
  const { meters } = prometheus;
  await space.engine({ cryptoKey, sensitive: vault, meters });
  const compact = async (database: string): Promise<void> => {
    await server.request('POST', `/${database}/_compact`, {});
    for (;;) {
      const { body } = await server.request('GET', `/${database}`);
      if (body['compact_running'] !== true) return;
    }
  };
  return { ...space, dir, server, api, vault, compact };
}

const $ = (name: string) => ({ $sensitive: name });
const sensitive = ['email', 'iban', 'note'];

// Shows M-04.
it('a value that is used, quoted, thrown and mailed is found nowhere, and is gone for good after a purge', async () => {
  const { dir, server, api, vault, compact, put, ended, store, log } = await started();
  const mails = await smtpServer();
  const strict = await smtpServer({
    onRcptTo: ({ address }, _session, done) => done(new Error(`no mailbox <${address}> here`)),
  });
  const mail = (port: number) => ({
    smtp: { host: '127.0.0.1', port },
    ...{ from: 'shop@example.com', to: $('email'), subject: 'Your results', text: $('note') },
    html: $('note'),
  });
  const inText = {
    text: 'Dear <b>{{$sensitive.email}}</b>,\n{{$sensitive.note}}\n{{#if $sensitive.iban}}known{{/if}} here',
    url: 'https://clinic.test/?iban={{encodeURIComponent $sensitive.iban}}&mail={{$sensitive.email}}',
  };
  const both = { iban: $('iban'), note: $('note') };
  await put(
    {
      ...task('mail', { plugin: 'mail-smtp', params: mail(mails.port), sensitive }),
      _id: 't-mail',
    },
    {
      ...task('bounce', { plugin: 'mail-smtp', params: mail(strict.port), sensitive }),
      _id: 't-b',
    },
    { ...task('quote', { params: both, sensitive, plugin: 'quote' }), _id: 't-quote' },
    { ...task('refuse', { params: both, sensitive, plugin: 'refuse', retry: 1 }), _id: 't-refuse' },
    { ...task('letter', { plugin: 'letter', params: inText, sensitive }), _id: 't-letter' },
    { ...task('no', { plugin: 'refuse-letter', params: inText, sensitive }), _id: 't-no' },
    { ...flow('no', ['no']), _id: 'f-no' },
    { ...flow('treat', ['mail', 'quote', 'letter']), _id: 'f-treat' },
    { ...flow('bounce', ['bounce']), _id: 'f-bounce' },
    { ...flow('refuse', ['refuse']), _id: 'f-refuse' },
  );
  const subject = await vault.reference('DEFAULT', person);
  const of = { owner: 'DEFAULT', subject };
  const before = { ...values, iban: 'a value that is replaced' };
  await vault.put('DEFAULT', person, before);
  await vault.put('DEFAULT', person, values);
  for (const name of ['treat', 'bounce', 'refuse', 'no']) {
    await put({ _id: name, type: 'job', flow: name, subject });
  }
  expect((await ended('treat')).exit).toBe(0);
  expect((await ended('bounce')).exit).toBe(2);
  expect((await ended('refuse')).exit).toBe(2);
  expect((await ended('no')).exit).toBe(2);
  // It was really used.
  expect(mails.received).toMatchObject([{ to: [values.email] }]);
  expect(await vault.open(of, 'iban')).toBe(values.iban);

  const answers = [JSON.stringify(log), JSON.stringify(api.lines)];
  for (const id of ['treat', 'bounce', 'refuse', 'no']) {
    for (const path of [
      '',
      '/explain',
      '/history',
      '/results/quote',
      '/results/letter',
      '/results/0',
    ]) {
      answers.push((await api.ask('GET', `/jobs/${id}${path}`)).text);
    }
  }
  for (const path of ['/jobs', '/definitions/task', '/failures', '/metrics']) {
    answers.push((await api.ask('GET', path)).text);
  }
  // Files may be compressed: what is in them is read as well, with all attachments.
  const all = '_all_docs?include_docs=true&attachments=true&conflicts=true';
  for (const database of ['tws-test', 'tws-test_sensitive', 'tws-test_subject_keys']) {
    const { body: read } = await server.request('GET', `/${database}/${all}`);
    const text = JSON.stringify(read);
    const attached = [...text.matchAll(/"data":"([^"]+)"/g)];
    answers.push(text, ...attached.map(([, data = '']) => Buffer.from(data, 'base64').toString()));
  }
  expect(answers.join('\n')).toContain('[secret] [secret]');
  expect(answers.join('\n')).toContain('tws_');
  expect(foundIn(answers.join('\n'))).toEqual([]);
  expect(foundIn(await bytesBelow(dir))).toEqual([]);

  const { body: record } = await server.request('GET', `/tws-test_subject_keys/${subject}`);
  const { body: sealed } = await server.request('GET', `/tws-test_sensitive/${subject}`);
  const wrapped = String(record['key']);
  const cipher = (sealed['values'] as Record<string, string>)['iban'] ?? '';
  expect((await bytesBelow(dir)).includes(wrapped)).toBe(true);
  // A copy that somebody made before, of the jobs and the values.
  await server.request('POST', '/_replicate', {
    ...{ source: 'tws-test_sensitive', target: 'copy', create_target: true },
  });
  const copied = await server.request('GET', `/copy/${subject}`);
  expect(copied.body['values']).toEqual(sealed['values']);

  expect(await vault.purge([of], { who: 'test' })).toEqual([of]);
  for (const name of ['tws-test', 'tws-test_sensitive', 'tws-test_subject_keys'])
    await compact(name);
  const left = await bytesBelow(dir);
  expect(foundIn(left)).toEqual([]);
  // Neither the key, encrypted, nor any part of it that is long enough to be its own.
  expect(left.includes(wrapped)).toBe(false);
  const body = wrapped.split(':').at(-1) ?? '';
  for (const from of [0, 24]) expect(left.includes(body.slice(from, from + 24))).toBe(false);
  // The copy has the values; nothing in the directory opens them, with the main key at hand.
  expect(left.includes(cipher)).toBe(true);
  const ring = createKeyring(cryptoKey);
  const keys = [...left.toString('latin1').matchAll(/tws:v2:[\w-]+:[\w-]+:[\w-]+:[\w-]+/g)];
  for (const [text] of keys) {
    for (const name of [subject, 'references']) {
      const place = {
        kind: 'subject-key' as const,
        owner: name === subject ? 'DEFAULT' : '',
        name,
        field: 'key',
      };
      const clear = await ring.decrypt(text, place).catch(() => undefined);
      if (clear === undefined) continue;
      const key = Buffer.from(clear, 'base64');
      expect(openValue(key, cipher, { ...of, name: 'iban' })).toBeUndefined();
    }
  }
  expect(keys.length).toBeGreaterThan(0);
  expect(await vault.open(of, 'iban')).toBeUndefined();
  await put({ _id: 'again', type: 'job', flow: 'treat', subject });
  const again = await ended('again');
  expect(again).toMatchObject({ exit: 3, failure: { name: 'SecretUnreadable' } });
  expect(again.steps).toHaveLength(1);
  expect(await store.get('again')).toBeDefined();
});
