import { Link } from 'wouter-preact';
import { mayAdmin } from '../session/session.js';
import { kindName, kindPath, type StoredKind } from './stored.js';

const hints: Readonly<Record<StoredKind, string>> = {
  flow: 'A flow says which tasks run, in which order and with which parameters.',
  task: 'A task says what one step does: by which plugin, and with which parameters.',
  schedule:
    'A schedule starts jobs of a flow at set times: by a cron expression, at a fixed interval, or at times that you list.',
  hook: 'A hook is an address to which other programs send what starts jobs of a flow.',
  notify: 'A notify list says who is told of the jobs of all flows of an owner, or of everybody.',
};

/** What comes first where no document of a kind is stored yet. */
export function NoDefinitions({ kind }: { readonly kind: StoredKind }) {
  return (
    <div class="box empty">
      <p>
        There are no {kindName(kind)}s yet. {hints[kind]}
      </p>
      <p>
        {mayAdmin.value ? (
          <>
            <Link href={`/${kindPath(kind)}?new`}>Write the first {kindName(kind)}</Link>, or put it
          </>
        ) : (
          <>Put it</>
        )}{' '}
        into <code>couch/tws/{kindPath(kind)}</code> and run <code>tws push</code>.
        {(kind === 'flow' || kind === 'task') && (
          <>
            {' '}
            <code>tws push --samples</code> stores samples.
          </>
        )}
      </p>
    </div>
  );
}
