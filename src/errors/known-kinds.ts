/** What a document can be. */
export const knownKinds = [
  'task',
  'flow',
  'schedule',
  'hook',
  'job',
  'request',
  'signal',
  'event',
  'engine',
  'lock',
];
