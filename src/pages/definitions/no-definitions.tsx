import { Link } from 'wouter-preact';
import type { DefinitionKind } from '../../model/document.js';
import { mayAdmin } from '../session/session.js';

const hints: Readonly<Record<DefinitionKind, string>> = {
  flow: 'A flow says which tasks run, in which order and with which parameters.',
  task: 'A task says what one step does: by which plugin, and with which parameters.',
};

/** What comes first where no task, or no flow, is stored yet. */
export function NoDefinitions({ kind }: { readonly kind: DefinitionKind }) {
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
        into <code>couch/tws/{kind}s</code> and run <code>tws push</code>.{' '}
        <code>tws push --samples</code> stores samples.
      </p>
    </div>
  );
}
