import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeyring } from '../../../src/secrets/keyring.js';
import { openStore } from '../../../src/store/store.js';
import { openVault } from '../../../src/sensitive/vault.js';
import { openWorkspace } from '../../support/workspace.js';
import { flow, task } from '../../cli/terminal.js';

const cryptoKey = 'key of this test';
const iban = 'DE02 1203 0000 0000 2020 51';
const person = 'maria@example.com';
const asking = (isolate: string) => `${isolate}
  export default async ({ params, sensitive, log }) => {
    const names = params.names ?? ['iban'];
    const found = await sensitive(...names);
    log('asked: ' + found.iban);
    return { is: found.iban?.length, all: found };
  };`;
const files = {
  'letter.mjs': `export const templates = ['text', 'all'];
    export default ({ params, render, log }) => {
      const { text, own = '', all = {}, ...rest } = params;
      const letter = render(text, { html: true });
      log('sent ' + letter);
      let refused = '';
      try { render(own); } catch (error) { refused = error.message; }
      const facts = { letter: letter.length, rest: JSON.stringify(rest).length, refused };
      return { ...facts, own, said: [letter, rest], quoted: Buffer.from(letter).toString('base64') };
    };`,
  'say.mjs': `export default () => 'my {{$sensitive.iban}}'`,
  'ask.mjs': asking(''),
  'ask-thread.mjs': asking("export const isolate = 'thread';"),
  'ask-process.mjs': asking("export const isolate = 'process';"),
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
    expect(own).toMatchObject({ exit: 3, failure: { name: 'ParamSealed' } });
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

describe('a sensitive value in a template', () => {
  const letter = (params: object, more: object = {}) => ({
    ...task('letter', { plugin: 'letter', params, sensitive: ['name', 'iban'], ...more }),
    owner: 'acme',
    _id: 'letter',
  });
  const name = 'Maria <& Söhne>';
  const params = {
    text: 'Dear {{$sensitive.name}} of {{job.params.city}}{{#if $sensitive.iban}} and more{{/if}}',
    url: 'https://bank.test/pay?iban={{encodeURIComponent $sensitive.iban}}',
    list: ['{{json $sensitive.name}}', '{{$sensitive.iban}}', 'no {{job.params.city}}'],
  };
  /** Braces of a value are no template. */
  const braces = 'a value {{with}} braces, {{ and one more';
  const rendered = {
    text: 'Dear Maria &lt;&amp; Söhne&gt; of Rome and more',
    rest: {
      url: 'https://bank.test/pay?iban=DE02%201203%200000%200000%202020%2051',
      list: [`"${name}"`, iban, 'no Rome'],
    },
  };

  async function letters(doc = letter(params)) {
    const space = await acme();
    await space.put(doc, { ...flow('g', ['letter']), owner: 'acme', _id: 'g' });
    await space.vault.put('acme', person, { iban, name });
    const job = { flow: 'g', subject: space.subject, params: { city: 'Rome' } };
    return { ...space, job };
  }

  it('is filled in for the attempt alone, and what it becomes is hidden as a whole', async () => {
    const { ended, job, store, put, vault } = await letters();
    const done = await ended(job);
    expect(done).toMatchObject({
      exit: 0,
      steps: [
        {
          result: {
            letter: rendered.text.length,
            rest: JSON.stringify(rendered.rest).length,
            said: ['[secret]', { url: '[secret]', list: ['[secret]', '[secret]', 'no Rome'] }],
            quoted: '[secret]',
          },
          log: [{ message: 'sent [secret]' }],
          params: {
            text: 'tws:secret:task:acme:letter:params.text',
            list: [
              'tws:secret:task:acme:letter:params.list.0',
              expect.any(String) as string,
              'no Rome',
            ],
          },
        },
      ],
    });
    await put({ ...letter({ text: { $sensitive: 'name' } }), name: 'w', _id: 'w' });
    await put({ ...flow('fw', ['w']), owner: 'acme', _id: 'fw' });
    await vault.put('acme', person, { name: braces });
    expect(await ended({ ...job, flow: 'fw' }, 'k')).toMatchObject({
      steps: [{ result: { letter: braces.length, said: ['[secret]', {}] } }],
    });
    const all = JSON.stringify(await store.range(''));
    for (const text of ['Söhne', '2020', 'and more"', '?iban=DE', 'a value'])
      expect(all).not.toContain(text);
  });

  it('is not read by a template that comes from elsewhere', async () => {
    const text = 'Dear {{$sensitive.name}}';
    const own = 'my {{$sensitive.iban}}';
    const { ended, job, put } = await letters(letter({ text }, { open: ['own'] }));
    const refused = await ended({ ...job, params: { letter: { own } } });
    expect(refused).toMatchObject({ exit: 3, failure: { name: 'SecretMisplaced' } });
    // A result that has the form of one is a text.
    const tasks = ['say', { task: 'letter', params: { own: '{{results.say}}' } }];
    await put({ ...task('say', { plugin: 'say' }), owner: 'acme', _id: 'say' });
    await put({ ...flow('h', tasks), owner: 'acme', _id: 'h' });
    const said = await ended({ ...job, flow: 'h' }, 'k');
    expect(said.steps?.at(-1)).toMatchObject({
      result: { own, refused: expect.stringMatching(/there is no "iban"/) as string },
    });
  });

  it('fails the step once, by name, where it is missing or the template cannot be filled in', async () => {
    const { ended, job, put } = await letters(letter(params, { retry: 3 }));
    const gone = await ended({ ...job, subject: `s-${'A'.repeat(43)}` }, 'k');
    const failures: [Awaited<ReturnType<typeof ended>>, RegExp][] = [
      [await ended({ ...job, subject: undefined }), /"name", and the job has no "subject"/],
      [gone, /"name" of subject s-A+ .*purged or never stored/],
    ];
    await put({
      ...letter({ url: '{{$sensitive.name}} {{job.params.no}}' }),
      _id: 'other',
      name: 'o',
    });
    await put({ ...flow('o', ['o']), owner: 'acme', _id: 'o' });
    failures.push([
      await ended({ ...job, flow: 'o' }, 'l'),
      /in params\.url .* there is no "no"\.$/,
    ]);
    for (const [failed, sentence] of failures) {
      expect(failed).toMatchObject({
        exit: 3,
        failure: { message: expect.stringMatching(sentence) as string },
      });
      expect(failed.steps).toHaveLength(1);
    }
  });
});

describe('a plugin that asks for sensitive values', () => {
  const plugins = ['ask', 'ask-thread', 'ask-process'];
  async function asks() {
    const space = await acme();
    const sensitive = ['iban', 'name'];
    for (const plugin of plugins) {
      await space.put(
        { ...task(plugin, { plugin, sensitive, retry: 2 }), owner: 'acme', _id: plugin },
        { ...flow(`f-${plugin}`, [plugin]), owner: 'acme', _id: `f-${plugin}` },
      );
    }
    await space.vault.put('acme', person, { iban });
    return { ...space, job: { flow: 'f-ask', subject: space.subject } };
  }

  it('gets them on record and hidden, in a thread or process of its own, too', async () => {
    const { ended, job, vault, subject, store } = await asks();
    for (const plugin of plugins) {
      expect(await ended({ ...job, flow: `f-${plugin}` }, `j-${plugin}`)).toMatchObject({
        exit: 0,
        steps: [
          {
            result: { is: iban.length, all: { iban: '[secret]' } },
            log: [{ message: 'asked: [secret]' }],
          },
        ],
      });
    }
    expect(await vault.accesses()).toMatchObject(
      plugins.map((plugin) => ({
        ...{ how: 'get', owner: 'acme', subject, names: ['iban'] },
        who: expect.stringMatching(/^engine \S+$/) as string,
        why: `plugin ${plugin}, job j-${plugin}, step ${plugin}, attempt 1`,
      })),
    );
    expect(JSON.stringify(await store.range(''))).not.toContain('2020 51');
  });

  it('is refused what it may not have, and what is not there; its parameters are sealed', async () => {
    const { ended, job, put, vault } = await asks();
    const sealed = await ended({ ...job, params: { ask: { names: ['name'] } } }, 'sealed');
    expect(sealed).toMatchObject({ exit: 3, failure: { name: 'ParamSealed' } });
    const failures: [object, object, RegExp][] = [
      [{ names: ['other'] }, {}, /^Plugin ask of step .* "other", which "sensitive"/],
      [{ names: ['a b'] }, {}, /takes names of sensitive values.*not "a b"/],
      [{}, { subject: undefined }, /the job has no "subject"/],
      [{ names: ['name'] }, {}, /^Plugin ask of step .* needs .*purged or never/],
    ];
    for (const [n, [params, more, message]] of failures.entries()) {
      const name = `ask-${n}`;
      const own = task(name, { plugin: 'ask', sensitive: ['iban', 'name'], params, retry: 2 });
      await put({ ...own, owner: 'acme', _id: name });
      await put({ ...flow(`g-${n}`, [name]), owner: 'acme', _id: `g-${n}` });
      const failed = await ended({ ...job, ...more, flow: `g-${n}` }, `j-${n}`);
      expect(failed.failure?.message).toMatch(message);
      expect(failed.steps).toHaveLength(1);
    }
    // What was asked for and not there is on record, what was refused is not.
    expect(await vault.accesses()).toMatchObject([{ names: ['name'] }]);
  });
});
