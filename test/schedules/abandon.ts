import { cancelOf } from '../../src/decide/finish/abandoned.js';
import type { GivenUp } from '../../src/decide/intent.js';
import { rest } from '../../src/replicas/resolve/protocol.js';
import type { NewDraft, LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import { request, type Mailbox } from './messages.js';
import type { Task } from './process.js';

/** What `src/engine/children/cancel-children.ts` does: each child is asked to cancel until that is known to be stored. */
export function* giveUp(children: readonly GivenUp[], mailbox: Mailbox): Task {
  for (const given of children) yield* tell(given, mailbox);
}

function* tell(given: GivenUp, mailbox: Mailbox): Task {
  const { child } = given;
  for (let tries = 0; ; tries += 1) {
    const [there] = (yield { kind: 'get', id: child }) as readonly LeafRevision[];
    const cancel = cancelOf(given, there);
    if (cancel.kind === 'none') return;
    if (cancel.kind === 'request') {
      const asked = { action: 'cancel', reason: 'not needed' } as const;
      return mailbox.post(request(cancel.doc._id, asked, child));
    }
    const doc = cancel.doc as unknown as NewDraft;
    const stored = (yield { kind: 'write', doc }) as { readonly kind: string };
    if (stored.kind === 'written') return;
    yield* rest(tries);
  }
}
