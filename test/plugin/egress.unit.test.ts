import { describe, expect, it } from 'vitest';
import { egressDenial, egressEntryProblem, usualEgress } from '../../src/plugin/egress.js';

const exposed = { ...usualEgress, exposed: true };

describe('egress without settings', () => {
  it.each([
    ['169.254.169.254', 'metadata'],
    ['169.254.0.1', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['fe80::1', 'metadata'],
    ['fe80::1%eth0', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['fd00:0ec2:0:0:0:0:0:0254', 'metadata'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['::ffff:a9fe:a9fe', 'metadata'],
    ['64:ff9b::a9fe:a9fe', 'metadata'],
    ['2002:a9fe:a9fe::1', 'metadata'],
    ['127.0.0.1', undefined],
    ['10.0.0.1', undefined],
    ['192.0.2.1', undefined],
    ['2001:db8::1', undefined],
  ])('denies link-local and metadata addresses alone: %s', (address, denial) => {
    expect(egressDenial(usualEgress, 'host', address)).toBe(denial);
  });

  it.each([
    ...[
      '127.0.0.1',
      '127.8.8.8',
      '0.0.0.0',
      '::1',
      '::',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...['192.168.1.1', '100.64.0.1', 'fc00::1', 'fd12::1', '::ffff:10.0.0.1', '::ffff:7f00:1'],
    ...['::127.0.0.1', '64:ff9b::127.0.0.1', '2002:7f00:1::'],
  ])('denies this machine and private networks where the API is exposed: %s', (address) => {
    expect(egressDenial(exposed, 'host', address)).toBe('private');
    expect(egressDenial(usualEgress, 'host', address)).toBeUndefined();
  });

  it.each(['192.0.2.1', '172.32.0.1', '100.128.0.1', '8.8.8.8', '2001:db8::1', '::ffff:8.8.8.8'])(
    'reaches all others: %s',
    (address) => {
      expect(egressDenial(exposed, 'host', address)).toBeUndefined();
    },
  );
});

describe('egress by settings', () => {
  it.each([
    ['an address', { allow: ['10.0.0.5'] }, 'h', '10.0.0.5', undefined],
    ['an address written otherwise', { allow: ['::ffff:10.0.0.5'] }, 'h', '10.0.0.5', undefined],
    ['another address', { allow: ['10.0.0.5'] }, 'h', '10.0.0.6', 'private'],
    ['a range', { allow: ['10.0.0.0/8'] }, 'h', '10.9.9.9', undefined],
    ['a range of IPv6', { allow: ['fd00::/8'] }, 'h', 'fd12::1', undefined],
    ['a name', { allow: ['DB.internal'] }, 'db.internal.', '10.0.0.6', undefined],
    ['names', { allow: ['*.internal'] }, 'a.db.internal', '10.0.0.6', undefined],
    ['names, not their end', { allow: ['*.internal'] }, 'xinternal', '10.0.0.6', 'private'],
    ['a metadata address', { allow: ['169.254.169.254'] }, 'h', '169.254.169.254', undefined],
    ['a denied name', { deny: ['*.example.com'] }, 'a.example.com', '192.0.2.1', 'setting'],
    ['a denied address', { deny: ['192.0.2.0/24'] }, 'h', '::ffff:192.0.2.7', 'setting'],
    ['everything', { deny: ['*'] }, 'h', '192.0.2.7', 'setting'],
    ['all but', { deny: ['*'], allow: ['a.com'] }, 'a.com', '192.0.2.7', undefined],
  ])('decides for %s', (_title, lists, host, address, denial) => {
    expect(egressDenial({ ...exposed, ...lists }, host, address)).toBe(denial);
  });

  it.each([
    ['*', true],
    ['10.0.0.1', true],
    ['[::1]', true],
    ['10.0.0.0/8', true],
    ['fd00::/8', true],
    ['db', true],
    ['*.example.com', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0/x', false],
    ['http://a', false],
    ['a b', false],
    ['a.*.com', false],
    ['', false],
  ])('knows %j: %s', (entry, isKnown) => {
    expect(egressEntryProblem(entry) === undefined).toBe(isKnown);
  });
});
