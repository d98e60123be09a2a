/**
 * Checks allocate nothing: between two collections of garbage the heap of a thread that checks grows no more than that of
 * one which does not. In a process of its own, where nobody else allocates.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const CHECKS = 200_000
/**
 * A small object takes 16 bytes and more; a check that made one would be far beyond these. A batch of a thousand staged ones
 * makes a few for all of them, of about 1,000 bytes together.
 */
const BYTES_PER_CHECK_MAX = { single: 1, 'single, from bytes,': 1, staged: 2 }

test.each(Object.entries(BYTES_PER_CHECK_MAX))(
  '%s checks, once warm, allocate nothing each',
  async (mode, bytesMax) => {
    const program = fileURLToPath(new URL('allocation-process.ts', import.meta.url))
    const flags = ['--disable-warning=ExperimentalWarning', '--expose-gc', '--max-semi-space-size=64']
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, mode, String(CHECKS)])
    const { checking, idle, allowed } = JSON.parse(stdout) as {
      checking: number
      idle: number
      allowed: number
    }
    expect(allowed).toBeGreaterThan(CHECKS / 10)
    expect(allowed).toBeLessThan(CHECKS)
    expect((checking - idle) / CHECKS).toBeLessThan(bytesMax)
  },
)
