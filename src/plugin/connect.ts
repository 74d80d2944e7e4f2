import { lookup as resolve, type LookupAddress } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { connect, isIP, type LookupFunction, type NetConnectOpts, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { egressDenial, usualEgress, type EgressPolicy } from './egress.js';
import type { PluginError } from './errors.js';
import { pluginProblem } from './failures.js';

/**
 * Resolves host names for a socket, which connects to the addresses that this returns and to no others:
 * what a name resolves to is judged once, where it is used. One denied address denies the name.
 */
export function egressLookup(policy: EgressPolicy): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses: readonly LookupAddress[] = []) => {
      const [first] = addresses;
      const denied = error === null ? firstDenial(policy, host, addresses) : undefined;
      const failed = error ?? (denied as Error | undefined);
      if (failed !== undefined) return callback(failed, '', 0);
      if (options.all === true) return callback(null, [...addresses]);
      callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** @throws PluginError `EgressDenied`, for a host that is an address; names are judged as they resolve */
export function assertEgress(policy: EgressPolicy, host: string): void {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 0) return;
  const denied = firstDenial(policy, host, [{ address, family: isIP(address) }]);
  if (denied !== undefined) throw denied;
}

/** Opens a socket. Rejects with `EgressDenied` or what the system says. */
export async function connectWithin(
  policy: EgressPolicy,
  to: { readonly host: string; readonly port: number; readonly localAddress?: string },
  signal: AbortSignal,
): Promise<Socket> {
  assertEgress(policy, to.host);
  signal.throwIfAborted();
  const socket = connect({ ...to, lookup: egressLookup(policy) });
  const stop = (): void => void socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop);
  try {
    await new Promise<void>((done, fail) => socket.once('connect', done).once('error', fail));
    return socket;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Agents for HTTP and HTTPS whose connections the policy judges. */
export function egressAgents(policy: EgressPolicy = usualEgress): {
  readonly httpAgent: http.Agent;
  readonly httpsAgent: https.Agent;
} {
  return {
    httpAgent: guarded(new http.Agent(), policy),
    httpsAgent: guarded(new https.Agent(), policy),
  };
}

type Created = (error: Error | null, socket: Duplex) => void;
type Creating = (options: NetConnectOpts, created?: Created) => Duplex | null | undefined;

function guarded<T extends http.Agent>(agent: T, policy: EgressPolicy): T {
  const inner = agent as unknown as { createConnection: Creating };
  const create = inner.createConnection.bind(agent);
  inner.createConnection = (options, created) => {
    assertEgress(policy, 'host' in options ? (options.host ?? 'localhost') : '');
    return create({ ...options, lookup: egressLookup(policy) }, created);
  };
  return agent;
}

function firstDenial(
  policy: EgressPolicy,
  host: string,
  addresses: readonly LookupAddress[],
): PluginError | undefined {
  for (const { address } of addresses) {
    const why = egressDenial(policy, host, address);
    if (why !== undefined) return pluginProblem('EgressDenied', { host, why });
  }
  return undefined;
}
