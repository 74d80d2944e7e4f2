export const defaultHost = '127.0.0.1';
/** The port beside CouchDB's 5984. */
export const defaultPort = 5985;

/** The form of an address: `5985`, `:5985`, `host`, `host:5985`, `[::1]:5985`. */
export const addressForm =
  /^(?:(\[[0-9a-fA-F:.]+\]|[\w.-]*[A-Za-z_.-][\w.-]*)?(?::(\d{1,5}))?|(\d{1,5}))$/;

/** Host and port of an address, as far as it says them. */
export function hostAndPort(text: string): { readonly host?: string; readonly port?: number } {
  const [, host, port, alone] = addressForm.exec(text) ?? [];
  const number = port ?? alone;
  return {
    ...(host === undefined || host === '' ? {} : { host: host.replace(/^\[|\]$/g, '') }),
    ...(number === undefined ? {} : { port: Number(number) }),
  };
}

/** Whether an address is one of this machine only. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name);
}
