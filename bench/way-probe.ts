import { register } from 'node:module';

/** A function of the product that was called, and how often. */
export type Called = { readonly file: string; readonly name: string; readonly count: number };

/**
 * Loaded into an engine's process before the engine: each named function of the product counts its
 * calls (`way-hooks`). A message to the process asks for what was called since the last one.
 */
const counts = new Map<string, Called & { count: number }>();

Object.assign(globalThis, {
  countCall: (file: string, name: string): void => {
    const key = `${file}:${name}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { file, name, count: 1 });
    else known.count += 1;
  },
});
register('./way-hooks.js', import.meta.url);

process.on('message', () => {
  process.send?.([...counts.values()]);
  counts.clear();
});
process.channel?.unref();
