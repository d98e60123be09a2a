/** Exit of a process after an uncaught error. `test/faults` has more rounds with a time limit. */
import { expect, test } from 'vitest'
import { fatalWhileWriting } from './fatal-while-writing.ts'

test.each([
  ['during writes', { isLarge: false }, 3],
  ['while another thread makes a large write', { isLarge: true }, 2],
])('an uncaught error %s ends the process each time', async (_, options, rounds) => {
  for (let round = 0; round < rounds; round += 1) {
    const { code, log } = await fatalWhileWriting(options)
    // The exit code is 1, or null after a signal if a write was still open.
    expect([round, code === 1 || code === null]).toEqual([round, true])
    expect(log).toContain('on purpose')
  }
})

test('a process whose main thread blocks after an uncaught error is ended by a signal', async () => {
  const { code, log } = await fatalWhileWriting({ isStuckThen: true })
  expect(code).toBeNull()
  expect(log).toContain('on purpose')
})

test('a process with another thread in a blocking call is ended by a signal after an uncaught error', async () => {
  const { code, log } = await fatalWhileWriting({ isStuckBeside: true })
  // If the process had waited for that thread, the exit code would be 1.
  expect(code).toBeNull()
  expect(log).toContain('on purpose')
  expect(log).toContain('a thread does not exit')
})
