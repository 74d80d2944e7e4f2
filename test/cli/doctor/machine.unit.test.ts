import { describe, expect, it } from 'vitest';
import { checkPlugins } from '../../../src/cli/doctor/machine.js';
import type { PluginRegistry } from '../../../src/plugin/loader.js';

/** A registry of one plugin that cannot be loaded. */
const broken = (problem: string): PluginRegistry =>
  ({
    list: () => [{ name: 'p', state: 'broken', file: '/p.mjs', problem }],
    names: () => [],
  }) as unknown as PluginRegistry;

describe('checkPlugins', () => {
  it.each([
    [
      "Cannot find package 'tws' imported from /p.mjs",
      /^Install tws in the project.*npm install \//,
    ],
    ['Unexpected token', /^Mend the file or remove it/],
  ])('says what to do about a plugin that is broken: %s', (problem, todo) => {
    const [ready, finding] = checkPlugins(broken(problem));
    expect(ready).toMatchObject({ verdict: 'ok' });
    expect(finding).toMatchObject({ what: 'plugin p', verdict: 'fail' });
    expect(finding?.todo).toMatch(todo);
  });
});
