import { BlockList, isIP } from 'node:net';

/**
 * Which addresses the shipped plugins and webhooks may reach. Entries are `*`, addresses, ranges
 * (`10.0.0.0/8`), host names and `*.example.com`. What `allow` names is reached whatever else says;
 * then what `deny` names is not. Of the rest, addresses that belong to one link or tell a machine about
 * itself (cloud metadata) are denied, and with `exposed` those of this machine and of private networks.
 */
export type EgressPolicy = {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** The API of the project can be reached from other machines. */
  readonly exposed: boolean;
};

/** What holds where no setting says anything. */
export const usualEgress: EgressPolicy = { allow: [], deny: [], exposed: false };

/** Why an address may not be reached; undefined: it may. */
export type EgressDenial = 'setting' | 'metadata' | 'private';

/**
 * Judges a connection by the host that was asked for and the address to which it resolved.
 * @param address IPv4 or IPv6, as the socket will use it
 */
export function egressDenial(
  { allow, deny, exposed }: EgressPolicy,
  host: string,
  address: string,
): EgressDenial | undefined {
  const name = bare(host);
  const at = unmapped(address);
  if (allow.some((entry) => isMatch(entry, name, at))) return undefined;
  if (deny.some((entry) => isMatch(entry, name, at))) return 'setting';
  if (isIn(special, at)) return 'metadata';
  return exposed && isIn(inside, at) ? 'private' : undefined;
}

/** Why an entry of `allow` or `deny` means nothing; undefined: it is one. */
export function egressEntryProblem(entry: string): string | undefined {
  if (entry === '*' || isIP(bare(entry)) !== 0) return undefined;
  if (entry.includes('/')) return rangeOf(entry) === undefined ? 'is no range' : undefined;
  return /^(?:\*\.)?(?:[a-z\d_](?:[a-z\d_-]*[a-z\d_])?\.)*[a-z\d_](?:[a-z\d_-]*[a-z\d_])?$/i.test(
    entry,
  )
    ? undefined
    : 'is no address, range or host name';
}

/** Link-local addresses, and where clouds tell a machine about itself, with its credentials. */
const special = listOf(
  ...['169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ...['fe80::/10', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
);

/** This machine, and networks that are nobody's in public; 0.0.0.0 and :: lead to this machine. */
const inside = listOf(
  ...['127.0.0.0/8', '0.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ...['100.64.0.0/10', '198.18.0.0/15', '192.0.0.0/24', '240.0.0.0/4', '224.0.0.0/4'],
  ...['::1/128', '::/128', 'fc00::/7', 'fec0::/10', 'ff00::/8'],
);

function isMatch(entry: string, name: string, address: string): boolean {
  if (entry === '*') return true;
  const wanted = bare(entry);
  if (isIP(wanted) !== 0) return canonicalOf(unmapped(wanted)) === canonicalOf(address);
  if (wanted.includes('/')) {
    const range = rangeOf(wanted);
    return range !== undefined && isIn(range, address);
  }
  return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) : name === wanted;
}

function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/%.*$|\.$/g, '')
    .toLowerCase();
}

/** An IPv4 address that is written as one of IPv6 (mapped, compatible, NAT64, 6to4) as itself. */
function unmapped(address: string): string {
  const plain = bare(address);
  if (isIP(plain) !== 6) return plain;
  const words = wordsOf(plain);
  const low = words.slice(6);
  const isMapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff;
  const isCompatible =
    words.slice(0, 6).every((word) => word === 0) &&
    (low[0] !== 0 || (low[1] !== undefined && low[1] > 1));
  const isNat64 = words[0] === 0x64 && words[1] === 0xff9b;
  if (isMapped || isCompatible || isNat64) return dotted(low);
  return words[0] === 0x2002 ? dotted(words.slice(1, 3)) : plain;
}

/** The eight words of an IPv6 address. */
function wordsOf(address: string): readonly number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::');
  const words = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((word) => parseInt(word, 16));
  if (tail === undefined) return words(head);
  const [before, after] = [words(head), words(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function dotted([high = 0, low = 0]: readonly number[]): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** One way of writing each address. */
function canonicalOf(address: string): string {
  return isIP(address) === 6 ? wordsOf(address).join(':') : address;
}

function rangeOf(text: string): BlockList | undefined {
  const [address = '', bits = ''] = text.split('/');
  const family = isIP(address);
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) : NaN;
  if (family === 0 || !(prefix <= (family === 4 ? 32 : 128))) return undefined;
  const list = new BlockList();
  list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  return list;
}

function listOf(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}
