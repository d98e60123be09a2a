/**
 * Entry point of `npm start`: checks that the runtime can run the service, then runs it. It is plain
 * JavaScript, because a runtime that is too old cannot read the rest. It prints one clear line instead of a
 * stack trace.
 *
 * On Linux, the process first executes itself again with options that apply before the first line of a
 * program runs, unless they are already set, as in `npm start`:
 * - A C library setting that requests huge pages from the kernel. A single decision on millions of facts then
 *   takes 20 % less time. If `GLIBC_TUNABLES` is already set, it is not changed. Other C libraries ignore it.
 * - No startup snapshot. With the snapshot, Node and each thread start 40 ms faster. But every thread then
 *   has thousands of objects that each collection of new objects scans, for 0.024 ms of about 0.11 ms, about
 *   290 times per second near the peak. If `--node-snapshot` or `--no-node-snapshot` is given, it is not
 *   changed.
 */
import { readdirSync } from 'node:fs'

const isSource = import.meta.url.endsWith('/src/start.js')

/** @returns {string | null} the problem of this runtime, if any */
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
 * Marks a process that has executed itself. `GLIBC_TUNABLES` cannot serve as the mark, because the C library
 * removes it from processes with elevated privileges.
 */
const STARTED_AGAIN = 'VERDICT_STARTED_AGAIN'
const QUIET = '--disable-warning=ExperimentalWarning'

function startAgain() {
  const { platform, execPath, execArgv, argv, env, connected } = process
  if (env[STARTED_AGAIN] !== undefined) {
    delete env[STARTED_AGAIN]
    return
  }
  // The IPC channel to the parent process would not survive.
  if (platform !== 'linux' || connected || !('execve' in process)) return
  const tunables = env.GLIBC_TUNABLES ?? 'glibc.malloc.hugetlb=1'
  const isSnapshotDecided = [...execArgv, env.NODE_OPTIONS].some(flag => flag?.includes('node-snapshot'))
  const flags = isSnapshotDecided ? [] : ['--no-node-snapshot']
  // `verdict serve` does not pass this flag.
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
 * Until `src/process.ts` also listens, there is nothing to close. Without a handler, a signal would also end
 * the process, but with another exit code, and it would be ignored by the first process of a container.
 */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(0)
  })
}
// By default, SIGUSR2 ends the process, and SIGUSR1 opens Node's debugger to every user of the machine.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => {})
const { entryOf } = await import('#composition/quick-entry.js')
await import(await entryOf('main', 'src/main.ts'))
