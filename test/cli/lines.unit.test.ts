import { describe, expect, it } from 'vitest';
import { engineLine, pluginLine } from '../../src/cli/lines.js';
import { problemLine } from '../../src/cli/problems.js';
import { testIo } from './terminal.js';

const { io } = testIo({ cwd: '/' });

describe('problemLine', () => {
  it.each([
    ['timeout', 'timeout must be a duration.', 'f.json: timeout must be a duration.'],
    ['tasks[0]', 'tasks[0]: step 0 is named.', 'f.json: tasks[0]: step 0 is named.'],
    ['name', 'names are odd.', 'f.json: name: names are odd.'],
    ['tasks', 'tasks[1] is odd.', 'f.json: tasks: tasks[1] is odd.'],
    ['plugin', 'There is none.', 'f.json: plugin: There is none.'],
    ['', 'The file is odd.', 'f.json: The file is odd.'],
  ])('says the path %j once', (path, message, line) => {
    expect(problemLine({ file: 'f.json', path, message })).toBe(line);
  });
});

describe('pluginLine', () => {
  it('names a broken plugin and its file once', () => {
    const problem = 'Plugin p (/x/p.mjs) cannot be loaded: it exports no function.';
    const line = pluginLine({ name: 'p', file: '/x/p.mjs', state: 'broken', problem }, io);
    expect(line).toBe('p => broken: it exports no function. (/x/p.mjs)');
  });
});

describe('pluginLine of a plugin that came after the engines', () => {
  it.each([
    [true, 'p => ready (/x/p.mjs)'],
    [false, 'p => on disk only, no running engine has it (/x/p.mjs)'],
  ])('tells whether one has it: %s', (inEngine, line) => {
    const plugin = { name: 'p', file: '/x/p.mjs', state: 'ready', in_engine: inEngine } as const;
    expect(pluginLine(plugin, io)).toBe(line);
  });
});

describe('engineLine', () => {
  it('counts slots as people do', () => {
    const facts = {
      host: 'h',
      pid: 7,
      version: '0',
      plugins: [],
      labels: ['a'],
      slots: 1,
      started: 0,
    };
    const engine = {
      _id: 'engine:e',
      type: 'engine',
      ...facts,
      beat: 1,
      state: 'running',
    } as const;
    expect(engineLine(engine as never, 0, io)).toBe(
      'engine:e => running (version 0, h pid 7, 1 slot, labelled a, since 1970-01-01T00:00:00.000Z)',
    );
  });
});
