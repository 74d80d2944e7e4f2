/**
 * The code by which the plugin `script` runs the function of a task of node-workflow. What the function sets on the
 * job is kept as `fromNodeWorkflow` keeps it, and the words that it may call back with mean the same.
 */
export function scriptOf(source: string, part: 'body' | 'fallback'): string {
  const call = part === 'body' ? 'own, done' : 'error, own, done';
  return `${before}
const [error_, result_] = await new Promise((resolve) => {
  const done = (one, two) => resolve([one, two]);
  const error = ${part === 'body' ? 'null' : failed};
  const info = (record) => log('info', { info: record });
  (${source}
  )(${call});
});
${after}`;
}

/** The error as the body gave it. */
const failed =
  "failure === null ? null : failure.name === 'StepTimeout' ? 'task timeout error' : failure.message";

const before = `const frozen = ['chain_results', 'uuid', 'workflow_uuid', 'name', 'execution', 'num_attempts',
  'exec_after', 'created_at', 'started', 'log', 'target', 'locks', 'params'];
const data = job.data || {};
const { code: code_, ...stepParams } = params;
const line = (level) => (...parts) => {
  const isData = typeof parts[0] === 'object' && parts[0] !== null;
  const text = (isData ? parts.slice(1) : parts).map(String).join(' ') || level;
  log(text, { ...(isData ? parts[0] : {}), level: { trace: 'debug', fatal: 'error' }[level] || level });
};
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
const logger = Object.fromEntries(levels.map((level) => [level, line(level)]));
const own = {
  ...data,
  uuid: job._id, workflow_uuid: job.flow, name: job.flow, target: job.target, locks: job.locks,
  execution: 'running', num_attempts: job.restarts || 0, started: job.start,
  exec_after: new Date(job.exec_after || job.start).toISOString(),
  created_at: new Date(job.start).toISOString(),
  chain_results: job.steps.filter((one) => one.phase === 'main' && one.state === '$$complete')
    .map((one) => ({ name: one.name, result: one.result, error: '' })),
  params: { ...job.params, ...stepParams, ...data.params },
  log: { ...logger, child: () => own.log },
};
const keptOf = () => Object.fromEntries(Object.entries(own)
  .filter(([key, value]) => !frozen.includes(key) && value !== undefined && typeof value !== 'function')
  .map(([key, value]) => [key, JSON.stringify(value)]));
const kept = keptOf();
const paramsText = JSON.stringify(own.params);
const keep = () => {
  const now = keptOf();
  const changed = Object.entries(now).filter(([key, text]) => kept[key] !== text);
  const gone = Object.keys(kept).filter((key) => now[key] === undefined);
  const changes = Object.fromEntries([...changed.map(([key, text]) => [key, JSON.parse(text)]),
    ...gone.map((key) => [key, null])]);
  if (JSON.stringify(own.params) !== paramsText) changes.params = own.params;
  setData(changes, { always: true });
};`;

const after = `if (error_ === 'retry') {
  setData(Object.fromEntries(Object.keys(data).map((key) => [key, null])), { always: true });
  const { initial_delay: first = 0, max_delay: most = 31536000000 } =
    (job.flow_definition && job.flow_definition.node_workflow) || {};
  return restartJob({ delay: Math.min(most, first * 2 ** own.num_attempts) });
}
keep();
if (error_ === 'wait') return wait('resume');
if (error_ && error_ !== 'queue') {
  const text = typeof error_ === 'object' ? error_.message || JSON.stringify(error_) : String(error_);
  const name = typeof error_ === 'object' ? error_.name || 'Error' : 'WorkflowError';
  throw Object.assign(new Error(text), { name });
}
return result_ || 'OK';`;
