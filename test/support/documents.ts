type More = Readonly<Record<string, unknown>>;

/** A task document of everybody. */
export const task = (name: string, more: More = {}) => ({
  _id: `task:DEFAULT:${name}`,
  type: 'task',
  name,
  ...more,
});

/** A flow document of the owner `me`. */
export const flow = (name: string, tasks: unknown, more: More = {}) => ({
  _id: `flow:me:${name}`,
  type: 'flow',
  name,
  owner: 'me',
  tasks,
  ...more,
});

/** A job document for a flow of the owner `me`. */
export const job = (name: string, more: More = {}) => ({
  type: 'job',
  flow: name,
  owner: 'me',
  ...more,
});
