import { inspectServer, type ServerReport } from '../../client.js';
import type { Config } from '../../config/load.js';
import { TwsError } from '../../errors.js';
import { counted } from '../../words.js';
import { assertClock } from '../server-clock.js';
import type { DoctorFinding } from './finding.js';

/** `usable`: documents can be read. */
export type ServerFindings = {
  readonly findings: readonly DoctorFinding[];
  readonly usable: boolean;
};

/** The server, our rights there, the database and its design document. */
export async function serverFindings(config: Config): Promise<ServerFindings> {
  const report = await inspectServer(config);
  const { problem, database } = report;
  const findings = [...serverFinding(report), ...databaseFindings(report, config)];
  if (problem === undefined) return { findings, usable: report.design !== 'missing' };
  const failed: DoctorFinding = {
    what: report.reachable ? (database === 'missing' ? 'database' : 'access') : 'server',
    verdict: 'fail',
    says: problem.message,
    todo: problem.hint,
  };
  return { findings: [...findings, failed], usable: false };
}

/** Whether the clock of this machine is so far ahead of that of the server that nothing is removed by its age. */
export async function clockFindings(
  config: Config,
  now?: () => number,
): Promise<readonly DoctorFinding[]> {
  try {
    await assertClock(config, now);
    return [];
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    return [{ what: 'clock', verdict: 'fail', says: error.message, todo: error.hint }];
  }
}

function serverFinding({
  reachable,
  server,
  version,
  url,
}: ServerReport): readonly DoctorFinding[] {
  if (!reachable) return [];
  const name = server === 'couchdb' ? 'CouchDB' : (server ?? 'a server');
  // Whoever is not let in may not hear the version.
  const of = version === undefined || version === '' ? '' : ` ${version}`;
  return [{ what: 'server', verdict: 'ok', says: `${name}${of} at ${url}` }];
}

function databaseFindings(
  report: ServerReport,
  { database, app }: Config,
): readonly DoctorFinding[] {
  if (report.database !== 'exists') return [];
  const { documents = 0, copies = 1, design, guard } = report;
  return [
    { what: 'database', verdict: 'ok', says: `${database}, ${counted(documents, 'document')}` },
    ...(copies > 1 ? [copiesFinding(copies)] : []),
    ...(design === undefined ? [] : [designFinding(design, app)]),
    ...(guard === undefined ? [] : [guardFinding(guard, app)]),
  ];
}

function copiesFinding(copies: number): DoctorFinding {
  return {
    what: 'copies',
    verdict: 'warn',
    says: `The database keeps ${copies} copies of each document: engines confirm every claim, which takes three reads and a second write a step.`,
    todo: 'For speed make a database with `tws init --copies 1` and replicate it to a second one.',
  };
}

/** Either is fine: it is a choice. */
function guardFinding(guard: 'installed' | 'left_out', app: string): DoctorFinding {
  const says =
    guard === 'installed'
      ? 'installed: impossible documents are refused when they are stored'
      : 'left out: impossible documents are stored, and the engines tell of them in the documents';
  return { what: `_design/${app}_guard`, verdict: 'ok', says };
}

function designFinding(design: 'current' | 'old' | 'missing', app: string): DoctorFinding {
  const what = `_design/${app}`;
  switch (design) {
    case 'current':
      return { what, verdict: 'ok', says: 'current' };
    case 'old':
      return { what, verdict: 'warn', says: 'It is of another version.', todo: 'Run `tws init`.' };
    case 'missing':
      return { what, verdict: 'fail', says: 'It is missing.', todo: 'Run `tws init`.' };
  }
}
