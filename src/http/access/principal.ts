/** What somebody may do: each includes the ones before. */
export const levels = ['none', 'viewer', 'operator', 'admin'] as const;
export type Level = (typeof levels)[number];

/**
 * Who makes a request. `owners`: whose documents it may see and change.
 * `local`: somebody on this machine, who needs no sign-in.
 */
export type Principal = {
  readonly kind: 'local' | 'user' | 'token';
  readonly name: string;
  readonly roles: readonly string[];
  readonly level: Level;
  readonly owners: 'all' | readonly string[];
};

/** Roles of CouchDB that mean something here. */
export const roles = {
  viewer: 'tws-viewer',
  operator: 'tws-operator',
  admin: 'tws-admin',
  /** Reads, stores and purges sensitive values. */
  sensitive: 'tws-sensitive',
  /** A server admin of CouchDB counts as an admin. */
  server: '_admin',
  /** Followed by the name of an owner, or `*` for all. */
  owner: 'tws-owner:',
} as const;

/** Somebody on this machine, who may do everything. */
export const localPrincipal: Principal = {
  kind: 'local',
  name: 'local',
  roles: [],
  level: 'admin',
  owners: 'all',
};

/** What a user or token of these roles may do. Without a role for an owner: all as admin, else DEFAULT. */
export function principalOf(
  kind: 'user' | 'token',
  name: string,
  own: readonly string[],
): Principal {
  const level = levelOf(own);
  const owners = own
    .filter((role) => role.startsWith(roles.owner))
    .map((role) => role.slice(roles.owner.length))
    .filter((owner) => owner !== '');
  const all = owners.includes('*') || (owners.length === 0 && level === 'admin');
  return {
    kind,
    name,
    roles: own,
    level,
    owners: all ? 'all' : owners.length === 0 ? ['DEFAULT'] : [...new Set(owners)],
  };
}

function levelOf(own: readonly string[]): Level {
  if (own.includes(roles.admin) || own.includes(roles.server)) return 'admin';
  if (own.includes(roles.operator)) return 'operator';
  return own.includes(roles.viewer) ? 'viewer' : 'none';
}

/**
 * Whether somebody may have sensitive values: a signed-in user, whom CouchDB itself knows. A token is a document of the
 * project's database, and whoever writes there could make one.
 */
export function mayHaveSensitive({ kind, roles: own }: Principal): boolean {
  return kind === 'user' && (own.includes(roles.sensitive) || own.includes(roles.server));
}

/** Whether somebody may do what takes this level. */
export function reaches({ level }: Principal, needed: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(needed);
}
