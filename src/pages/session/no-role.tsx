import { PageHead } from '../parts/page-head.js';
import { signOut, type Who } from './session.js';

/** Somebody is known, and may see nothing. */
export function NoRole({ who }: { readonly who: Who }) {
  return (
    <>
      <PageHead title="You may not look at anything here" />
      <p>
        CouchDB knows you as <strong>{who.name}</strong>, and you have{' '}
        {who.roles.length === 0 ? 'no role' : `the roles ${who.roles.join(', ')}`}. To see jobs you
        need the role <code>tws-viewer</code>; <code>tws-operator</code> also repairs them, and{' '}
        <code>tws-admin</code> stores flows and tasks. An admin of the CouchDB adds it to your user
        document.
      </p>
      <button type="button" onClick={() => void signOut()}>
        Sign in as somebody else
      </button>
    </>
  );
}
