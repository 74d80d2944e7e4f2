import { counted, listed } from '../words.js';
import { row } from './row.js';

/** Rows about what a command is given: settings, flags, files, answers. */
export const inputProblems = {
  setting_invalid: row(
    (d: { name: string; origin: string; reason: string }) =>
      `The setting "${d.name}" (from ${d.origin}) is not valid: ${d.reason}`,
    'Correct it there; `tws config` shows every setting and where it comes from.',
    78,
    500,
  ),
  plugins_missing: row(
    (d: { entry: string; origin: string }) =>
      `The setting "plugins" (from ${d.origin}) names neither a folder nor an installed package "${d.entry}"; run npm install ${d.entry}.`,
    'If it is a folder, make it, or write ./ before its name: such a folder may be made later.',
    78,
    500,
  ),
  settings_file_invalid: row(
    (d: { file: string; reasons: readonly string[] }) =>
      `${d.file} is not valid: ${d.reasons.join(' ')}`,
    'Correct the file; its keys are described in couch/schemas/tws.json.',
    78,
    500,
  ),
  flow_version_missing: row(
    (d: { given: string; version: string; versions: string }) =>
      `Flow "${d.given}" has no version ${JSON.stringify(d.version)}; ${d.versions === '' ? 'its document has none' : `it has ${d.versions}`}.`,
    '`tws flow versions NAME` lists them.',
    4,
    404,
  ),
  job_stays: row(
    (d: { reason: string }) => d.reason,
    '`tws migrate FLOW --to VERSION --dry-run` lists which jobs can move and why others cannot.',
    1,
    409,
  ),
  flow_before_unknown: row(
    (d: { given: string }) => `No document of flow "${d.given}" says that it was current before.`,
    '`tws flow versions NAME` lists the versions; `tws flow use NAME VERSION` makes one current.',
    4,
    409,
  ),
  usage: row(
    (d: { reason: string }) => d.reason,
    'See `tws --help` or `tws help COMMAND`.',
    2,
    400,
  ),
  file_missing: row(
    (d: { file: string }) => `There is no file or folder ${d.file}.`,
    'Check the path; paths that begin with ~tws/ are looked up in couch/tws of the project, then in the samples.',
    4,
    404,
  ),
  tests_missing: row(
    (d: { places: readonly string[] }) =>
      `There are no files of test cases (*.test.json) in ${d.places.join(', ')}.`,
    'Write one with `tws new flow NAME --test`, or name the files.',
    4,
    404,
  ),
  file_unusable: row(
    (d: { file: string; reason: string }) => `${d.file} cannot be used: ${d.reason}`,
    'Correct the file and repeat the command.',
    3,
    400,
  ),
  import_changed: row(
    (d: { files: readonly string[] }) =>
      `${listed(d.files)} ${d.files.length === 1 ? 'is' : 'are'} there and not as an import wrote ${d.files.length === 1 ? 'it' : 'them'}; nothing was written.`,
    'Remove or rename what is to be written anew, or import into another folder with --into.',
    1,
    409,
  ),
  documents_invalid: row(
    (d: { count: number; files: number }) =>
      `${counted(d.count, 'problem')} in ${counted(d.files, 'file')}; nothing was written.`,
    'Correct what is listed and repeat the command.',
    3,
    400,
  ),
  placeholders_open: row(
    (d: { file: string; missing: readonly string[] }) =>
      `${d.file} leaves open what has to be known: ${d.missing.join(', ')}.`,
    'Answer each with --set LABEL=VALUE or --set dotted.path=VALUE, or run it on a terminal to be asked.',
    2,
    400,
  ),
  confirmation_missing: row(
    (d: { doing: string }) => `${d.doing} needs a confirmation, and this is no terminal.`,
    'Add --no-confirm to go ahead without one.',
    2,
    400,
  ),
  terminal_needed: row(
    (d: { what: string }) => `${d.what} can only be asked on a terminal.`,
    'Give it as the help of the command says.',
    2,
    400,
  ),
  pull_conflicts: row(
    (d: { count: number }) =>
      `${counted(d.count, 'file')} could not be brought together with the database and ${d.count === 1 ? 'was' : 'were'} left as ${d.count === 1 ? 'it is' : 'they are'}.`,
    'Correct what the lines above name, or repeat with --theirs (take what the database has) or --ours (keep what the files have).',
    1,
    409,
  ),
  push_conflicts: row(
    (d: { count: number }) =>
      `Nothing was pushed: ${counted(d.count, 'document')} ${d.count === 1 ? 'was' : 'were'} changed or removed both here and in the database.`,
    'Repeat with --force to store what the files have, or run `tws pull --theirs` to take what the database has.',
    1,
    409,
  ),
  confirmation_needed: row(
    (d: { count: number; inUse?: readonly string[] }) =>
      `Nothing was removed. Removing ${counted(d.count, 'document')} has to be confirmed on a terminal, and this is not one.${(d.inUse ?? []).map((one) => ` ${one}`).join('')}`,
    'Add --no-confirm to remove without being asked.',
    2,
    400,
  ),
  retention_running: row(
    (d: { by: string; since: number; until: number }) =>
      `${d.by} has been removing old jobs since ${new Date(d.since).toISOString()}; this command removed none. Its claim ends at ${new Date(d.until).toISOString()} unless it is renewed.`,
    'Repeat the command when that pass has ended, or, if its process has died, after that time.',
    1,
    409,
  ),
  clock_ahead: row(
    (d: { ahead: string }) =>
      `The clock of this machine is ${d.ahead} ahead of that of the database server: nothing is removed by its age.`,
    'Set the clock of this machine, or that of the server, by NTP; then removals go on by themselves.',
    78,
    503,
  ),
  archive_failed: row(
    (d: { archive: string; reason: string }) => `The archive (${d.archive}) fails: ${d.reason}.`,
    'Jobs stay in the database until they are archived. See "archive" of "retain" in tws.json, or of the flow.',
    1,
    502,
  ),
  archive_unset: row(
    () => 'No archive is configured.',
    'Name one in tws.json: "retain": {"archive": {"folder": "archive"}}.',
    1,
    404,
  ),
  archived_missing: row(
    (d: { job: string }) => `No archive has a job "${d.job}".`,
    'tws archive list shows which there are.',
    1,
    404,
  ),
  restore_taken: row(
    (d: { job: string; id: string }) =>
      `Job "${d.job}" was not restored: another document has the id "${d.id}".`,
    'Look at that document; remove it when it is no longer needed, and repeat the command.',
    1,
    409,
  ),
  many_unconfirmed: row(
    (d: { action: string; count: number }) =>
      `Nothing was done: a request to ${d.action} ${counted(d.count, 'job')} must be confirmed on a terminal, and this is not one.`,
    'Add --no-confirm to do it without being asked.',
    2,
    400,
  ),
  nothing_to_submit: row(
    (d: { given: string; owner?: string | undefined; close?: string | undefined }) => {
      const of = d.owner === undefined ? '' : ` of owner "${d.owner}" or DEFAULT`;
      const close = d.close === undefined ? '' : ` Did you mean "${d.close}"?`;
      return `There is no file "${d.given}", no job file of that name and no stored flow "${d.given}"${of}.${close}`;
    },
    'See `tws list --flows` for what is stored, and `tws push` to store a flow.',
    4,
    404,
  ),
  params_missing: row(
    (d: { flow: string; missing: readonly string[] }) =>
      `Flow "${d.flow}" requires parameters that were not given: ${d.missing.join(', ')}.`,
    'Give each with --set NAME=VALUE, or all with --params, or run it on a terminal to be asked.',
    2,
    400,
  ),
  dev_gone: row(
    (d: { told: string }) => `${d.told} The \`tws dev\` of this folder is not running.`,
    'Start it again with `tws dev` in a terminal of its own, or set COUCH_URL or --url to another CouchDB.',
    69,
    503,
  ),
} as const;
