/**
 * Claim: checks allocate nothing. Between two garbage collections, the heap of a thread that checks grows no
 * more than that of an idle loop. Measured in a separate process without other allocations.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const CHECKS = 200_000
/**
 * A small object takes at least 16 bytes, so a check that allocated one would exceed these limits by far. A
 * batch of 1,000 staged checks allocates a few objects, about 1,000 bytes together.
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
