import type { Store } from '../store/store.js';
import { holding, type HoldingJobs } from './holding.js';
import { viewsOfDesigns, type ViewsOfDesigns } from './design-views.js';
import { formsWith } from './forms.js';
import type { Forms } from './inbox.js';
import { namedSecrets, type NamedSecrets } from './named-secrets.js';
import { versionsOfFlows, type VersionsOfFlows } from './flow-versions.js';
import { limiting, type Limiting } from './limiting.js';
import { outsideWork, type OutsideWork } from './outside-work.js';
import { notifying, type Notifying } from './notifying.js';

/** The parts of the client that have files of their own. */
export type OtherParts = Notifying &
  Limiting &
  ViewsOfDesigns &
  OutsideWork &
  NamedSecrets &
  Forms &
  VersionsOfFlows &
  HoldingJobs;

/** The parts of the client that have files of their own. `shared`: the same database, which shares its reads. */
export function otherParts(store: Store, shared: Store): OtherParts {
  return {
    ...notifying(store),
    ...limiting(store),
    ...viewsOfDesigns(store),
    ...outsideWork(shared),
    ...namedSecrets(store),
    ...formsWith(store),
    ...versionsOfFlows(store),
    ...holding(store),
  };
}
