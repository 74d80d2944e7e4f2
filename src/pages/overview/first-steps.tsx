import { Link } from 'wouter-preact';
import { docsAddress, get, referenceAddress } from '../api.js';
import { useLoaded } from '../live/use-loaded.js';
import { who } from '../session/session.js';

/** What comes first where nothing has happened yet. */
export function FirstSteps({ engines }: { readonly engines: number }) {
  const { value } = useLoaded('flows', (signal) =>
    get<{ readonly flows: readonly unknown[] }>('flows', { signal }),
  );
  const hasFlows = value !== undefined && value.flows.length > 0;
  return (
    <section class="box notice" aria-label="First steps">
      <h2>Nothing has run yet</h2>
      <ol>
        <li>
          {hasFlows ? (
            <>
              Flows are stored already: choose <Link href="/flows">one of them</Link>.
            </>
          ) : (
            <>
              Store a flow: <Link href="/flows?new">write one here</Link>, or put it into{' '}
              <code>couch/tws/flows</code> and run <code>tws push</code>.
            </>
          )}
        </li>
        <li>
          {engines === 0 ? (
            <>
              Start an engine: <code>tws start</code>. No engine runs at the moment.
            </>
          ) : (
            <>An engine runs already.</>
          )}
        </li>
        <li>
          Submit a job from the page of the flow, or by <code>tws submit FLOW</code>; it appears
          under <Link href="/jobs">Jobs</Link> at once.
        </li>
      </ol>
      <p>
        Programs use the <a href={referenceAddress}>HTTP API</a>.
        {who.value?.place?.docs === true && (
          <>
            {' '}
            Read more in the <a href={docsAddress}>documentation</a>.
          </>
        )}
      </p>
    </section>
  );
}
