/** Every program under bench is in the registry, and every registered bench is in the README there. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const bench = fileURLToPath(new URL('../../bench', import.meta.url))
const sources = readdirSync(bench, { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.ts') && !name.includes('node_modules'),
)

/** Name, duration, program and purpose, as printed by `npm run bench -- --list`. */
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

/** Returns the files that no other file imports or starts. These files must be programs. */
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

test('every program under bench is in the registry, and every registered program exists', () => {
  const registered = new Set(listed().map(({ program }) => program))
  expect(programs().filter(program => !registered.has(program) && program !== 'run.ts')).toEqual([])
  expect([...registered].filter(program => !existsSync(join(bench, program)))).toEqual([])
})

test('the table of bench/README.md has every bench with its program, duration and purpose', () => {
  const rows = [
    ...readFileSync(join(bench, 'README.md'), 'utf8').matchAll(
      /^\| `([\w-]+)`\s+\| (.*?)\s+\| (.*?)\s+\| `(.*?)`\s+\|$/gm,
    ),
  ].map(([, name, shows, takes, program]) => ({ name, takes, program, shows }))
  expect(rows).toEqual(listed())
})

test('an unknown bench is rejected', () => {
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
