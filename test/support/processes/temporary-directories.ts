/** Temporary directories that are deleted after a test or a test file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A directory for all tests of the current file. */
export function sharedDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-shared-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A directory for the current test. */
export function ownDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-own-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
