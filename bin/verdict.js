#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/**
 * What `npx verdict-authz` runs, and `verdict` where the package is installed: the code of this checkout, or of this package, which
 * has the built form alone.
 */
import { existsSync } from 'node:fs'

const isCheckout = existsSync(new URL('../src', import.meta.url))
await import(isCheckout ? '../src/verdict.js' : '../dist/verdict.js')
