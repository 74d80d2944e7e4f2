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
    'src/pages/definitions/flow.tsx',
    'src/pages/definitions/use-editing.ts',
    'src/pages/editor/json-editor.tsx',
    'src/pages/form/job-inputs.tsx',
    'src/pages/form/submit.tsx',
    'src/pages/job/head.tsx',
    'src/pages/job/job.tsx',
    'src/pages/jobs/jobs.tsx',
    'src/pages/jobs/table.tsx',
    'src/pages/jobs/use-list.ts',
    'src/pages/overview/chart.tsx',
  ],
  complexity: [
    'src/pages/form/drafts.ts',
    'src/pages/job/step-panel.tsx',
    'src/pages/jobs/filter.ts',
    'src/pages/jobs/jobs.tsx',
  ],
};
