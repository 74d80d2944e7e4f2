import type { Clock } from '../../clock/clock.js';
import type { Peer } from '../../decide/world.js';
import type { EngineMeters } from '../meters.js';
import type { Peers } from '../peers/peers.js';
import type { JobParts } from './job-parts.js';

/** What following documents other than jobs needs of an engine. */
export type FollowParts = Pick<
  JobParts,
  | 'documentLimit'
  | 'horizonMs'
  | 'life'
  | 'log'
  | 'now'
  | 'once'
  | 'readDocument'
  | 'replicas'
  | 'retry'
  | 'serializer'
  | 'store'
> & {
  /** Aborted: nothing new is begun. */
  readonly ending: AbortController;
  readonly peers: Pick<Peers, 'alive'>;
  readonly self: Peer;
  readonly meters: Partial<EngineMeters> | undefined;
  readonly clock: Pick<Clock, 'after'>;
  /** How long events live that have no `ttl`, ms; absent or 0: until they are deleted. */
  readonly eventTtlMs?: number | undefined;
};
