import { statuses } from '../model/status.js';
import { counted, lengthOf } from '../words.js';
import { padded } from './fit.js';
import type { Io } from './io.js';
import { colourOf } from './jobs.js';
import type { Overview } from './overview.js';
import { plain } from './safe.js';

type Room = { readonly columns: number; readonly rows: number };

/** With less room nothing could be read. */
export const leastRoom: Room = { columns: 40, rows: 8 };

/** An overview in so many lines; lists are cut to the room there is, and say so. */
export function overviewLines(
  overview: Overview,
  room: Room,
  io: Pick<Io, 'style'>,
): readonly string[] {
  const head = [countsLine(overview, io), throughputLine(overview, io)];
  const lists = [enginesOf(overview, io), flowsOf(overview, io), waitingOf(overview, room, io)];
  const shares = sharesOf(
    lists.map(({ rows }) => rows.length),
    room.rows - head.length - 2 * lists.length,
  );
  const note =
    overview.looked_at === undefined
      ? ''
      : `  (of the first ${overview.looked_at} unfinished jobs)`;
  return [
    ...head,
    ...lists.flatMap(({ title, rows }, i) => {
      const share = shares[i] ?? 0;
      const cut = rows.length > share;
      const shown = rows.slice(0, cut ? Math.max(0, share - 1) : share);
      const more = io.style('dim', `  … ${rows.length - shown.length} more`);
      const about = i === 0 ? '' : io.style('dim', note);
      return ['', io.style('bold', title) + about, ...shown, ...(cut && share > 0 ? [more] : [])];
    }),
  ];
}

/** Everything, for whoever reads it later. */
export function wholeOverview(overview: Overview, io: Pick<Io, 'style'>): readonly string[] {
  return overviewLines(overview, { columns: 200, rows: Infinity }, io);
}

/** Shares the rows there are: what a list does not need, the others get. */
function sharesOf(needs: readonly number[], rows: number): readonly number[] {
  const shares = needs.map(() => 0);
  let left = Math.max(0, rows);
  for (let open = true; left > 0 && open;) {
    open = false;
    for (const [i, need] of needs.entries()) {
      if (left <= 0 || (shares[i] ?? 0) >= need) continue;
      if (rows === Infinity) shares[i] = need;
      else {
        shares[i] = (shares[i] ?? 0) + 1;
        left -= 1;
      }
      open = true;
    }
  }
  return shares;
}

function countsLine({ counts }: Overview, io: Pick<Io, 'style'>): string {
  const shown = statuses.filter((status) => counts[status] > 0);
  if (shown.length === 0) return 'No jobs yet.';
  return `Jobs  ${shown
    .map((status) => `${io.style(colourOf(status), status)} ${counts[status]}`)
    .join('  ')}`;
}

const bars = ' ▁▂▃▄▅▆▇█';

function throughputLine({ minutes }: Overview, io: Pick<Io, 'style'>): string {
  const ended = minutes.map(({ succeeded, failed, cancelled }) => succeeded + failed + cancelled);
  const failed = minutes.reduce((sum, one) => sum + one.failed, 0);
  const total = ended.reduce((sum, one) => sum + one, 0);
  const most = Math.max(1, ...ended);
  const chart = ended.map((count) => bars[Math.ceil((count / most) * 8)]).join('');
  const now = ended.at(-2) ?? 0;
  const bad = failed === 0 ? 'none failed' : io.style('red', `${failed} failed`);
  return `Ended  ${now} in the last whole minute, ${total} in ${minutes.length} min, ${bad}  ${io.style('cyan', chart)}`;
}

type List = { readonly title: string; readonly rows: readonly string[] };

function enginesOf({ engines, at }: Overview, io: Pick<Io, 'style'>): List {
  const used = engines.reduce((sum, engine) => sum + engine.used, 0);
  const slots = engines.reduce((sum, engine) => sum + engine.slots, 0);
  const title =
    engines.length === 0
      ? io.style('red', 'No engine is alive')
      : `${counted(engines.length, 'engine')} alive, ${used} of ${counted(slots, 'slot')} in use`;
  const rows = engines.map((engine) => {
    const share = engine.slots === 0 ? 0 : Math.round((engine.used / engine.slots) * 10);
    const bar = `${'█'.repeat(Math.min(10, share))}${'░'.repeat(Math.max(0, 10 - share))}`;
    const state = engine.state === 'running' ? '' : `  ${io.style('yellow', engine.state)}`;
    const up = io.style('dim', `up ${lengthOf(at - engine.since)}`);
    const load = `${engine.used}/${engine.slots}`.padStart(7);
    return `  ${bar} ${load}  ${padded(`${plain(engine.host)} pid ${engine.pid}`, 28)}  ${up}${state}  ${io.style('dim', plain(engine.id))}`;
  });
  return { title, rows };
}

function flowsOf({ flows }: Overview, _io: Pick<Io, 'style'>): List {
  const rows = flows.map(({ flow, jobs }) => `  ${String(jobs).padStart(6)}  ${plain(flow)}`);
  return { title: 'Busiest flows', rows: rows.length === 0 ? ['  none'] : rows };
}

function waitingOf({ waiting, at }: Overview, { columns }: Room, io: Pick<Io, 'style'>): List {
  const width = Math.min(40, Math.max(12, Math.floor(columns / 3)));
  const rows = waiting.map(({ id, flow, status, since }) => {
    const age = since === undefined ? 'new' : lengthOf(at - since);
    return `  ${age.padStart(10)}  ${io.style(colourOf(status), status.padEnd(8))}  ${padded(plain(flow), width)}  ${io.style('dim', plain(id))}`;
  });
  return { title: 'Waiting longest', rows: rows.length === 0 ? ['  none'] : rows };
}
