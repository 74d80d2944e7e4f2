import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The admin pages: from `src/pages` to `dist/src/pages`, which `src/http/pages.ts` serves. */
export default {
  configFile: false,
  root: join(root, 'src', 'pages'),
  base: '/_tws/admin/',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(root, 'dist', 'src', 'pages'),
    emptyOutDir: true,
    target: 'es2022',
    // Small files are not written into others: nothing in a page comes from a "data:" address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The server tells the browser which scripts a page needs (src/http/page-links.ts).
    manifest: true,
    rolldownOptions: {
      output: {
        // What all pages share is one file: a browser fetches few files at the same time.
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: /src[\\/](pages[\\/](api|answers|live|parts|session|keys|layout)|words|model[\\/]status)/,
              minShareCount: 3,
            },
          ],
        },
      },
    },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
};
