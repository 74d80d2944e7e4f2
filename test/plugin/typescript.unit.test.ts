import { describe, expect, it } from 'vitest';
import { attempt, pluginsOf } from './attempt.js';

const typed = 'export default (context: { params: { a: number } }): number => context.params.a;';
const stripsTypes = Boolean((process.features as { readonly typescript?: unknown }).typescript);

describe('a plugin in TypeScript', () => {
  it.runIf(stripsTypes)('runs as it is where Node removes the types', async () => {
    const { registry } = await pluginsOf({ 'a.mts': typed, 'b.ts': typed, 'c/index.ts': typed });
    for (const name of ['a', 'b', 'c']) {
      expect(await attempt(registry, name, { a: 3 })).toMatchObject({ kind: 'done', result: 3 });
    }
  });

  it.runIf(!stripsTypes)('is broken with a sentence where Node does not', async () => {
    const { registry, said } = await pluginsOf({ 'a.mts': typed });
    expect(registry.get('a')).toBeUndefined();
    expect(said).toHaveLength(1);
    expect(said[0]?.message).toContain(
      `cannot be loaded: TypeScript needs Node 22.18 or 23.6 or newer, and this is ${process.version};`,
    );
  });

  it('gives way to the JavaScript that it was compiled to', async () => {
    const { registry } = await pluginsOf({ 'a.mts': typed, 'a.mjs': 'export default () => "js";' });
    expect(await attempt(registry, 'a')).toMatchObject({ result: 'js' });
  });

  it('fails at the line of its source when it was compiled with a source map', async () => {
    // Line 1 of what runs is line 3 of what was written.
    const map = { version: 3, sources: ['_mapped.ts'], names: [], mappings: 'AAEA' };
    const data = Buffer.from(JSON.stringify(map)).toString('base64');
    const { registry } = await pluginsOf({
      '_mapped.ts': '\n\nexport default (): never => { throw new Error("no"); };\n',
      'mapped.mjs': `export default () => { throw new Error('no'); };\n//# sourceMappingURL=data:application/json;base64,${data}\n`,
    });
    const file = registry.get('mapped')?.file ?? '';
    const outcome = await attempt(registry, 'mapped', {}, { cwd: file.replace(/\/[^/]+$/, '') });
    expect(outcome).toMatchObject({ failure: { message: 'no', at: '_mapped.ts:3' } });
  });
});
