/**
 * Runs benches of the registry with their flags, core and memory settings.
 *
 *     npm run bench                       the default benches, about 15 minutes
 *     npm run bench -- NAME… [options]    these benches, in order; options are passed to the program
 *     npm run bench -- --list             list of all benches
 *
 * Requires Linux (`taskset`) and two cores without other load. The exit code is 1 if a bench failed.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Bench, BENCHES, USUAL } from './registry.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const HUGE_PAGES = 'glibc.malloc.hugetlb=1'
const CORE = '1'

const asked = process.argv.slice(2)
if (asked.includes('--list')) list()
else run(asked)

function list(): void {
  const width = Math.max(...BENCHES.map(({ name }) => name.length))
  for (const { name, takes, shows, program } of BENCHES) {
    process.stdout.write(
      `${name.padEnd(width)}  ${takes.padEnd(10)}  ${(program ?? 'claims').padEnd(26)}  ${shows}\n`,
    )
  }
}

function run(words: readonly string[]): void {
  const named = BENCHES.filter(({ name }) => words.includes(name))
  const options = words.filter(word => !named.some(({ name }) => name === word))
  if (words.length > 0 && named.length === 0) {
    process.stderr.write(`no bench is called ${words[0]}; npm run bench -- --list shows all benches\n`)
    process.exitCode = 2
    return
  }
  for (const command of commandsOf(
    named.length > 0 ? named : BENCHES.filter(({ name }) => USUAL.includes(name)),
  )) {
    const [file, ...args] = [...command.args, ...options] as [string, ...string[]]
    const { status } = spawnSync(file, args, { stdio: 'inherit', env: { ...process.env, ...command.env } })
    if (status !== 0) process.exitCode = 1
  }
}

interface Command {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/**
 * Returns one command per program. If several selected benches use the same program, they run in one process.
 */
function commandsOf(benches: readonly Bench[]): Command[] {
  return [...Map.groupBy(benches, ({ program }) => program).values()].map(together => {
    const [{ program, flags = [], isPinned, hasHugePages }] = together as [Bench]
    if (program === null) return { args: ['npx', 'vitest', 'run', '--project', 'claims'], env: {} }
    return {
      args: [
        ...(isPinned ? ['taskset', '-c', CORE] : []),
        process.execPath,
        '--disable-warning=ExperimentalWarning',
        ...flags,
        `${HERE}${program}`,
        ...together.flatMap(({ args = [] }) => args),
      ],
      env: hasHugePages ? { GLIBC_TUNABLES: HUGE_PAGES } : {},
    }
  })
}
