/**
 * Decodes bytes as a text, as browsers do: a byte order mark says the encoding and is left out, else the
 * `charset` of a media type does, else it is UTF-8. Returns undefined when the bytes are no text of that
 * encoding, or when the encoding is unknown.
 */
export function decodedText(bytes: Uint8Array, mediaType = ''): string | undefined {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(mediaType) ?? [];
  try {
    const decoder = new TextDecoder(markedEncoding(bytes) ?? charset, { fatal: true });
    const text = decoder.decode(bytes);
    return decoder.encoding === 'windows-1252' ? withSigns(text) : text;
  } catch {
    return undefined;
  }
}

const signs = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Node 20 and 22 decode windows-1252 as if it were Latin 1, which has control characters there. */
function withSigns(text: string): string {
  return text.replace(/[\x80-\x9f]/g, (sign) => signs[sign.charCodeAt(0) - 0x80] ?? sign);
}

/** The encoding that a byte order mark names (https://encoding.spec.whatwg.org/#bom-sniff). */
function markedEncoding([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined;
}
