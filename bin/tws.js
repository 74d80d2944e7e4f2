#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// By so much V8 enlarges the space for new objects at a time, up to its usual limit: it doubles it from
// 1 MB otherwise and collects each time, a fifth of the processor time of an engine's first seconds
// (npm run bench -- --only product --part crowd). It must be said before much is loaded.
setFlagsFromString('--semi-space-growth-factor=16');
// What was compiled once need not be again, in Node 22.8 and newer; a folder that cannot be written is none.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/.compiled', import.meta.url)));
const { main } = await import('../dist/src/cli/main.js');

process.exitCode = await main(process.argv.slice(2));
// What a plugin left behind, a timer or a socket, must not keep the process for ever.
setTimeout(() => process.exit(), 1000).unref();
