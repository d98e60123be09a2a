#!/usr/bin/env node
/**
 * What `npx verdict-authz` runs, and `verdict` where the package is installed: the code of this checkout, or of this package, which
 * has the built form alone. The Node that is first on the PATH may be the system's, and too old: then the one that came along runs
 * it. Plain JavaScript without flags, because an old one has to read it.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const FLAG = '--disable-warning=ExperimentalWarning'

/** The Node that npm installed beside this file; null: there is none, or it was installed without scripts. */
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
  // Node says of TypeScript that it is experimental; nobody who asks a question wants to read that.
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
