import { CommanderError } from 'commander';
import { expect, it } from 'vitest';
import { numberFlag, secondsFlag } from '../../src/cli/command.js';
import type { Io } from '../../src/cli/io.js';
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

/** These load what engines and servers need, to no other end here. */
const heavy: readonly string[] = ['quickstart', 'dev', 'start'];

/** Every option of a command that takes a number or a duration, as its help writes it. */
const numbers = commands.flatMap((command) =>
  heavy.includes(command.name)
    ? []
    : (command.options ?? []).flatMap(({ flags }) => {
        const [, name = ''] = /^--([a-z\d-]+) <(?:n|duration)>$/.exec(flags) ?? [];
        return name === '' ? [] : [{ command, name }];
      }),
);

it.each(numbers.map((one) => [`${one.command.name} --${one.name}`, one] as const))(
  'tws %s takes whole numbers, or durations, and nothing else',
  async (_title, { command: { load }, name }) => {
    const run = await load();
    const key = name.replace(/-[a-z]/g, (letter) => letter.slice(1).toUpperCase());
    for (const text of ['abc', '-1', '1e9', '1.5', '', ' 1', '0x10', '9'.repeat(400)]) {
      const config = (): never => {
        throw new Error('It was not refused before the settings were read.');
      };
      const error: unknown = await run(
        { args: [], flags: { [key]: text }, config },
        {} as Io,
      ).catch((refused: unknown) => refused);
      expect([text, error]).toMatchObject([text, { code: 'usage' }]);
      const { message } = error as Error;
      expect([text, message.split('--').slice(1)]).toEqual([
        text,
        [expect.stringMatching(`${name} must be a (?:whole|number of seconds|duration)`)],
      ]);
    }
  },
);

it.each([
  [numberFlag(0, 65_535), '65536', 'must be a whole number from 0 to 65535'],
  [numberFlag(1), '0', 'must be a whole number from 1 on'],
  [numberFlag(1), '9007199254740993', 'must be a whole number from 1 on'],
])('a number outside its range is refused', (flag, text, message) => {
  expect(flag.safeParse(text).error?.issues).toMatchObject([{ message }]);
  expect(flag.parse('0007')).toBe(7);
});

it.each([
  ['5', 5],
  ['5s', 5],
  ['500ms', 0.5],
  ['2m', 120],
  ['PT1M', 60],
])('a time to wait of %s has %d seconds', (text, seconds) => {
  expect(secondsFlag.parse(text)).toBe(seconds);
});

it.each(['0', '0ms', '2147484', '25d', '-1', '5 s', 'soon'])('%s is no time to wait', (text) => {
  expect(secondsFlag.safeParse(text).error?.issues).toMatchObject([
    { message: 'must be a number of seconds, or a duration such as 5s, 500ms or 2m, up to 24d' },
  ]);
});
