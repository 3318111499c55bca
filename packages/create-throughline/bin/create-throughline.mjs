#!/usr/bin/env node
// Not the built file itself: package managers link a program when they install, before anything is built.
import { runCreate } from "../dist/index.js";

process.exitCode = await runCreate(process.argv.slice(2));
