/*
 * Runs command lines of `tws`, a JSON list of lists of arguments, one after the other in one process:
 * to start one for each would take longer than all of them. Both streams tell where each of them ends.
 */
import { main } from '../../dist/src/cli/main.js';

const [end, calls] = process.argv.slice(2);
for (const args of JSON.parse(calls)) {
  await main(args);
  for (const stream of [process.stdout, process.stderr]) stream.write(end);
}
// As in bin/tws.js: what a plugin that was loaded left behind must not keep the process. No command
// itself leaves more than its standard streams, and those are pipes, which Node.js writes at once.
process.exit();
