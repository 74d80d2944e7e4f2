import { generateKeyPairSync, sign } from 'node:crypto';

/**
 * A certificate for `localhost` that signs itself, valid from 2020 to 2049, and its key, as PEM. The
 * package `selfsigned` brings two libraries for X.509 with some twenty packages of their own.
 */
export function makeCertificate(): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid('550403'), der(0x0c, Buffer.from('localhost')))));
  const validity = sequence(utcTime('200101000000Z'), utcTime('491231235959Z'));
  const version = der(0xa0, integer(2));
  const signedPart = sequence(
    ...[version, integer(1), ecdsaWithSha256, name, validity, name],
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority, forLocalhost)),
  );
  const signature = sign('sha256', signedPart, privateKey);
  const whole = sequence(signedPart, ecdsaWithSha256, der(0x03, Buffer.of(0), signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

// X.509 (RFC 5280) in DER: a tag, a length, and what it holds.
const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const integer = (value: number): Buffer => der(0x02, Buffer.of(value));
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));
const octets = (content: Buffer): Buffer => der(0x04, content);

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const isAuthority = sequence(oid('551d13'), octets(sequence(der(0x01, Buffer.of(0xff)))));
const forLocalhost = sequence(oid('551d11'), octets(sequence(der(0x82, Buffer.from('localhost')))));
