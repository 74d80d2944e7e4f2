import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { captureConsole, consoleLog } from '../../src/plugin/console.js';
import { attempt, pluginsOf, type Said } from './attempt.js';

const source = `export default ({ params }) => {
  console.log('got %s', params.a, { b: 1 });
  console.warn('careful');
  console.dir({ a: { b: {} } }, { depth: 0 });
  console.dirxml('xml');
  setImmediate(() => console.error(new Error('late').message));
};`;

/** Captures as engines do; answers with what plugins print outside an attempt. */
function captured(): Said[] {
  const outside: Said[] = [];
  onTestFinished(
    captureConsole(() =>
      consoleLog(
        ({ plugin }) =>
          (message, data) =>
            void outside.push({ message: `${plugin}: ${message}`, data }),
      ),
    ),
  );
  return outside;
}

describe('the console of a plugin', () => {
  it('goes to the log of its attempt, also when that has ended', async () => {
    const outside = captured();
    const { registry } = await pluginsOf({ 'a.mjs': source });
    const attribution = { plugin: 'a', file: '', about: {}, fail: () => false };
    const { said } = await attempt(registry, 'a', { a: 1 }, { attribution });
    await turn();
    expect(said).toEqual([
      { message: 'got 1 { b: 1 }', data: undefined },
      { message: 'careful', data: { level: 'warn' } },
      { message: '{ a: [Object] }', data: undefined },
      { message: 'xml', data: undefined },
      { message: 'late', data: { level: 'error' } },
    ]);
    expect(outside).toEqual([]);
  });

  it('names the plugin where no attempt runs, and leaves the console of everybody else alone', async () => {
    const print = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const outside = captured();
    await pluginsOf({ 'a.mjs': `console.log('loaded'); export default () => 1;` });
    console.log('mine');
    expect(outside).toEqual([{ message: 'a: loaded', data: undefined }]);
    expect(print.mock.calls).toEqual([['mine']]);
  });

  it.each(['thread', 'process'])('comes from its %s, too', async (isolate) => {
    const { registry } = await pluginsOf({
      'a.mjs': `export const isolate = '${isolate}'; console.log('loaded'); ${source}`,
    });
    const { said } = await attempt(registry, 'a', { a: 1 });
    expect(said.slice(0, 3)).toEqual([
      { message: 'loaded', data: undefined },
      { message: 'got 1 { b: 1 }', data: undefined },
      { message: 'careful', data: { level: 'warn' } },
    ]);
  });
});
