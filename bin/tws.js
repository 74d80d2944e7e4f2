#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// V8 enlarges the space for new objects 16-fold, up to its usual limit, instead of doubling it: an engine
// that starts spends a fifth of its processor time on collecting garbage otherwise. And it lets the heap
// grow to 2.5 times of what is alive instead of up to 4 times before it collects: 10 to 20 % less memory
// for up to 3 % more processor time (npm run bench -- --only product --part crowd, backlog). Both have to be set
// before the code is loaded; a Node that does not know a flag would complain, so only versions that are
// known to have them get them.
if (Number.parseInt(process.versions.node, 10) <= 24) {
  setFlagsFromString('--semi-space-growth-factor=16');
  setFlagsFromString('--heap-growing-percent=150');
}
// What was compiled once need not be again, in Node 22.8 and newer; a folder that cannot be written is none.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/.compiled', import.meta.url)));
const { main } = await import('../dist/src/cli/main.js');

process.exitCode = await main(process.argv.slice(2));
// What a plugin left behind, a timer or a socket, must not keep the process for ever.
setTimeout(() => process.exit(), 1000).unref();
