import { describe, expect, it } from 'vitest';
import { connectionOf } from '../../plugins/_mail/smtp-options.js';

const host = 'mail.example';

describe('the parameter smtp.tls', () => {
  it.each<[string, unknown]>([
    ...(['ca', 'cert', 'key', 'pfx', 'passphrase', 'crl', 'servername'] as const).map(
      (key): [string, string] => [key, 'x'],
    ),
    ['rejectUnauthorized', false],
    ['minVersion', 'TLSv1.2'],
    ['maxVersion', 'TLSv1.3'],
    ['secureProtocol', 'TLSv1_2_method'],
    ['secureOptions', 4],
    ['ciphers', 'HIGH'],
    ['honorCipherOrder', true],
    ['sigalgs', 'RSA-PSS+SHA256'],
    ['ecdhCurve', 'auto'],
    ['dhparam', 'auto'],
    ['minDHSize', 2048],
    ['ALPNProtocols', ['smtp']],
    ['allowPartialTrustChain', true],
  ])('may have %s', (key, value) => {
    const tls = { [key]: value };
    expect(connectionOf({ host, tls })).toEqual({ host, tls });
  });

  it.each([
    'host',
    'port',
    'path',
    'socket',
    'lookup',
    'family',
    'localAddress',
    'timeout',
    'secureContext',
    'session',
    'checkServerIdentity',
    'pskCallback',
    'clientCertEngine',
    'privateKeyEngine',
    'privateKeyIdentifier',
    'enableTrace',
    'isServer',
    'onread',
    'signal',
    '__proto__',
    'constructor',
  ])('cannot have %s', (key) => {
    const tls = JSON.parse(`{"minVersion":"TLSv1.2","${key}":null}`) as object;
    const message = `The parameter smtp.tls.${key} cannot be set; smtp.tls may have ca, cert, `;
    expect(() => connectionOf({ host, tls })).toThrow(
      expect.objectContaining({
        name: 'MailOptionRefused',
        exit: 3,
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  it('is left out where it is no object', () => {
    expect(connectionOf({ host, tls: 'none' })).toEqual({ host });
  });
});
