import { counted } from '../words.js';
import { row } from './row.js';

/** Rows about backups and restores. */
export const backupProblems = {
  backup_damaged: row(
    (d: { file: string; reason: string }) => `${d.file} is no whole backup: ${d.reason}`,
    'Nothing was restored; use another backup.',
    3,
    400,
  ),
  restore_target_used: row(
    (d: { database: string; documents: number }) =>
      `The database "${d.database}" is not empty: it has ${counted(d.documents, 'document')} or more.`,
    'Name a new one with --database, or use --into-used to add the documents of the backup to it.',
    3,
    409,
  ),
  restore_refused: row(
    (d: { id: string; reason: string; count: number }) =>
      `${counted(d.count, 'document')} of the backup ${d.count === 1 ? 'was' : 'were'} refused, among them "${d.id}": ${d.reason}`,
    'Restore into a database that does not exist yet: one with a guard judges documents as if they were new.',
    1,
    502,
  ),
  restore_incomplete: row(
    (d: { database: string; count: number; ids: readonly string[] }) =>
      `"${d.database}" differs from the backup in ${counted(d.count, 'document')}: ${d.ids.join(', ')}.`,
    'Restore into a new database, which nothing else writes.',
    1,
    502,
  ),
} as const;
