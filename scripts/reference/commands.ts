import type { CommandDefinition, OptionDefinition } from '../../src/cli/command.js';
import { commands, globalOptions } from '../../src/cli/program.js';
import { code, page, prose, table } from './markdown.js';

/** All commands with their arguments, options and examples. */
export function commandsPage(): string {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  return page('Commands', '`tws COMMAND --help` shows the same in the terminal.', [
    table(
      ['command', 'does'],
      shown.map(({ name, about }) => [`[${code(`tws ${name}`)}](#tws-${name})`, prose(about)]),
    ),
    '## Options of all commands',
    optionTable(globalOptions),
    ...shown.map(section),
  ]);
}

function section(command: CommandDefinition): string {
  const { name, about, arguments: given = [], options = [], examples = [] } = command;
  const usage = [
    'tws',
    name,
    ...given.map((one) => one.name),
    ...(options.length > 0 ? ['[options]'] : []),
  ];
  return [
    `## tws ${name}`,
    prose(about),
    `\`\`\`text\n${usage.join(' ')}\n\`\`\``,
    table(
      ['argument', 'meaning'],
      given.map((one) => [code(one.name), prose(one.about)]),
    ),
    optionTable(options),
    examples.length === 0 ? '' : `\`\`\`sh no-run\n${examples.join('\n')}\n\`\`\``,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function optionTable(options: readonly OptionDefinition[]): string {
  return table(
    ['option', 'meaning'],
    options.map(({ flags, about }) => [code(flags), prose(about)]),
  );
}
