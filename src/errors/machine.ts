import { row } from './row.js';

/** Rows about servers and packages of this machine. */
export const machineProblems = {
  port_taken: row(
    (d: { port: number }) => `Port ${d.port} of this machine is in use.`,
    'Choose another port with --port, or end the program that uses this one.',
    69,
    503,
  ),
  http_port_taken: row(
    (d: { port: number }) => `Port ${d.port} of this machine, which the HTTP API needs, is in use.`,
    'Choose another address with --http HOST:PORT (port 0 takes any free port), or end the program that uses this one.',
    69,
    503,
  ),
  mailbox_port_taken: row(
    (d: { port: number; what: string }) =>
      `Port ${d.port} of this machine, which the ${d.what} needs, is in use.`,
    'Choose another port with --mail-port or --s3-port (0 takes any free port), or end the program that uses this one.',
    69,
    503,
  ),
  part_missing: row(
    (d: { part: string; package: string }) =>
      `${d.part} needs the package ${d.package}, which is not installed.`,
    'Run `npm install` in the project (the package is optional and may have been left out).',
    69,
    500,
  ),
  dev_running: row(
    (d: { dir: string; url: string; pid: number }) =>
      `An embedded server works in ${d.dir} already (${d.url}, process ${d.pid}).`,
    'Use that one, end it first, or choose another folder with --dir.',
    69,
    503,
  ),
  embedded_not_built: row(
    (d: { file: string }) => `The embedded server is not built: there is no ${d.file}.`,
    'Run `npm run build` first.',
    69,
    503,
  ),
  embedded_gone: row(
    (d: { dir: string; cause: string }) =>
      `The embedded server in ${d.dir} is gone (${d.cause}), and nothing works without it.`,
    'Run the command again: what the server has acknowledged is stored, and the jobs go on.',
    69,
    503,
  ),
  embedded_failed: row(
    (d: { dir: string; cause: string }) =>
      `The embedded server does not start in ${d.dir} (${d.cause}).`,
    'Check that the folder can be written and that the port is free.',
    69,
    503,
  ),
  sqlite_missing: row(
    (d: { dir: string; version: string }) =>
      `Databases in ${d.dir} are or would be kept in SQLite, which Node ${d.version} lacks.`,
    'Use Node 22.13 or later, or LevelDB: for new databases --storage leveldb, for those that there are `tws convert leveldb` under such a Node.',
    69,
    503,
  ),
  embedded_no_data: row(
    (d: { dir: string }) =>
      `No embedded server has worked in ${d.dir}: there is nothing to convert.`,
    'Name the folder of the data with --dir.',
    66,
    404,
  ),
  conversion_failed: row(
    (d: { database: string; id: string; reason: string }) =>
      `Database ${d.database} was not converted, because document ${d.id} cannot be copied as it is: ${d.reason}.`,
    'The database stays as it was, in its old storage. Look whether the disk has room and the document can be read; else please report this.',
    70,
    500,
  ),
  embedded_dir_in_use: row(
    (d: { dir: string }) => `Another embedded server uses ${d.dir}, or it cannot be written.`,
    'Use that server, end it first, or choose another folder.',
    69,
    503,
  ),
} as const;
