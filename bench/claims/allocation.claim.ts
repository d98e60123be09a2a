/**
 * Claim: checks allocate no memory. Between two garbage collections, the heap of a thread that checks grows
 * no more than that of an idle loop. This is measured in a separate process, in which nothing else allocates
 * memory.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const CHECKS = 200_000
/**
 * Maximum number of allocated bytes per check. A small object takes at least 16 bytes, so if a check
 * allocated an object, it would exceed these limits by far. A batch of 1,000 staged checks allocates a few
 * objects, which take about 1,000 bytes together.
 */
const BYTES_PER_CHECK_MAX = { single: 1, 'single, from bytes,': 1, staged: 2 }

test.each(Object.entries(BYTES_PER_CHECK_MAX))(
  '%s checks allocate no objects after their code is optimized',
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
