/** How long the command line takes to start, in processor time beside that of a Node that does nothing: scripts call it in loops. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { build } from '../../packaging/build.ts'
import { isBuilt } from '#composition/built-form.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ROUNDS = 5
/** Says what the process took, when it ends. */
const METER = `data:text/javascript,${encodeURIComponent(
  'process.on("exit", () => { const { user, system } = process.cpuUsage(); process.stderr.write(`cpu ${user + system}\\n`) })',
)}`

function microsecondsOf(args: readonly string[]): number {
  const command = `${process.execPath} --disable-warning=ExperimentalWarning --import '${METER}' ${args.join(' ')} 2>&1 >/dev/null || true`
  const told = execFileSync('bash', ['-c', command], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, VERDICT_URL: 'http://127.0.0.1:9', NODE_OPTIONS: '' },
  })
  return Number(/cpu (\d+)/.exec(told)![1])
}

/** The ratio of the medians of what both take, in turns. */
function ratioOf(args: readonly string[]): number {
  const rounds = Array.from({ length: ROUNDS }, () => [microsecondsOf(args), microsecondsOf(['-e', '0'])])
  const median = (index: number) =>
    rounds.map(round => round[index]!).toSorted((one, other) => one - other)[ROUNDS >> 1]!
  return median(0) / median(1)
}

beforeAll(async () => {
  if (!isBuilt()) await build()
})

test('help is there within five times what Node takes to do nothing, a question within seven', () => {
  expect(ratioOf(['bin/verdict.js', '--help'])).toBeLessThan(5)
  expect(ratioOf(['bin/verdict.js', 'check', 'a', 'b', 'c'])).toBeLessThan(7)
})
