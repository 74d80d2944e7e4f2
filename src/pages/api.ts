/** Something that the API refused or could not do, as it says it; status 0: nobody answered. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** A stable code. */
  readonly error: string;
  /** What happened, in a sentence. */
  readonly reason: string;
  /** What can be done about it. */
  readonly hint: string;
  /** JSON path of what is wrong, where it is one place. */
  readonly path: string | undefined;
  readonly problems: readonly { readonly path: string; readonly message: string }[];

  constructor(status: number, body: ProblemBody) {
    super(body.reason);
    this.status = status;
    this.error = body.error;
    this.reason = body.reason;
    this.hint = body.hint;
    this.path = body.path;
    this.problems = body.problems ?? [];
  }
}

type ProblemBody = {
  readonly error: string;
  readonly reason: string;
  readonly hint: string;
  readonly path?: string;
  readonly problems?: readonly { readonly path: string; readonly message: string }[];
};

/** Values of a query; what is undefined or empty is left out, a list is one value `a,b`. */
export type QueryValues = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export type Asking = {
  readonly query?: QueryValues;
  readonly signal?: AbortSignal | undefined;
};

export type Sending = Asking & { readonly headers?: Readonly<Record<string, string>> };

/** Where the API is. */
export const apiRoot = '/_tws';
/** The documentation; its links are relative, so it ends in a slash. */
export const docsAddress = `${apiRoot}/docs/`;
/** The reference of the API. */
export const referenceAddress = `${apiRoot}/docs/api`;

type SignInNeeded = {
  /** Whether somebody has signed in, as far as the pages know. */
  readonly isSignedIn: () => boolean;
  /** Leads to the sign-in. */
  readonly act: () => void;
};

let signInNeeded: SignInNeeded = { isSignedIn: () => false, act: () => undefined };

/** Says what happens when the API does not know who asks. */
export function whenSignInNeeded(needed: SignInNeeded): void {
  signInNeeded = needed;
}

/** Reads something from the API, `path` below `/_tws`. @throws ApiProblem, and AbortError */
export function get<T>(path: string, asking: Asking = {}): Promise<T> {
  return ask<T>('GET', path, undefined, asking);
}

/**
 * Sends something to the API; `body` undefined sends none. Answers undefined where the API has
 * nothing to say (204). @throws ApiProblem, and AbortError
 */
export function send<T>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  sending: Sending = {},
): Promise<T> {
  return ask<T>(method, path, body, sending);
}

/** The address of something below `/_tws`, `path` beginning with a slash or not. */
export function apiAddress(path: string, query: QueryValues = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const text = Array.isArray(value) ? value.join(',') : String(value ?? '');
    if (text !== '') given.set(name, text);
  }
  const search = given.toString();
  return `${apiRoot}/${path.replace(/^\//, '')}${search === '' ? '' : `?${search}`}`;
}

async function ask<T>(method: string, path: string, body: unknown, sending: Sending): Promise<T> {
  const once = (): Promise<T> => askOnce<T>(method, path, body, sending);
  try {
    return await once().catch((error: unknown) => {
      // An answer that the browser preloaded may be of the time before the sign-in.
      if (method === 'GET' && isSignInNeeded(error) && signInNeeded.isSignedIn()) return once();
      throw error;
    });
  } catch (error) {
    if (isSignInNeeded(error)) signInNeeded.act();
    throw error;
  }
}

function isSignInNeeded(error: unknown): boolean {
  return error instanceof ApiProblem && error.error === 'sign_in_needed';
}

async function askOnce<T>(
  method: string,
  path: string,
  body: unknown,
  sending: Sending,
): Promise<T> {
  const { query, signal, headers = {} } = sending;
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  let reply: Response;
  try {
    reply = await fetch(apiAddress(path, query), {
      method,
      headers: { accept: 'application/json', 'x-tws-request': 'pages', ...type, ...headers },
      credentials: 'same-origin',
      ...content,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw away;
  }
  const answer = parsed(await reply.text());
  if (reply.ok || reply.status === 304) return answer as T;
  throw new ApiProblem(reply.status, isProblem(answer) ? answer : strange(reply.status));
}

const away = new ApiProblem(0, {
  error: 'api_away',
  reason: 'The API does not answer.',
  hint: 'Look whether tws runs and the network is there; the page goes on by itself.',
});

function strange(status: number): ProblemBody {
  return {
    error: 'answer_strange',
    reason: `Something between here and the API answered with ${status}.`,
    hint: 'Look at the proxy in front of it, if there is one.',
  };
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function isProblem(answer: unknown): answer is ProblemBody {
  return typeof answer === 'object' && answer !== null && 'error' in answer && 'reason' in answer;
}
