import { describe, expect, it } from 'vitest';
import { openProject } from './database.js';
import { tws } from './executable.js';
import { flow, task } from './terminal.js';

describe('tws start --name', () => {
  it('starts no second engine of a name, and at once the next one when the first was killed', async () => {
    const { root, env } = await openProject({ 'tws.json': { lease: 1_500 } });
    const first = tws(['start', '--name', 'twin'], { cwd: root, env });
    await first.prints(/follows/);
    const second = tws(['start', '--name', 'twin'], { cwd: root, env });
    expect(await second.ended).toBe(73);
    expect(second.err()).toContain(
      `An engine named "twin" is running already: process ${first.pid} on`,
    );
    expect(second.err()).toContain('another --name');
    first.kill('SIGKILL');
    await first.ended;
    const began = Date.now();
    const third = tws(['start', '--name', 'twin'], { cwd: root, env });
    await third.prints(/follows/);
    expect(Date.now() - began).toBeLessThan(30_000);
  });
});

describe('tws start', () => {
  it('ends by itself with 70 when a step failed in a way that its flow calls fatal', async () => {
    const { root, env, put, ended } = await openProject({
      'plugins/full.mjs': `export default () => { throw Object.assign(new Error('disk full'), { code: 'ENOSPC' }); };`,
    });
    const errors = { ENOSPC: { severity: 'fatal' } };
    await put(
      { _id: 't', ...task('full', { plugin: 'full' }) },
      { _id: 'f', ...flow('f', ['full'], { errors }) },
    );
    const engine = tws(['start'], { cwd: root, env });
    await engine.prints(/follows/);
    await put({ _id: 'j', type: 'job', flow: 'f' });
    expect(await engine.ended).toBe(70);
    expect(engine.err()).toContain(
      'The engine stops: step full of job j failed with Error, which its flow calls fatal: disk full',
    );
    expect(await ended('j')).toMatchObject({ exit: 2, failure: { severity: 'fatal' } });
  });
});

describe('a plugin that shares the process of the engine', () => {
  const plugins = {
    'plugins/late.mjs': `export default ({ params }) => new Promise((resolve, reject) => {
      const error = Object.assign(new TypeError('too late'), { code: 'E7' });
      if (params.how === 'throw') setTimeout(() => { throw error; }, 20);
      if (params.how === 'reject') setTimeout(async () => { throw error; }, 20);
      if (params.how === 'exit') setTimeout(() => process.exit(0), 20);
      if (params.how === 'after') { setTimeout(() => { throw error; }, 200); resolve('done'); }
    });`,
    'plugins/good.mjs': 'export default () => 1;',
  };

  it('fails its own step when it throws where nobody catches it, or calls process.exit', async () => {
    const { root, env, put, ended } = await openProject(plugins);
    await put(
      { _id: 'l', ...task('late', { plugin: 'late', timeout: 20_000 }) },
      { _id: 'g', ...task('good', { plugin: 'good' }) },
      { _id: 'fl', ...flow('late', ['late']) },
      { _id: 'fg', ...flow('good', ['good']) },
    );
    const engine = tws(['start'], { cwd: root, env });
    await engine.prints(/follows/);
    const uncaught = {
      name: 'UncaughtInPlugin',
      message: 'Plugin late threw where nobody could catch it: TypeError: too late',
      code: 'E7',
    };
    const exited = {
      name: 'ExitInPlugin',
      message:
        "Plugin late called process.exit, which would end the engine and all its steps; with export const isolate = 'process' it may.",
    };
    for (const [how, failure] of [
      ['throw', uncaught],
      ['reject', uncaught],
      ['exit', exited],
    ] as const) {
      await put({ _id: how, type: 'job', flow: 'late', params: { late: { how } } });
      expect(await ended(how)).toMatchObject({ exit: 2, failure });
    }
    await put({ _id: 'after', type: 'job', flow: 'late', params: { late: { how: 'after' } } });
    expect(await ended('after')).toMatchObject({ exit: 0 });
    await engine.prints(/Something was thrown and nobody caught it: too late\."/);
    await put({ _id: 'good', type: 'job', flow: 'good' });
    expect(await ended('good')).toMatchObject({ exit: 0 });
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
    expect(engine.err()).toContain('nobody caught it: too late. Its step fails.');
  });

  it('is not blamed for what it did not do: then the engine stops with 70', async () => {
    const { root, env, put, ended } = await openProject({
      'plugins/slow.mjs': `export default () => { console.error('slow begins'); return new Promise((r) => setTimeout(() => r('slept'), 1_500)); };`,
      'nowhere.mjs': `process.on('SIGUSR2', () => { throw new Error('from nowhere'); });`,
    });
    await put(
      { _id: 's', ...task('slow', { plugin: 'slow' }) },
      { _id: 'f', ...flow('f', ['slow']) },
    );
    const NODE_OPTIONS = `--import ${root}/nowhere.mjs`;
    const engine = tws(['start'], { cwd: root, env: { ...env, NODE_OPTIONS } });
    await engine.prints(/follows/);
    await put({ _id: 'j', type: 'job', flow: 'f' });
    await engine.prints(/slow begins/);
    engine.kill('SIGUSR2');
    expect(await engine.ended).toBe(70);
    expect(await ended('j')).toMatchObject({ exit: 0, steps: [{ result: 'slept' }] });
    expect(engine.err()).toContain('Something was thrown and nobody caught it: from nowhere');
    expect(engine.err()).toContain('The engine stops because its state is no longer known');
  });
});
