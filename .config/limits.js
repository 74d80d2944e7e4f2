/** The limits of files and functions; blank lines and comments are not counted. */
export const limits = {
  'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', 4],
  // A switch counts once: the cases of a union are a table.
  complexity: ['error', { max: 15, variant: 'modified' }],
};

/** Files with functions that are still over a limit. What is here only gets less. */
export const over = {
  'max-lines-per-function': [
    'src/embedded/feeds/hub.ts',
    'src/http/feed/hub.ts',
    'src/http/routes/definitions.ts',
    'src/http/server.ts',
    'src/plugin/context.ts',
    'src/store/exchange.ts',
    'src/store/writer.ts',
  ],
  complexity: [
    'src/http/ojs/envelope.ts',
    'src/http/ojs/order.ts',
    'src/http/ojs/states.ts',
    'src/plugin/cheap-expression.ts',
    'src/store/parse-pieces.ts',
  ],
};
