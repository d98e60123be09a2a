/** No bench is forgotten: every program under bench is in the registry, and every row of it in the README there. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const bench = fileURLToPath(new URL('../../bench', import.meta.url))
const sources = readdirSync(bench, { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.ts') && !name.includes('node_modules'),
)

/** Name, duration, program and what it shows, as `npm run bench -- --list` prints them. */
function listed(): {
  readonly name: string
  readonly takes: string
  readonly program: string
  shows: string
}[] {
  const list = execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(bench, 'run.ts'), '--list'],
    { encoding: 'utf8' },
  )
  return list
    .trim()
    .split('\n')
    .map(line => {
      const [name, takes, program, shows] = line.split(/ {2,}/)
      return { name: name!, takes: takes!, program: program!, shows: shows! }
    })
}

/** The files that no other file imports, or starts as a thread or a process: somebody has to run them. */
function programs(): string[] {
  const started = new Set(
    sources.flatMap(source =>
      [...readFileSync(join(bench, source), 'utf8').matchAll(/'([./\w-]+\.ts)'/g)].map(([, name]) =>
        normalize(join(dirname(source), name!)),
      ),
    ),
  )
  return sources.filter(source => !started.has(source) && !source.startsWith('claims/'))
}

test('every program under bench is in the registry, and whatever is there can be run', () => {
  const registered = new Set(listed().map(({ program }) => program))
  expect(programs().filter(program => !registered.has(program) && program !== 'run.ts')).toEqual([])
  expect([...registered].filter(program => !existsSync(join(bench, program)))).toEqual([])
})

test('the table of bench/README.md has every bench, with its program, its duration and what it shows', () => {
  const rows = [
    ...readFileSync(join(bench, 'README.md'), 'utf8').matchAll(
      /^\| `([\w-]+)`\s+\| (.*?)\s+\| (.*?)\s+\| `(.*?)`\s+\|$/gm,
    ),
  ].map(([, name, shows, takes, program]) => ({ name, takes, program, shows }))
  expect(rows).toEqual(listed())
})

test('a bench that is not there is refused', () => {
  const run = () =>
    execFileSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(bench, 'run.ts'), 'nothing'],
      {
        stdio: 'pipe',
      },
    )
  expect(run).toThrow(/no bench is called nothing/)
})
