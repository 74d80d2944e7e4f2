import { counted } from '../words.js';
import { row } from './row.js';

/** Rows about moving a database to another server. */
export const moveProblems = {
  database_moved: row(
    (d: { database: string; to: string }) => `The database "${d.database}" has moved to ${d.to}.`,
    'Set COUCH_URL and COUCH_DATABASE to that place; `tws move --undo --to URL` lets this one take writes again.',
    70,
    503,
  ),
  move_target_used: row(
    (d: { place: string; documents: number }) =>
      `The database at ${d.place} has ${counted(d.documents, 'document')} that ${d.documents === 1 ? 'is' : 'are'} not of this move.`,
    'Name a new database in --to, as in http://host:5984/orders_2.',
    3,
    409,
  ),
  move_target_changed: row(
    (d: { place: string; count: number; ids: readonly string[] }) =>
      `At ${d.place} ${counted(d.count, 'document')} ${d.count === 1 ? 'was' : 'were'} stored or deleted, and not by this move: ${d.ids.join(', ')}. Nothing was cut over; engines take work again.`,
    'Nothing may be changed in the new database before the move has ended. Delete that database, or name another one in --to, and repeat the command.',
    3,
    409,
  ),
  move_target_same: row(
    (d: { place: string }) => `${d.place} is the database that is to be moved.`,
    'Name another server or another database in --to.',
    2,
    400,
  ),
  move_busy: row(
    (d: { seconds: number; steps: readonly string[]; count: number }) =>
      `After ${counted(d.seconds, 'second')} ${whatIsHeld(d)}. Nothing was cut over; engines take work again.`,
    'Repeat the command; what is copied stays copied. --wait SECONDS gives running steps more time.',
    1,
    503,
  ),
  move_incomplete: row(
    (d: { place: string; count: number; ids: readonly string[] }) =>
      `${d.place} differs from this database in ${counted(d.count, 'document')}: ${d.ids.join(', ')}. The old database still refuses writes.`,
    'Repeat the command to go on, or `tws move --undo --to URL` to go on here.',
    1,
    502,
  ),
  move_in_use: row(
    (d: { place: string; ids: readonly string[] }) =>
      `At ${d.place} documents have changed since the move: ${d.ids.join(', ')}.`,
    'What happened there is not here. Move that database back instead: `tws move` with COUCH_URL set to it.',
    3,
    409,
  ),
} as const;

function whatIsHeld({
  steps,
  count,
}: {
  readonly steps: readonly string[];
  readonly count: number;
}) {
  if (count === 0) return 'an engine has not seen that it takes no new work';
  const more = count > steps.length ? ' …' : '';
  return `${count === 1 ? 'a step still runs' : `${count} steps still run`}: ${steps.join(', ')}${more}`;
}
