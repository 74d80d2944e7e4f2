import { computed, signal } from '@preact/signals';
import { ApiProblem, get, send, whenSignInNeeded } from '../api.js';
import { forgetAllUnsaved } from '../definitions/unsaved.js';

/** Who sits here, as the API knows him. */
export type Who = {
  readonly name: string;
  readonly kind: 'local' | 'user' | 'token';
  readonly level: 'none' | 'viewer' | 'operator' | 'admin';
  readonly owners: 'all' | readonly string[];
  readonly roles: readonly string[];
  /** What is looked at. */
  readonly place?: {
    readonly project: string;
    readonly database: string;
    readonly fauxton?: string;
    /** Whether the server has the documentation; in a clone it may not be built. */
    readonly docs?: boolean;
  };
};

/** `asking`: not known yet; `nobody`: has to sign in; `away`: the API could not tell. */
type Session =
  | { readonly kind: 'asking' }
  | { readonly kind: 'nobody'; readonly ended: boolean }
  | { readonly kind: 'away'; readonly problem: ApiProblem }
  | { readonly kind: 'somebody'; readonly who: Who };

/** The session of this browser; every page may read it. */
export const session = signal<Session>({ kind: 'asking' });

/** Who sits here; undefined before that is known. */
export const who = computed(() =>
  session.value.kind === 'somebody' ? session.value.who : undefined,
);

/** Whether who sits here may ask things of jobs, submit them, and enable flows. */
export const mayOperate = computed(() => reaches(who.value, 'operator'));
/** Whether who sits here may store and remove tasks and flows. */
export const mayAdmin = computed(() => reaches(who.value, 'admin'));

const levels = ['none', 'viewer', 'operator', 'admin'] as const;

function reaches(somebody: Who | undefined, level: Who['level']): boolean {
  return somebody !== undefined && levels.indexOf(somebody.level) >= levels.indexOf(level);
}

/** Why a button of that level is not for who sits here; undefined when it is. */
export function levelRefusal(level: 'operator' | 'admin'): string | undefined {
  const allowed = level === 'operator' ? mayOperate.value : mayAdmin.value;
  return allowed ? undefined : `This needs the role tws-${level}.`;
}

/** Asks the API who sits here. */
export async function askWho(): Promise<void> {
  try {
    session.value = { kind: 'somebody', who: await get<Who>('session') };
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    if (error.status === 401) session.value = { kind: 'nobody', ended: false };
    else session.value = { kind: 'away', problem: error };
  }
}

/** Signs in. @throws ApiProblem `sign_in_refused`, `sign_in_locked`, `too_many_requests` … */
export async function signIn(name: string, password: string): Promise<void> {
  session.value = {
    kind: 'somebody',
    who: await send<Who>('POST', 'session', { name, password }),
  };
}

/** Signs out, also when the API cannot be told. */
export async function signOut(): Promise<void> {
  try {
    forgetAllUnsaved();
    await send('DELETE', 'session');
  } finally {
    await askWho();
  }
}

const isSignedIn = (): boolean => session.value.kind === 'somebody';

whenSignInNeeded({
  isSignedIn,
  act: () => {
    session.value = { kind: 'nobody', ended: isSignedIn() };
  },
});
