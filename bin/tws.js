#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// What was compiled once need not be again, in Node 22.8 and newer; a folder that cannot be written is none.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/.compiled', import.meta.url)));
const { main } = await import('../dist/src/cli/main.js');

process.exitCode = await main(process.argv.slice(2));
// What a plugin left behind, a timer or a socket, must not keep the process for ever.
setTimeout(() => process.exit(), 1000).unref();
