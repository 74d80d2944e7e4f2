import type { Store } from '../store/store.js';
import { holding, type HoldingJobs } from './holding.js';
import { viewsOfDesigns, type ViewsOfDesigns } from './design-views.js';
import { formsWith } from './forms.js';
import type { Forms } from './forms.js';
import { namedSecrets, type NamedSecrets } from './named-secrets.js';
import type { VersionsOfFlows } from './flow-versions.js';
import { cachedResults, type CachedResults } from './cached-results.js';
import type { Migrations } from './migrations.js';
import { limiting, type Limiting } from './limiting.js';
import { outsideWork, type OutsideWork } from './outside-work.js';
import { notifying, type Notifying } from './notifying.js';

/** The parts of the client that have files of their own. */
export type OtherParts = CachedResults &
  Notifying &
  Limiting &
  ViewsOfDesigns &
  OutsideWork &
  NamedSecrets &
  Forms &
  VersionsOfFlows &
  Migrations &
  HoldingJobs;

/** The parts of the client that have files of their own. `shared`: the same database, which shares its reads. */
export function otherParts(store: Store, shared: Store): OtherParts {
  return {
    ...cachedResults(store),
    ...notifying(store),
    ...limiting(store),
    ...viewsOfDesigns(store),
    ...outsideWork(shared),
    ...namedSecrets(store),
    ...formsWith(store),
    ...versionsWith(store),
    migrations: async (jobs, to) =>
      (await import('./migrations.js')).migrationsWith(store).migrations(jobs, to),
    ...holding(store),
  };
}

/** Loaded when it is asked for: it brings rules of the engines along. */
function versionsWith(store: Store): VersionsOfFlows {
  const versions = async (): Promise<VersionsOfFlows> =>
    (await import('./flow-versions.js')).versionsOfFlows(store);
  return {
    flowVersions: async (...given) => (await versions()).flowVersions(...given),
    flowVersion: async (named, version) => (await versions()).flowVersion(named, version),
    useFlowVersion: async (...given) => (await versions()).useFlowVersion(...given),
  };
}
