/**
 * What `npm start` runs: makes sure the runtime can run the service at all, then does. Plain JavaScript, because a
 * runtime that is too old cannot read the rest; one clear line instead of its stack trace.
 *
 * On Linux the process first becomes itself again for what is settled before the first line of a program runs, unless it was
 * started with that, as `npm start` does:
 * - a C library that asks the kernel for huge pages: a single decision on millions of facts takes a fifth less. Who has set
 *   `GLIBC_TUNABLES` has decided otherwise; other C libraries do not know it.
 * - no startup snapshot. Node starts faster with it, by 40 ms and as much in each thread, and then every thread has thousands of
 *   objects that each collection of new ones looks through, for 0.024 ms of about 0.11, some 290 times a second near the
 *   peak. Who has said `--node-snapshot` or `--no-node-snapshot` has decided.
 */
import { readdirSync } from 'node:fs'

const isSource = import.meta.url.endsWith('/src/start.js')

/** @returns {string | null} what is wrong with this runtime, if anything */
function runtimeProblem() {
  const { versions, platform, arch } = process
  if (isSource && !('typescript' in process.features && process.features.typescript)) {
    return `Node ${versions.node} does not run TypeScript; use Node 22.18 or a newer 22 (npm ci brings one)`
  }
  const binaries = new URL('./bin/', import.meta.resolve('uWebSockets.js'))
  const needed = `uws_${platform}_${arch}_${versions.modules}.node`
  if (readdirSync(binaries).includes(needed)) return null
  return `the HTTP server has no binary for Node ${versions.node} on ${platform} ${arch}; use Node 22 (npm ci brings one)`
}

/** That it has: the C library takes its own variable away from processes that may do more than their user. */
const STARTED_AGAIN = 'VERDICT_STARTED_AGAIN'
const QUIET = '--disable-warning=ExperimentalWarning'

function startAgain() {
  const { platform, execPath, execArgv, argv, env, connected } = process
  if (env[STARTED_AGAIN] !== undefined) {
    delete env[STARTED_AGAIN]
    return
  }
  // A channel to the process that started this one would not come along.
  if (platform !== 'linux' || connected || !('execve' in process)) return
  const tunables = env.GLIBC_TUNABLES ?? 'glibc.malloc.hugetlb=1'
  const isSnapshotDecided = [...execArgv, env.NODE_OPTIONS].some(flag => flag?.includes('node-snapshot'))
  const flags = isSnapshotDecided ? [] : ['--no-node-snapshot']
  // Whoever came by `verdict serve` has not said it.
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
 * Until `src/process.ts` listens, too, there is nothing to close. By itself a signal would end the process as well, but with another
 * exit code, and not at all where it is the first one of a container.
 */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(0)
  })
}
// By default SIGUSR2 ends the process, and SIGUSR1 opens Node's debugger to every user of the machine.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => {})
const { entryOf } = await import('#composition/quick-entry.js')
await import(await entryOf('main', 'src/main.ts'))
