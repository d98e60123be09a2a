#!/usr/bin/env node
/**
 * Entry point of `npx verdict-authz`, and of `verdict` in an installed package. In a checkout, it runs the
 * sources. In a package, it runs the built form. If the first Node.js on the PATH is too old, the code runs
 * with the Node.js that npm installed. This file is plain JavaScript without flags, because an old Node.js
 * must be able to read it.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const FLAG = '--disable-warning=ExperimentalWarning'

/**
 * Path of the Node.js that npm installed with the package. Null if it is missing, for example because the
 * package was installed without scripts.
 */
function ownNode() {
  try {
    const file = createRequire(import.meta.url).resolve('node/bin/node')
    return file === process.execPath ? null : file
  } catch {
    return null
  }
}

const [major, minor] = process.versions.node.split('.').map(Number)
const isTooOld = major < 22 || (major === 22 && minor < 18)
const own = isTooOld ? ownNode() : null
if (own === null) {
  // Hides the warning of Node.js that TypeScript is experimental, because it does not concern users of the
  // command line.
  const { emitWarning } = process
  process.emitWarning = (warning, ...rest) => {
    if (rest[0] !== 'ExperimentalWarning') emitWarning.call(process, warning, ...rest)
  }
  const isCheckout = existsSync(new URL('../src', import.meta.url))
  await import(isCheckout ? '../src/verdict.js' : '../dist/verdict.js')
} else {
  const { spawn } = await import('node:child_process')
  const args = [FLAG, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const child = spawn(own, args, { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    for (const each of signals) process.removeAllListeners(each)
    if (signal === null) process.exitCode = code
    else process.kill(process.pid, signal)
  })
}
