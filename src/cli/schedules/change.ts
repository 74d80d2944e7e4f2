import type { Client, ScheduleChange } from '../../client.js';
import { problem, TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { isObject } from '../../model/object.js';
import { textOf } from '../../words.js';
import type { Io } from '../io.js';
import { isoSecond } from './facts.js';

type Answer = { readonly id: string; readonly [key: string]: unknown };

/**
 * Pauses or resumes schedules; one that cannot be does not keep the others from it. Returns the exit
 * status: 1 when one of several failed.
 */
export async function pauseEach(
  names: readonly string[],
  find: (name: string) => Promise<StoredDocument>,
  { client, paused }: { readonly client: Client; readonly paused: boolean },
  io: Io,
): Promise<number> {
  const answers: Answer[] = [];
  let failures = 0;
  for (const name of names) {
    try {
      answers.push(await pauseOne(await find(name), { client, paused }, io));
    } catch (error) {
      if (!(error instanceof TwsError) || names.length === 1) throw error;
      failures += 1;
      io.warn(error.message);
      answers.push({ id: name, because: error.message });
    }
  }
  io.json(names.length === 1 ? answers[0] : answers);
  return failures > 0 ? 1 : 0;
}

async function pauseOne(
  doc: StoredDocument,
  { client, paused }: { readonly client: Client; readonly paused: boolean },
  io: Io,
): Promise<Answer> {
  const { _id: id } = doc;
  const changed = (doc['paused'] === true) !== paused;
  if (changed) await client.changeSchedule(id, { paused });
  const word = paused ? 'paused' : 'resumed';
  const already = paused ? 'already paused' : 'not paused';
  io.out(changed ? `${word}: ${id}` : `skipping: ${id} (${already})`);
  return { id, paused, changed };
}

/** A period, as `--from` and `--until` name it; epoch ms. */
export type BackfillFlags = {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  readonly atOnce?: number | undefined;
  readonly cancel: boolean;
  readonly by?: string | undefined;
};

/** Begins or calls off the backfill of a schedule. @throws TwsError `usage` */
export async function changeBackfill(
  client: Client,
  doc: StoredDocument,
  said: BackfillFlags,
  io: Io,
): Promise<void> {
  const { _id: id, backfill: before } = doc;
  if (said.cancel) {
    if (said.from !== undefined || said.until !== undefined || said.atOnce !== undefined) {
      throw problem('usage', { reason: '--cancel goes without --from, --until and --at-once.' });
    }
    const changed = before !== undefined;
    if (changed) await client.changeSchedule(id, { backfill: null });
    io.out(
      changed
        ? `cancelled: the backfill of ${id}; its jobs that have begun go on`
        : `skipping: ${id} (it has no backfill)`,
    );
    io.json({ id, backfill: null, changed });
    return;
  }
  const backfill = periodOf(said);
  await client.changeSchedule(id, { backfill });
  if (isObject(before)) {
    const period = `${textOf(before['from'])} until ${textOf(before['until'])}`;
    io.warn(`It takes the place of the backfill from ${period}; jobs that have begun go on.`);
  }
  io.out(`backfilling: ${id} from ${backfill.from} until before ${backfill.until}`);
  io.json({ id, backfill, changed: true });
}

type Period = NonNullable<ScheduleChange['backfill']>;

function periodOf({ from, until = Date.now(), atOnce, by }: BackfillFlags): Period {
  if (from === undefined) {
    throw problem('usage', { reason: 'Name the period by --from, or say --cancel.' });
  }
  if (from >= until) throw problem('usage', { reason: '--from must be before --until.' });
  if (from >= Date.now()) {
    throw problem('usage', {
      reason: '--from must have passed: what is to come starts by itself.',
    });
  }
  const whole = (at: number): string => isoSecond(Math.floor(at / 1_000) * 1_000);
  const period = {
    ...{ from: whole(from), until: whole(until) },
    ...(by === undefined ? {} : { by }),
  };
  return atOnce === undefined ? period : { ...period, at_once: atOnce };
}
