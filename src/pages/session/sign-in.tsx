import { useState } from 'preact/hooks';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { signIn } from './session.js';

/** Asks for name and password of a user of CouchDB. `ended`: he was signed in just now. */
export function SignInPage({ ended }: { readonly ended: boolean }) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    setBusy(true);
    try {
      await signIn(textOf(given, 'name'), textOf(given, 'password'));
    } catch (problem) {
      setError(problem);
      form.querySelector<HTMLInputElement>('[name=password]')?.select();
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="sign-in">
      <PageHead title="Sign in" />
      {ended && error === undefined && (
        <p class="box notice" role="status">
          Your session has ended. Sign in again, and the page goes on where it was.
        </p>
      )}
      {error !== undefined && <ProblemBox error={error} />}
      <form
        class="box"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <label>
          Name
          <input name="name" autocomplete="username" required autoFocus spellcheck={false} />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        <button class="primary" disabled={busy}>
          {busy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      <p class="muted">
        Name and password are those of a user of the CouchDB that this tws works with.
      </p>
    </div>
  );
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
