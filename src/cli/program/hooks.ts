import type { CommandDefinition } from '../command.js';

/** Hooks. */
export const hooks: readonly CommandDefinition[] = [
  {
    name: 'hook',
    about: 'List and show hooks, and try what a delivery to one starts.',
    arguments: [
      {
        name: '<action>',
        about: 'What to do: list, show or test.',
        values: ['list', 'show', 'test'],
      },
      {
        name: '[name]',
        about: 'Id or name (name::owner) of the hook.',
        values: { named: ['hook'] },
      },
    ],
    options: [
      { flags: '--data <json>', about: 'With test: the body, JSON or text, or @file.' },
      {
        flags: '--header <name:value>',
        about: 'With test: a header of the delivery; may be repeated.',
        repeated: true,
      },
      {
        flags: '--query <name=value>',
        about: 'With test: a parameter of the address; may be repeated.',
        repeated: true,
      },
      {
        flags: '--send [server]',
        about:
          'With test: deliver it, signed with the secret of the hook, to the API of the project or at this address; without it nothing is stored.',
      },
    ],
    examples: [
      'tws hook list',
      'tws hook show github',
      'tws hook test github --data \'{"after": "c0ffee"}\' --header x-github-event:push',
      'tws hook test github --data @push.json --send',
    ],
    load: async () => (await import('../commands/hook.js')).hook,
  },
];
