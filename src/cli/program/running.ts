import { optionOf } from '../../config/table.js';
import type { CommandDefinition, OptionDefinition } from '../command.js';
import { shells } from '../completion/scripts.js';
import { engineOptions, httpOption, httpPlace } from './options.js';
import { storageKinds } from '../../storage-kinds.js';

const placeOptions = (word: string): OptionDefinition[] => [
  {
    flags: '--for <document>',
    about: `What the value is ${word} for: task:NAME, flow:NAME, hook:NAME, secret:NAME (of --owner), or settings.`,
  },
  { flags: '--field <path>', about: 'The path of its field: params.smtp.auth.pass.' },
];

/** Running and looking after it. */
export const running: readonly CommandDefinition[] = [
  {
    name: 'start',
    about: 'Run an engine until Ctrl-C or SIGTERM; steps may end first, a second signal ends them.',
    options: [
      { flags: '--engines <n>', about: 'Run this many engines, each a process of its own.' },
      ...engineOptions,
      {
        flags: '--name <name>',
        about: 'Name that stays over restarts; no two engines may share it.',
      },
      httpOption,
    ],
    stoppable: true,
    serves: true,
    severalDatabases: true,
    examples: [
      'tws start',
      'tws start --database a --database b',
      'tws start --engines 4 --slots 20',
      'tws start --labels gpu,eu',
      'tws start --http',
      'tws start --queues default,night',
    ],
    load: async () => (await import('../commands/start.js')).start,
  },
  {
    name: 'serve',
    about: 'Serve the HTTP API until Ctrl-C or SIGTERM, and run no engine.',
    options: [httpPlace],
    stoppable: true,
    serves: true,
    examples: ['tws serve', 'tws serve --http 0.0.0.0:8080'],
    load: async () => (await import('../commands/serve.js')).serve,
  },
  {
    name: 'top',
    about: 'Show jobs, throughput, engines and what waits longest, updated continuously; q quits.',
    options: [
      { flags: '--once', about: 'Print it once.' },
      { flags: '--interval <duration>', about: 'Time between updates (500ms, 5s); default 2s.' },
    ],
    stoppable: true,
    examples: ['tws top', 'tws top --once', 'tws top --once --json'],
    load: async () => (await import('../commands/top.js')).top,
  },
  {
    name: 'retain',
    about:
      'Remove, after a confirmation, the ended jobs that "retain" of their flow or of tws.json does not keep.',
    options: [{ flags: '--dry-run', about: 'Print what would be removed; remove nothing.' }],
    stoppable: true,
    examples: ['tws retain --dry-run', 'tws retain --no-confirm', 'tws retain --dry-run --json'],
    load: async () => (await import('../commands/retain.js')).retain,
  },
  {
    name: 'archive',
    about:
      'List, show and restore the jobs that "archive" of "retain" kept when they were removed.',
    arguments: [
      {
        name: '<action>',
        about: 'What to do: list, show or restore.',
        values: ['list', 'show', 'restore'],
      },
      { name: '[job]', about: 'The id of an archived job, for show and restore.' },
    ],
    options: [
      { flags: '--flow <name>', about: 'With list: only jobs of this flow, name or name::owner.' },
      {
        flags: '--since <when>',
        about: 'With list: only jobs that ended since then, as 2030-01-31, or 7d: seven days ago.',
      },
    ],
    examples: [
      'tws archive list --flow ping --since 30d',
      'tws archive show ping-1 --json',
      'tws archive restore ping-1',
    ],
    load: async () => (await import('../commands/archive.js')).archive,
  },
  {
    name: 'encrypt',
    about:
      'Encrypt a value with TWS_CRYPTO_KEY for one field of a task or flow; it is asked for, or read from stdin.',
    arguments: [
      {
        name: '[file]',
        about:
          'A file with a task or flow; with --upgrade or --rotate the only one that is rewritten.',
        values: { named: ['file'] },
      },
      { name: '[field]', about: 'The field to encrypt in it: params.smtp.auth.pass.' },
    ],
    options: placeOptions('encrypted').concat([
      {
        flags: '--upgrade',
        about: 'Rewrite the values of older versions in all stored tasks and flows, or in files.',
      },
      {
        flags: '--rotate',
        about:
          'Rewrite, with the first key of TWS_CRYPTO_KEY, all that another key encrypted; secrets, too.',
      },
    ]),
    stoppable: true,
    examples: [
      'tws encrypt --for task:mail --field params.smtp.auth.pass',
      'tws encrypt couch/tws/tasks/mail.json params.smtp.auth.pass',
      'tws encrypt --rotate',
    ],
    load: async () => (await import('../commands/encrypt.js')).encrypt,
  },
  {
    name: 'decrypt',
    about: 'Decrypt a value with TWS_CRYPTO_KEY; it is asked for, or read from stdin.',
    options: placeOptions('decrypted'),
    examples: ['tws decrypt --for task:mail --field params.smtp.auth.pass'],
    load: async () => (await import('../commands/encrypt.js')).decrypt,
  },
  {
    name: 'secret',
    about:
      'Store, list, remove and re-encrypt secrets that tasks and flows refer to as {"$secret": "name"}.',
    arguments: [
      {
        name: '<action>',
        about: 'What to do: set, list, remove or rotate.',
        values: ['set', 'list', 'remove', 'rotate'],
      },
      {
        name: '[names...]',
        about:
          'With set and remove: the secret, and a field of it; with rotate: secrets, default all.',
      },
    ],
    stoppable: true,
    examples: [
      'tws secret set mail password',
      'tws secret list --json',
      'tws secret remove mail password --no-confirm',
      'tws secret rotate',
    ],
    load: async () => (await import('../commands/secret.js')).secret,
  },
  {
    name: 'sensitive',
    about:
      'Store, read, list and purge sensitive values of subjects, which tasks refer to as {"$sensitive": "name"}.',
    arguments: [
      {
        name: '<action>',
        about: 'What to do: put, get, list, purge, reference or log.',
        values: ['put', 'get', 'list', 'purge', 'reference', 'log'],
      },
      {
        name: '[names...]',
        about:
          'With put, get and reference: the subject, or its reference; with put and get also names of values.',
      },
    ],
    options: [
      { flags: '--subject <text>', about: 'With purge: the subject, or its reference.' },
      {
        flags: '--older-than <age>',
        about: 'With purge: subjects whose values were last stored before: 90d, or 2030-01-31.',
      },
      {
        flags: '--retain <age>',
        about:
          'With put: how long the values of the subject stay after one was last stored (30d, or P30D; 0: for ever), before its key is destroyed.',
      },
      { flags: '--why <text>', about: 'With put, get and purge: the reason, for the record.' },
    ],
    examples: [
      'tws sensitive put maria@example.com iban',
      'tws sensitive get maria@example.com iban --why "ticket 71"',
      'tws sensitive purge --subject maria@example.com',
      'tws sensitive purge --older-than 90d --no-confirm',
    ],
    load: async () => (await import('../commands/sensitive.js')).sensitive,
  },
  {
    name: 'move',
    about:
      'Move the database to another server or another name while engines work: copy, cut over, compare.',
    options: [
      {
        flags: '--to <url>',
        about:
          'Where to: http://user:password@host:5984/database; without a path the database keeps its name. TWS_MOVE_TO does the same and shows no password in lists of processes.',
      },
      {
        flags: '--wait <duration>',
        about: 'How long running steps may take to end before nothing is moved; default 60s.',
      },
      {
        flags: '--undo',
        about: 'Let the old database take writes again, if nothing has happened in the new one.',
      },
    ],
    stoppable: true,
    examples: [
      'tws move --to http://admin@db1.internal:5984/orders',
      'tws move --to http://admin@db1.internal:5984/orders --wait 600 --no-confirm',
      'tws move --undo --to http://admin@db1.internal:5984/orders',
    ],
    load: async () => (await import('../commands/move.js')).move,
  },
  {
    name: 'backup',
    about:
      'Write the databases of an installation, while it runs, into one compressed file with checksums.',
    arguments: [
      { name: '<file>', about: 'The file, such as orders.tws.gz.', values: { named: ['file'] } },
    ],
    options: [
      {
        flags: '--verify',
        about: 'Read the file and check that it is whole; no database is asked.',
      },
      {
        flags: '--subject-keys',
        about:
          'Also the keys of sensitive values. Delete such a backup soon: a purge does not reach it.',
      },
    ],
    stoppable: true,
    examples: ['tws backup orders.tws.gz', 'tws backup orders.tws.gz --verify'],
    load: async () => (await import('../commands/backup.js')).backup,
  },
  {
    name: 'restore',
    about:
      'Write a backup into an empty or missing database, and compare; engines begin nothing there until they are enabled.',
    arguments: [{ name: '<file>', about: 'A file of tws backup.', values: { named: ['file'] } }],
    options: [
      { flags: '--into-used', about: 'Also into a database that holds documents already.' },
    ],
    stoppable: true,
    examples: ['tws restore orders.tws.gz --database orders_restored'],
    load: async () => (await import('../commands/restore.js')).restore,
  },
  {
    name: 'convert',
    about: 'Convert the databases of the embedded server, which must not run, to another storage.',
    arguments: [
      {
        name: '<storage>',
        about: `Storage to convert to, ${storageKinds.join(' or ')}.`,
        values: storageKinds,
      },
    ],
    options: [optionOf('embedded.dir')],
    examples: ['tws convert sqlite', 'tws convert leveldb --dir .tws'],
    load: async () => (await import('../commands/convert.js')).convert,
  },
  {
    name: 'completion',
    about: 'Print the script for a shell to complete commands, options and names.',
    arguments: [{ name: '<shell>', about: 'One of bash, zsh, fish.', values: shells }],
    examples: [
      'eval "$(tws completion bash)"',
      'eval "$(tws completion zsh)"',
      'tws completion fish | source',
    ],
    load: async () => (await import('../commands/completion.js')).completion,
  },
  {
    name: 'config',
    about: 'Print every setting and where it comes from; credentials are not shown.',
    examples: ['tws config'],
    load: async () => (await import('../commands/config.js')).showConfig,
  },
  {
    name: 'doctor',
    about: 'Check settings, plugins, server, database and engines; say what to do.',
    options: [
      {
        flags: '--measure',
        about: 'Also measure for a second what the guard costs here, in databases of its own.',
      },
    ],
    examples: ['tws doctor', 'tws doctor --measure'],
    load: async () => (await import('../commands/doctor.js')).doctor,
  },
];
