import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { folderWith } from './attempt.js';

const source = readFileSync(new URL('../../src/plugin/attribution.ts', import.meta.url), 'utf8');
const { outputText: module } = ts.transpileModule(source, {
  compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
});

/** Says whether contexts are followed: Node numbers what comes after an `await` only then. */
const lastLines = `
await turn();
await turn();
await null;
console.log(executionAsyncId() > 0);`;

const firstLines = `
import assert from 'node:assert';
import { executionAsyncId } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { attributionOf, callerFor, loadOnBehalfOf, onOwnBehalf } from './attribution.mjs';
const attribution = { plugin: 'a', file: '/a.mjs', about: {}, fail: () => false };
const call = callerFor(attribution);
const others = Promise.resolve();
const query = { then: (done) => done(1) };
const load = (file) => loadOnBehalfOf(attribution, () => import(file));
`;

/** What a process of its own prints that runs these lines: what is followed once, is followed for good. */
async function printed(lines: string, plugin: string): Promise<string> {
  const folder = folderWith({
    'attribution.mjs': module,
    'plugin.mjs': plugin,
    'waits.mjs':
      'void (async () => { await new Promise((wake) => (globalThis.wake = wake)); globalThis.woken = globalThis.who?.(); })();',
    'main.mjs': firstLines + lines + lastLines,
  });
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'main.mjs')]);
  return stdout.trim();
}

/** Node 24 and newer follow contexts at next to no cost. */
const isCheap = Number.parseInt(process.versions.node, 10) >= 24;

describe.skipIf(isCheap)('contexts, which each promise pays for while they are followed', () => {
  it.each([
    ['call that returns at once', `call(() => 1);`],
    [
      'call that throws at once',
      `assert.throws(() => call(() => { throw new Error('at once'); }), /at once/);`,
    ],
    ['call that returns a promise that is settled', `await call(async () => 1);`],
    ['call that has the engine begin something', `call(() => onOwnBehalf(() => void turn()));`],
    ['plugin that was loaded', `const { default: run } = await load('./plugin.mjs'); call(run);`],
    [
      'call in the middle of the load of another',
      `const loads = [load('./plugin.mjs'), load('node:dns')]; call(() => 1); await Promise.all(loads);`,
    ],
  ])('are not followed after a %s', async (_what, lines) => {
    expect(await printed(lines, 'await Promise.resolve(); export default () => 1;')).toBe('false');
  });

  it.each([
    ['call that waits', `await call(async () => { await null; });`],
    ['call that leaves a timer', `call(() => void setTimeout(() => undefined, 1));`],
    ['call that leaves a promise', `call(() => { void (async () => { await null; })(); });`],
    ['call that returns its timer', `call(() => setTimeout(() => undefined, 1));`],
    ['call that waits for what others began', `call(() => others.then(() => undefined));`],
    [
      'call that wakes what was begun by the load',
      `await load('./waits.mjs'); call(() => globalThis.wake());`,
    ],
    ['call that returns a query', `call(async () => query);`],
    ['call that returns a query at once', `call(() => query);`],
    ['load that leaves a timer', `await load('./plugin.mjs');`],
  ])('are followed after a %s', async (_what, lines) => {
    const plugin = 'setInterval(() => undefined, 1_000).unref();';
    expect(await printed(lines, plugin)).toBe('true');
  });

  it('tell whose promise was rejected that nobody waits for', async () => {
    const lines = `
      process.on('unhandledRejection', () => console.log(attributionOf()?.plugin));
      call(() => void Promise.reject(new Error('x')));
      await turn();`;
    expect(await printed(lines, '')).toBe('a\ntrue');
  });

  it('are those of the load in what a call wakes', async () => {
    const lines = `
      globalThis.who = () => attributionOf()?.about.load;
      const about = { load: true };
      await loadOnBehalfOf({ ...attribution, about }, () => import('./waits.mjs'));
      call(() => globalThis.wake());
      await turn();
      console.log(globalThis.woken);`;
    expect(await printed(lines, '')).toBe('true\ntrue');
  });

  it('are followed while a plugin is loaded, also when another one is called meanwhile', async () => {
    const lines = `
      globalThis.who = () => attributionOf()?.plugin;
      const loading = load('./plugin.mjs');
      callerFor({ ...attribution, plugin: 'b' })(() => 1);
      await loading;
      console.log(globalThis.seen);`;
    const plugin = 'await Promise.resolve(); globalThis.seen = who();';
    expect(await printed(lines, plugin)).toBe('a\nfalse');
  });
});
