import { describe, expect, it } from 'vitest';
import { createSchemaChecks } from '../../src/evaluate/schema-checks.js';

/** A schema of 60 levels, each of which is looked at twice: 2^60 checks. */
const doubling = {
  definitions: Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => {
      const next = n === 59 ? {} : { $ref: `#/definitions/d${n + 1}` };
      return [`d${n}`, { allOf: [next, { ...next }] }];
    }),
  ),
  $ref: '#/definitions/d0',
};
const long = {
  properties: Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [`property${n}`, { type: 'string', minLength: n }]),
  ),
};
const recursive = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^a+$' }, child: { $ref: '#' } },
};

/** What a decision that reads a schema comes to know of some parameters. */
async function check(schema: Readonly<Record<string, unknown>>, params: unknown) {
  const checks = createSchemaChecks();
  const look = () => {
    const read = checks.read(schema);
    return read.ok ? read.problemsOf(params).map(({ message }) => message) : read.reason;
  };
  let told = look();
  for (let rounds = 0; checks.isOpen(); rounds += 1) {
    expect(rounds).toBeLessThan(3);
    await checks.settle();
    told = look();
  }
  return told;
}

describe('a schema of a definition', () => {
  it('is checked where it costs nothing, without asking twice', async () => {
    const checks = createSchemaChecks();
    expect(checks.read({ type: 'object', required: ['a'] })).toMatchObject({ ok: true });
    expect(checks.isOpen()).toBe(false);
    expect(await check({ required: ['a'] }, {})).toEqual(['params.a is missing.']);
  });

  it('that refers to itself is checked in a thread, with the same sentences', async () => {
    expect(await check(recursive, { child: { child: { name: 'aaa' } } })).toEqual([]);
    expect(await check(recursive, { child: { child: { name: 'b' } } })).toEqual([
      expect.stringContaining('params.child.child.name must match pattern'),
    ]);
  });

  it('that is too long is refused, with its length', async () => {
    expect(await check(long, {})).toMatch(/^it has \d+ characters, and 65536 is the most$/);
  });

  it('that takes too long is ended, while this thread goes on', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 10);
    const told = await check(doubling, { a: 1 });
    clearInterval(timer);
    expect(JSON.stringify(told)).toContain('it takes longer than 1000 ms');
    expect(turns).toBeGreaterThan(2);
  });

  it('that is none says why', async () => {
    expect(await check({ $ref: '#/nowhere' }, {})).toContain("can't resolve reference");
  });
});
