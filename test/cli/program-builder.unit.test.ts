import { CommanderError } from 'commander';
import { expect, it } from 'vitest';
import { commands, globalOptions } from '../../src/cli/program.js';
import { buildProgram } from '../../src/cli/program-builder.js';
import { storageKinds } from '../../src/storage-kinds.js';

async function parsed(...argv: readonly string[]): Promise<unknown> {
  let flags: unknown;
  const program = buildProgram({ commands, globalOptions, version: '0' }, (chosen) => {
    flags = chosen.flags;
  });
  await program.parseAsync(argv, { from: 'user' });
  return flags;
}

it('tws dev --storage takes one of the storages and nothing else', async () => {
  for (const storage of storageKinds) {
    expect(await parsed('dev', '--storage', storage)).toMatchObject({ storage });
  }
  const error: unknown = await parsed('dev', '--storage', 'oracle').catch((it: unknown) => it);
  expect(error).toBeInstanceOf(CommanderError);
  expect((error as Error).message).toBe(
    "error: option '--storage <kind>' argument 'oracle' is invalid. Allowed choices are leveldb, sqlite.",
  );
});
