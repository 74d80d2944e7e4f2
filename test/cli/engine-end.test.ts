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
    expect(Date.now() - began).toBeLessThan(6_000);
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
