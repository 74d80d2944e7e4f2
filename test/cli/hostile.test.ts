import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/program.js';
import { openProject } from './database.js';
import { callAll, tws } from './executable.js';
import { task } from './terminal.js';

/** Erases the screen, blinks, rings, hides, turns the direction around, forges a line. */
const hostile = 'x\u001B[2J\u001B[5m\u0007\u009B31m\r\u202Ey\u200B\u2028\nforged';
const plugins = {
  'fail.mjs': `export default ({ log }) => {
    log(${JSON.stringify(hostile)});
    throw Object.assign(new Error(${JSON.stringify(hostile)}), { name: 'Bad' });
  };`,
};

const escapeSign = '\u001B';
/** The colours that tws has, line ends and tabs. */
const ownSigns = new RegExp(`${escapeSign}\\[(?:1|2|22|31|32|33|36|39)m|[\\n\\t]`, 'g');

/** What must not reach a terminal. */
function strange(text: string): readonly string[] {
  const rest = text.replace(ownSigns, '');
  return [...rest.matchAll(/.?[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]./gu)].map(([found]) =>
    JSON.stringify(found),
  );
}

async function ready() {
  const opened = await openProject(
    {
      'plugins/broken.mjs': `throw new Error(${JSON.stringify(hostile)});`,
      'test/h.test.json': {
        ...{ flow: hostile, mocks: { [hostile]: { result: hostile } } },
        cases: [{ name: hostile, expect: { path: [hostile], result: hostile } }],
      },
      'workflows.json': [
        { name: hostile, uuid: hostile, chain: [{ name: hostile, body: hostile, [hostile]: 1 }] },
      ],
      'bad.json': { type: 'flow', name: hostile, owner: 'DEFAULT', tasks: [hostile], extra: 1 },
    },
    plugins,
  );
  const { put, engine, ended, until } = opened;
  const name = hostile;
  await put(
    { ...task('fail', { plugin: 'fail' }), _id: `t-${hostile}` },
    { ...task(name, { plugin: 'fail' }), _id: `u-${hostile}` },
    { type: 'flow', name, owner: hostile, tasks: [{ task: 'fail', name }], _id: `f-${hostile}` },
    {
      ...{ type: 'flow', name: 'waits', owner: 'DEFAULT', timeout: 0, _id: 'f-waits' },
      tasks: [{ wait: { signal: 'go' } }],
    },
    {
      ...{ _id: `schedule:${hostile}`, type: 'schedule', name: 'never', owner: hostile },
      ...{ flow: hostile, cron: hostile, time_zone: hostile, description: hostile },
    },
    {
      ...{ _id: `hook:${hostile}`, type: 'hook', name: 'hooked', owner: hostile, flow: hostile },
      ...{ check: { token: { header: 'x', secret: hostile } }, description: hostile },
      params: `{'a': ${JSON.stringify(hostile)}}`,
    },
    {
      ...{ _id: `queue-control:${hostile}`, type: 'queue-control', queue: hostile },
      ...{ paused: true, reason: hostile },
    },
    { type: 'flow', name: 'bad', owner: 'DEFAULT', tasks: ['fail'], _id: 'f-bad' },
    {
      ...{ type: 'flow', name: hostile, owner: 'DEFAULT', tasks: ['fail'], _id: 'f-retain' },
      retain: { [hostile]: hostile },
    },
    { _id: `failed-${hostile}`, type: 'job', flow: 'bad' },
    { _id: `refused-${hostile}`, type: 'job', flow: name, owner: hostile },
    { _id: `waiting-${hostile}`, type: 'job', flow: 'waits' },
    {
      ...{ _id: `engine:${hostile}`, type: 'engine', host: hostile, pid: 1, version: hostile },
      ...{ plugins: [], labels: [hostile], slots: 1, started: 1, beat: 1, state: 'running' },
    },
  );
  await engine();
  await Promise.all([ended(`failed-${hostile}`), ended(`refused-${hostile}`)]);
  await until(`waiting-${hostile}`, ({ steps }) => Array.isArray(steps) && steps.length > 0);
  return opened;
}

