import { describe, expect, it } from 'vitest';
import { dataFlag } from '../../src/cli/json-flag.js';
import { decrypt } from '../../src/cli/commands/encrypt.js';
import { event } from '../../src/cli/commands/messages.js';
import { flowScaffold, pluginScaffold } from '../../src/cli/scaffolds.js';
import { problem } from '../../src/errors.js';
import { tws } from './executable.js';
import { project, run } from './terminal.js';

describe('the sentence for a document of another kind', () => {
  it.each([
    ['task', 'Document "x" is a task, not a job.'],
    ['jobb', 'Document "x" is of type "jobb", which TWS does not have; a job has "type": "job".'],
  ])('tells a %s', (kind, sentence) => {
    expect(problem('document_kind', { id: 'x', kind, wanted: 'job' }).message).toBe(sentence);
  });
});

describe('data on the command line', () => {
  it.each([
    ['{"by": "ada"}', { by: 'ada' }],
    ['[1]', [1]],
    ['7', 7],
    ['just words', 'just words'],
  ])('may be JSON or a text: %s', (text, value) => {
    expect(dataFlag.parse(text)).toEqual(value);
  });

  it.each([["{'by': 1}"], [' [1'], ['{by: 1}']])('is refused as %s', (text) => {
    expect(dataFlag.safeParse(text).error?.issues[0]?.message).toContain('begins like JSON');
  });
});

describe('a command that cannot do what it is told', () => {
  it('refuses an event without a name', async () => {
    const { error } = await run(event, { cwd: await project(), args: [''] });
    expect(error?.message).toBe('The name of an event must not be empty.');
  });

  it('says that a value is not encrypted', async () => {
    const env = { TWS_CRYPTO_KEY: 'k' };
    const { error } = await run(decrypt, { cwd: await project(), env, input: 'hello' });
    expect(error?.message).toContain('The value is not encrypted');
  });

  it('says that tws dev of the folder has gone', async () => {
    const server = {
      url: 'http://127.0.0.1:2',
      user: 'u',
      password: 'p',
      database: 'd',
      app: 'tws',
    };
    const settings = { ...server, pid: process.pid };
    const cwd = await project({
      '.tws/embedded.json': settings,
      'tws.json': { project: 'p' },
    });
    const { ended, err } = tws(['list'], { cwd });
    expect(await ended).toBe(69);
    expect(err()).toContain('The `tws dev` of this folder is not running.');
  });
});

describe('files to begin with', () => {
  it('say what the plugin is, and list tasks as the README does', () => {
    expect(pluginScaffold({ name: 'weather', ts: false }).text).toContain(
      "description = 'Does weather",
    );
    expect(JSON.parse(flowScaffold('f', 'me', ['a']).text)).toMatchObject({ tasks: ['a'] });
  });
});
