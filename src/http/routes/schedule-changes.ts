import { z } from 'zod';
import type { ScheduleChange } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { toEpochMs } from '../../model/scalars.js';
import { ownerOf } from '../../model/task.js';
import type { ProblemCode } from '../../errors.js';
import type { Api } from '../api.js';
import type { Principal } from '../access/principal.js';
import { refuseDocument } from '../answers/problems.js';
import { prefix, route, type Route, type RouteAnswer } from '../route.js';
import { backfillBodySchema, scheduleChangedSchema } from '../schedule-schemas.js';
import { submittedSchema } from '../schemas.js';
import { known } from './common.js';
import { visibleDefinition } from './definition-given.js';
import { definitionIdParams, ownerParam } from './definition-storing.js';
import { byOf } from './requests.js';
import { hindrancesOf } from './submit-many.js';

const params = definitionIdParams('schedule');
const query = z.object({ owner: ownerParam });
const problems: readonly ProblemCode[] = [
  ...(['definition_missing', 'definition_ambiguous', 'owner_refused'] as const),
  ...(['document_missing', 'document_conflict', 'document_invalid'] as const),
];
const answers = { 200: { description: 'It is so now.', schema: scheduleChangedSchema } };

const switches: readonly Route[] = (['pause', 'resume'] as const).map((word) =>
  route({
    method: 'POST',
    path: `/schedules/{id}/${word}`,
    id: `${word}Schedule`,
    tag: 'schedules',
    summary:
      word === 'pause'
        ? 'Let no slot of a schedule start a job.'
        : 'Let a paused schedule go on, with the first slot after now.',
    description:
      word === 'pause'
        ? 'Jobs that run go on; slots that pass meanwhile are not made up for. A backfill goes on, too.'
        : '',
    access: 'operator',
    params,
    query,
    answers,
    problems,
    handle: async ({ api, params: { id }, query: { owner }, principal: who }) => {
      const doc = await called(api, known({ principal: who }), id, owner);
      const paused = word === 'pause';
      const isSo = (doc['paused'] === true) === paused;
      return changed(api, doc, isSo ? undefined : { paused });
    },
  }),
);

const backfillRoute = route({
  method: 'POST',
  path: '/schedules/{id}/backfill',
  id: 'backfillSchedule',
  tag: 'schedules',
  summary: 'Run the slots of a period that have no job yet, oldest first.',
  description:
    'A few at a time, whatever "overlap" says. Another period takes the place of the one that runs. The schedule tells how far it is, and keeps a record when it is done.',
  access: 'operator',
  params,
  query,
  body: { schema: backfillBodySchema },
  answers: {
    202: { description: 'It is stored; an engine will begin it.', schema: scheduleChangedSchema },
  },
  problems,
  handle: async ({ api, params: { id }, query: { owner }, body: backfill, principal: who }) => {
    if (toEpochMs(backfill.from) >= toEpochMs(backfill.until)) {
      const message = 'until must be later than "from": a backfill ends before "until".';
      refuseDocument('backfill', [{ path: 'until', message }]);
    }
    const principal = known({ principal: who });
    const doc = await called(api, principal, id, owner);
    // Nobody asks in the name of another.
    const { by: _by, ...period } = backfill;
    const asked = { ...period, ...byOf(backfill, principal) };
    return { ...(await changed(api, doc, { backfill: asked })), status: 202 };
  },
});

const endBackfillRoute = route({
  method: 'DELETE',
  path: '/schedules/{id}/backfill',
  id: 'endBackfill',
  tag: 'schedules',
  summary: 'Call the backfill of a schedule off. Jobs that it has started go on.',
  access: 'operator',
  params,
  query,
  answers,
  problems,
  handle: async ({ api, params: { id }, query: { owner }, principal: who }) => {
    const doc = await called(api, known({ principal: who }), id, owner);
    return changed(api, doc, doc['backfill'] === undefined ? undefined : { backfill: null });
  },
});

/** Pause, resume, and backfills. */
export const scheduleChangeRoutes: readonly Route[] = [
  ...switches,
  backfillRoute,
  endBackfillRoute,
];

export const runScheduleRoute = route({
  method: 'POST',
  path: '/schedules/{id}/run',
  id: 'runSchedule',
  tag: 'schedules',
  summary: 'Submit a job of a schedule now, beside its slots.',
  description: 'Whether it is paused or not, and whatever "overlap" says. It counts for no slot.',
  access: 'operator',
  params,
  query,
  answers: {
    201: {
      description: 'Submitted.',
      schema: submittedSchema,
      headers: { location: 'Path of the job.' },
    },
  },
  problems: [...problems, 'id_taken', 'document_refused'],
  handle: async ({ api, params: { id }, query: { owner }, principal: who }) => {
    const principal = known({ principal: who });
    const doc = await called(api, principal, id, owner);
    const { flow, params: given } = doc;
    const more = given === undefined ? {} : { params: given };
    const job = { type: 'job', flow, owner: ownerOf(doc), ...more } as const;
    const hindrance = (await hindrancesOf(api, [job], principal)).get(job);
    if (hindrance !== undefined) throw hindrance;
    const submitted = await api.client.runSchedule(doc._id, api.now(), byOf({}, principal).by);
    return {
      status: 201,
      body: submitted,
      headers: { location: `${prefix}/jobs/${encodeURIComponent(submitted.id)}` },
    };
  },
});

function called(
  { client }: Api,
  principal: Principal,
  id: string,
  owner: string | undefined,
): Promise<StoredDocument> {
  return visibleDefinition(client, 'schedule', { called: id, owner }, principal);
}

/** Makes a change, if there is any, and tells how the schedule is then. */
async function changed(
  { client }: Api,
  before: StoredDocument,
  change: ScheduleChange | undefined,
): Promise<RouteAnswer> {
  const doc = change === undefined ? before : await client.changeSchedule(before._id, change);
  const { _id: id, _rev: rev, paused, backfill } = doc;
  const more = backfill === undefined ? {} : { backfill };
  return {
    status: 200,
    body: { id, rev, changed: change !== undefined, paused: paused === true, ...more },
  };
}
