/**
 * Entry point of `npm start`: checks that the runtime can run the service, and then runs the service. The
 * file is plain JavaScript, because a runtime that is too old cannot read the other files. With such a
 * runtime, it prints one clear line and not a stack trace.
 *
 * On Linux, the process first executes itself again with two options that must be set before a program
 * starts. An option that is already set, as in `npm start`, is not changed.
 * - `GLIBC_TUNABLES` is set so that the C library requests huge pages from the kernel. A single decision on
 *   millions of facts then takes 20 % less time. Other C libraries ignore this variable.
 * - The startup snapshot of Node.js is disabled with `--no-node-snapshot`. With the snapshot, Node.js and
 *   each thread start 40 ms faster. But every thread then has thousands of objects that each collection of
 *   new objects scans. The scan takes 0.024 ms of about 0.11 ms, about 290 times per second near the peak
 *   load.
 */
import { readdirSync } from 'node:fs'

const isSource = import.meta.url.endsWith('/src/start.js')

/** @returns {string | null} Why this runtime cannot run the service. Null if it can. */
function runtimeProblem() {
  const { versions, platform, arch } = process
  if (isSource && !('typescript' in process.features && process.features.typescript)) {
    return `Node ${versions.node} does not run TypeScript; use Node 22.18 or a newer 22 (npm ci installs it)`
  }
  const binaries = new URL('./bin/', import.meta.resolve('uWebSockets.js'))
  const needed = `uws_${platform}_${arch}_${versions.modules}.node`
  if (readdirSync(binaries).includes(needed)) return null
  return `the HTTP server has no binary for Node ${versions.node} on ${platform} ${arch}; use Node 22 (npm ci installs it)`
}

/**
 * Name of a variable that marks a process that has executed itself. `GLIBC_TUNABLES` cannot be used as the
 * mark, because the C library removes it from processes with elevated privileges.
 */
const STARTED_AGAIN = 'VERDICT_STARTED_AGAIN'
const QUIET = '--disable-warning=ExperimentalWarning'

function startAgain() {
  const { platform, execPath, execArgv, argv, env, connected } = process
  if (env[STARTED_AGAIN] !== undefined) {
    delete env[STARTED_AGAIN]
    return
  }
  // A process with an IPC channel to its parent is not executed again, because the channel would be lost.
  if (platform !== 'linux' || connected || !('execve' in process)) return
  const tunables = env.GLIBC_TUNABLES ?? 'glibc.malloc.hugetlb=1'
  const isSnapshotDecided = [...execArgv, env.NODE_OPTIONS].some(flag => flag?.includes('node-snapshot'))
  const flags = isSnapshotDecided ? [] : ['--no-node-snapshot']
  // `npm start` passes this flag, but `verdict serve` does not.
  if (!execArgv.includes(QUIET)) flags.push(QUIET)
  if (tunables === env.GLIBC_TUNABLES && flags.length === 0) return
  process.execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], {
    ...env,
    GLIBC_TUNABLES: tunables,
    [STARTED_AGAIN]: 'yes',
  })
}

const problem = runtimeProblem()
if (problem !== null) {
  process.stderr.write(`verdict: ${problem}\n`)
  process.exit(1)
}
startAgain()
/**
 * Exits with 0 on a signal until `src/process.ts` installs its own handlers. Until then, there is nothing to
 * close. Without a handler, a signal would end the process with another exit code, and the first process of a
 * container would ignore it.
 */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(0)
  })
}
// Ignores both signals. By default, SIGUSR2 ends the process, and SIGUSR1 opens the debugger of Node.js to
// every user of the machine.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => {})
const { entryOf } = await import('#composition/process/quick-entry.js')
await import(await entryOf('main', 'src/main.ts'))
