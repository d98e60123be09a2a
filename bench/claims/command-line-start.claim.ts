/**
 * Claim: the command line loads only a known set of modules at startup. This matters because scripts call it
 * in loops. Another claim in `bench/claims` measures the duration of a start.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { DIST, isBuilt } from '#composition/process/built-form.ts'
import { build } from '../../packaging/build.ts'

beforeAll(async () => {
  if (!isBuilt()) await build()
})

/** Files that are loaded with an entry point of the built form. The entry point itself is included. */
function loadedWith(entry: string): Map<string, string> {
  const loaded = new Map<string, string>()
  const open = [entry]
  while (open.length > 0) {
    const name = open.pop()!
    if (loaded.has(name)) continue
    const text = readFileSync(join(DIST, name), 'utf8')
    loaded.set(name, text)
    for (const [, imported] of text.matchAll(/^(?:import|export) [^;]*?["']\.\/([^"']+)["'];$/gm))
      open.push(imported!)
  }
  return loaded
}

test('the command line loads neither the service, nor schemas, nor YAML before it knows the command', () => {
  const loaded = loadedWith('cli.js')
  expect(loaded.size).toBeLessThan(10)
  const imports = [...loaded.values()].flatMap(text => [
    ...text.matchAll(/^import .*["']([^."'][^"']*)["'];$/gm),
  ])
  expect(
    imports
      .map(match => match[1]!)
      .filter(name => !/^(node:|assert$|fs$|path$|url$|util$|module$)/.test(name)),
  ).toEqual([])
  expect([...loaded.values()].some(text => text.includes('// node_modules/typebox/'))).toBe(false)
})
