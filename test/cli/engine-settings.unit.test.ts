import { expect, it } from 'vitest';
import { z } from 'zod';
import { engineArguments, engineFlags } from '../../src/cli/engine-settings.js';
import { flagsIn } from '../../src/config/flags.js';
import { loadConfig } from '../../src/config/load.js';

const config = (flags: Parameters<typeof loadConfig>[0]['flags']) =>
  loadConfig({ flags, env: {}, cwd: '/' });

it.each([
  [{}, undefined],
  [{ slots: '3', labels: 'a, b', queues: 'night' }, undefined],
  [{ slots: '0' }, 'must be 1 or more'],
  [{ slots: '1e1' }, 'must be a whole number'],
  [{ slots: 'many' }, 'must be a whole number'],
  [{ queues: ', ' }, 'must name a queue'],
  [{ labels: '' }, undefined],
])('checks %j as tws.json is checked', (given, message) => {
  const { error } = z.object(engineFlags).safeParse(given);
  expect(error?.issues[0]?.message).toBe(message);
});

it('hands the settings of an engine to a process of its own', () => {
  const own = config({ slots: 3, labels: ['a', 'b'], queues: ['night'] });
  const args = engineArguments(own);
  expect(args).toEqual(['--slots', '3', '--labels', 'a,b', '--queues', 'night']);
  const given = Object.fromEntries(
    args.flatMap((arg, i) => (arg.startsWith('--') ? [[arg.slice(2), args[i + 1]]] : [])),
  );
  expect(config(flagsIn(given))).toEqual(own);
});

it('hands over nothing that is not said', () => {
  expect(engineArguments(config({}))).toEqual(['--queues', 'default']);
});
