import { Link } from 'wouter-preact';
import { mayAdmin } from '../session/session.js';
import type { StoredKind } from './stored.js';

const hints: Readonly<Record<StoredKind, string>> = {
  flow: 'A flow says which tasks run, in which order and with which parameters.',
  task: 'A task says what one step does: by which plugin, and with which parameters.',
  schedule:
    'A schedule starts jobs of a flow at set times: by a cron expression, at a fixed interval, or at times that you list.',
  hook: 'A hook is an address to which other programs send what starts jobs of a flow.',
};

/** What comes first where no document of a kind is stored yet. */
export function NoDefinitions({ kind }: { readonly kind: StoredKind }) {
  return (
    <div class="box empty">
      <p>
        There are no {kind}s yet. {hints[kind]}
      </p>
      <p>
        {mayAdmin.value ? (
          <>
            <Link href={`/${kind}s?new`}>Write the first {kind}</Link>, or put it
          </>
        ) : (
          <>Put it</>
        )}{' '}
        into <code>couch/tws/{kind}s</code> and run <code>tws push</code>.
        {kind !== 'schedule' && kind !== 'hook' && (
          <>
            {' '}
            <code>tws push --samples</code> stores samples.
          </>
        )}
      </p>
    </div>
  );
}
