import { z } from 'zod';
import { problem } from '../../errors.js';
import { isObject } from '../../model/object.js';
import { ownerOf } from '../../model/task.js';
import type { Api } from '../api.js';
import { hasOwner, principalName, ownersFor } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { streamChanges } from '../feed/stream.js';
import { route } from '../route.js';
import { known, listParam, stillKnown } from './common.js';
import { textOf } from '../../words.js';

export const changesRoute = route({
  method: 'GET',
  path: '/changes',
  id: 'followChanges',
  tag: 'jobs',
  summary: 'Changes of jobs, as they come (server-sent events).',
  description:
    'Events: `job` with the summary of a job that changed, `removed` with the id of one that is gone, `ready` when the stream begins, `reset` when something was missed: read the list anew then. An event may come twice. After a break browsers send the id of the last event by themselves, and are told what came since.',
  access: 'viewer',
  endless: true,
  query: z.object({
    flow: z.string().optional(),
    owner: z.string().optional(),
    tag: z.string().optional(),
    job: listParam.optional().describe('Ids of jobs, or of their parents.'),
    since: z.string().optional().describe('As the header last-event-id.'),
  }),
  headers: { 'last-event-id': 'Id of the last event that was seen.' },
  answers: { 200: { description: 'The stream.', type: 'text/event-stream' } },
  problems: ['owner_refused', 'too_many_streams'],
  handle: ({ api, query, headers, principal: who, signal }) => {
    const principal = known({ principal: who });
    const { flow, tag, job } = query;
    const owners = ownersFor(principal, query.owner);
    const { streams, client, hub, now, heartbeatMs } = api;
    const last = [headers['last-event-id']].flat()[0] ?? query.since;
    return {
      status: 200,
      type: 'text/event-stream',
      stream: async (sink) => {
        const leave = enter(streams, principal);
        try {
          await streamChanges(sink, {
            client,
            hub,
            since: last === '' ? undefined : last,
            wants: (doc) => {
              const { _id: id, flow: its, tags, parent } = doc;
              const family = isObject(parent) ? parent['job'] : undefined;
              return (
                (owners === undefined || owners.includes(ownerOf(doc))) &&
                (flow === undefined || its === flow) &&
                (tag === undefined || (Array.isArray(tags) && tags.includes(tag))) &&
                (job === undefined || job.includes(id) || job.includes(textOf(family)))
              );
            },
            wantsRemoved: (owner) =>
              owner === undefined ? owners === undefined : (owners?.includes(owner) ?? true),
            heartbeatMs,
            mayGoOn: async () => {
              const still = await stillKnown(api, headers, 'viewer');
              if (still === 'unknown') return undefined;
              return (
                still !== undefined &&
                (owners ?? []).every((owner) => hasOwner(still, owner)) &&
                (owners !== undefined || still.owners === 'all')
              );
            },
            signal,
            now,
          });
        } finally {
          leave();
        }
      },
    };
  },
});

/** Nobody may have more than this part of all streams, so that some are left for others. */
const ownPart = 1 / 4;

/** Takes one stream; answers the function that gives it back. @throws TwsError `too_many_streams` */
function enter(streams: Api['streams'], principal: Principal): () => void {
  const { most, open } = streams;
  const who = `${principal.kind} ${principal.name}`;
  const count = [...open.values()].reduce((sum, one) => sum + one, 0);
  if (count >= most) throw problem('too_many_streams', { most });
  const own = open.get(who) ?? 0;
  const mostOwn = Math.max(1, Math.floor(most * ownPart));
  if (principal.kind !== 'local' && own >= mostOwn) {
    throw problem('too_many_streams', { most: mostOwn, who: principalName(principal) });
  }
  open.set(who, own + 1);
  return () => {
    const left = (open.get(who) ?? 1) - 1;
    if (left > 0) open.set(who, left);
    else open.delete(who);
  };
}
