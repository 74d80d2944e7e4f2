/** Names of keys whose value is a secret wherever they stand. */
const secretName =
  /^(?:(?:\w+_)?(?:pass|passwd|password|passphrase|secret)|token|(?:access|refresh|session|auth|bearer)_?token|(?:x-)?api[-_]?key|(?:proxy-)?authorization|(?:set-)?cookie|private_?key|client_?secret|secret_?(?:access_?)?key)$/i;

/** Names of objects that hold credentials. */
const credentialsName = /^(?:auth|credentials)$/i;

/** Whether a key of this name holds a secret. */
export const isSecretName = (name: string): boolean => secretName.test(name);

/** Whether an object of this name holds credentials. */
export const isCredentialsName = (name: string): boolean => credentialsName.test(name);

/** The path of a value below `path`: `a.b`, `a[0]`. */
export const fieldBelow = (path: string, key: string | number): string =>
  typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
