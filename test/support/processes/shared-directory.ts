/** A temporary directory for all tests of the current file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

export function sharedDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-shared-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