/** How each command is called; what it does to the documents comes last. */
const calls: Readonly<Record<string, readonly (readonly string[])[]>> = {
  list: [
    ['--all'],
    ['--failure', hostile, '--sort', hostile],
    ['--since', hostile],
    ['--tag', hostile],
    ['--all', '--verbose'],
    ['--all', '--json'],
    ['--flow', hostile],
    ['--tasks', '--flows'],
    ['--engines', '--plugins'],
  ],
  view: [[`failed-${hostile}`], [`failed-${hostile}`, '--result', hostile], [hostile, '--job']],
  explain: [[`waiting-${hostile}`], [`failed-${hostile}`], [`refused-${hostile}`], [hostile]],
  graph: [[`f-${hostile}`], [`failed-${hostile}`], ['--format', 'svg', `waiting-${hostile}`]],
  history: [[`failed-${hostile}`], [`failed-${hostile}`, '--json']],
  logs: [[`failed-${hostile}`], [`failed-${hostile}`, '--json'], [hostile]],
  watch: [[`failed-${hostile}`], [hostile]],
  cache: [['list'], ['list', hostile], ['clear', hostile]],
  queue: [['list'], ['pause', hostile, '--reason', hostile], ['resume', hostile, `q-${hostile}`]],
  inbox: [['--all'], ['--for', hostile], ['--group', hostile, '--json']],
  answer: [[hostile], [`waiting-${hostile}`, hostile, '--data', hostile, '--as', hostile]],
  flow: [
    ['versions', `f-${hostile}`],
    ['versions', hostile],
    ['use', `f-${hostile}`, hostile],
    ['diff', `f-${hostile}`, hostile, hostile],
    ['rollback', `f-${hostile}`],
    [hostile, hostile],
  ],
  trigger: [['gatherings'], ['gatherings', hostile], [hostile]],
  limit: [['show', hostile], ['list'], ['list', '--owner', hostile], [hostile]],
  notify: [
    ['list'],
    ['list', '--flow', hostile, '--owner', hostile],
    ['test', '--flow', hostile],
    [hostile],
  ],
  retain: [['--dry-run']],
  sensitive: [['list'], ['log'], ['get', hostile, hostile], [hostile]],
  secret: [['list'], ['remove', hostile], ['remove', 'none', '--no-confirm'], [hostile]],
  archive: [
    ['list'],
    ['list', '--flow', hostile],
    ['show', hostile],
    ['restore', hostile, '--json'],
    [hostile],
  ],
  hook: [
    ['list'],
    ['list', '--owner', hostile],
    ['show', `hook:${hostile}`],
    ['show', 'hooked', '--json'],
    ['test', 'hooked', '--data', hostile, '--header', hostile],
    ['test', 'hooked', '--data', hostile],
    ['test', 'hooked', '--send', hostile],
    [hostile],
  ],
  schedule: [
    ['list'],
    ['list', '--owner', hostile],
    ['show', `schedule:${hostile}`],
    ['show', 'never', '--json'],
    ['next', hostile],
    ['run', `schedule:${hostile}`],
    ['pause', hostile, `schedule:${hostile}`],
    ['resume', `schedule:${hostile}`],
    ['backfill', `schedule:${hostile}`, '--from', hostile],
    ['backfill', `schedule:${hostile}`, '--cancel'],
    [hostile],
  ],
  top: [['--once'], ['--once', '--json']],
  doctor: [[]],
  config: [[], ['--owner', hostile]],
  validate: [['bad.json'], [hostile]],
  test: [[], ['--case', hostile], [hostile], ['bad.json']],
  push: [['bad.json'], [hostile]],
  pull: [['--dry-run'], [hostile], [`couch/tws/${hostile}`]],
  submit: [[hostile], [hostile, '--owner', hostile, '--wait'], [hostile, '--params', hostile]],
  complete: [
    ['zsh', 'view', ''],
    ['bash', 'tws view '],
  ],
  note: [[`failed-${hostile}`, hostile]],
  signal: [[`other-${hostile}`, hostile]],
  event: [[hostile, hostile]],
  skip: [[`waiting-${hostile}`, hostile]],
  retry: [
    [`failed-${hostile}`, '--from', hostile],
    ['--failed', '--flow', hostile],
  ],
  migrate: [
    [hostile, '--to', hostile],
    [`waiting-${hostile}`, '--to', hostile],
    ['waits', `failed-${hostile}`, '--to', hostile, '--dry-run'],
  ],
  pause: [[`waiting-${hostile}`]],
  resume: [[`waiting-${hostile}`]],
  disable: [[`f-${hostile}`], [hostile]],
  enable: [[`f-${hostile}`]],
  cancel: [[`waiting-${hostile}`], ['--every', '--flow', hostile]],
  remove: [[`t-${hostile}`], [`failed-${hostile}`, '--no-confirm', '--force']],
  new: [['task', hostile]],
  import: [
    ['node-workflow', 'workflows.json', '--dry-run'],
    ['node-workflow', 'workflows.json', '--into', 'imported'],
    ['node-workflow', hostile],
    ['node-workflow', 'workflows.json', '--sandbox', hostile],
    [hostile, hostile],
  ],
  plugin: [['docs'], ['docs', hostile], [hostile]],
  backup: [[hostile, '--verify'], [`none/${hostile}`]],
  restore: [[hostile], ['bad.json', '--database', 'other']],
  convert: [[hostile]],
  move: [
    ['--to', hostile],
    ['--undo', '--to', hostile],
  ],
  decrypt: [[hostile]],
};

/** These print nothing of documents, or go on until they are stopped. */
const others = ['quickstart', 'dev', 'init', 'start', 'serve', 'encrypt', 'completion'];

describe('a hostile id, name or message', () => {
  it('is looked for in every command', () => {
    const names = commands.map(({ name }) => name);
    expect([...Object.keys(calls), ...others].sort()).toEqual([...names].sort());
  });

  it('reaches no terminal', async () => {
    const { root: cwd, env } = await ready();
    const colours = { ...env, FORCE_COLOR: '1' };
    const told: string[] = [];
    for (const [command, lists] of Object.entries(calls)) {
      const lines = lists.map((args) => [command, ...args]);
      for (const [i, text] of (await callAll(lines, { cwd, env: colours })).entries()) {
        const args = lines[i] ?? [];
        expect([...args, ...strange(text)]).toEqual(args);
        // A line of its own would be a forged one; a picture is a file.
        if (args.includes('svg')) continue;
        expect(text.split('\n').filter((line) => line.startsWith('forged'))).toEqual([]);
        told.push(text);
      }
    }
    expect(told.join('')).toContain('failed-x\\u001b[2J\\u001b[5m\\u0007\\u009b31m\\r\\u202ey');
  });

  it('is refused by commands that would store it', async () => {
    const { root: cwd, env } = await openProject({
      'job.json': { type: 'job', flow: 'f', _id: hostile },
    });
    const file = tws(['submit', 'job.json'], { cwd, env });
    expect(await file.ended).toBe(3);
    expect(file.err()).toContain('_id must not hold control characters');
    for (const id of [hostile, '..']) {
      const called = tws(['submit', '-', '--id', id], {
        cwd,
        env,
        input: '{"type": "job", "flow": "f"}',
      });
      expect(await called.ended).toBe(3);
    }
  });
});
