/**
 * The word that lets this document have style elements of its own (Content-Security-Policy); made
 * anew for each document. CodeMirror takes it as `EditorView.cspNonce`.
 */
export const styleNonce: string =
  document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
