/** The cookie of a session: its value is CouchDB's own session of the user. */
export const sessionCookie = 'tws_session';

/** The cookie of a request's header; undefined when there is none. */
export function cookieIn(header: string | undefined): string | undefined {
  const found = new RegExp(`(?:^|;\\s*)${sessionCookie}=([^;\\s]*)`).exec(header ?? '')?.[1];
  return found === undefined || found === '' ? undefined : found;
}

/** `Set-Cookie` of a session; an empty value ends it. No script can read it, no other site send it. */
export function setCookie(value: string, secure: boolean): string {
  const parts = [
    `${sessionCookie}=${value}`,
    'Path=/_tws',
    'HttpOnly',
    'SameSite=Strict',
    ...(secure ? ['Secure'] : []),
    ...(value === '' ? ['Max-Age=0'] : []),
  ];
  return parts.join('; ');
}
