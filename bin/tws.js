#!/usr/bin/env node
import { main } from '../dist/src/cli/main.js';

process.exitCode = await main(process.argv.slice(2));
// What a plugin left behind, a timer or a socket, must not keep the process for ever.
setTimeout(() => process.exit(), 1000).unref();
