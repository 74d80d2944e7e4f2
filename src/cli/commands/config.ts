import { z } from 'zod';
import { defaultHost, defaultPort } from '../../http/settings.js';
import type { OlderFormat } from '../../secrets/older-format.js';
import { command } from '../command.js';

/** `tws config`: every setting with its source; credentials are shown as `***`. */
export const showConfig = command(z.object({}), async ({ config: read }, io) => {
  const config = read();
  const { origins } = config;
  const hidden = (value: string | undefined): string => (value === undefined ? '' : '***');
  const settings: readonly (readonly [string, Shown])[] = [
    ['url', config.url],
    ['user', hidden(config.user)],
    ['password', hidden(config.password)],
    ['database', config.database],
    ['app', config.app],
    ['owner', config.owner],
    ['plugins', config.plugins],
    ['slots', config.slots ?? 10],
    ['labels', config.labels],
    ['queues', config.queues],
    ['lease', config.leaseMs ?? 10_000],
    ['retry_delay', config.retryDelayMs ?? 0],
    ['drain', config.drainMs ?? 30_000],
    // Addresses of webhooks are often secrets themselves.
    ['webhooks', config.webhooks.length],
    ['egress.allow', config.egress.allow],
    ['egress.deny', config.egress.deny],
    ['log_level', config.logLevel],
    ['crypto_key', hidden(config.cryptoKey)],
    ['secrets.older', config.olderSecrets ?? ''],
    ['embedded.dir', config.embedded.dir],
    ['embedded.port', config.embedded.port],
    ['http.host', config.http.host ?? defaultHost],
    ['http.port', config.http.port ?? defaultPort],
  ];
  io.out(`project: ${config.root}${config.file === undefined ? ' (no tws.json)' : ''}`);
  for (const [name, value] of settings) {
    const shown = shownValue(value);
    io.out(
      `${name}: ${shown} ${io.style('dim', `(${origins[name] ?? 'default'})`)}`.replace('  ', ' '),
    );
  }
  io.json({
    root: config.root,
    file: config.file ?? null,
    settings: Object.fromEntries(
      settings.map(([name, value]) => [name, { value, from: origins[name] ?? 'default' }]),
    ),
  });
  return 0;
});

type Shown = string | number | readonly string[] | OlderFormat;

function shownValue(value: Shown): string {
  if (typeof value !== 'object') return String(value);
  return Array.isArray(value) ? value.join(', ') : JSON.stringify(value);
}
