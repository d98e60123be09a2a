/** A process that cannot go on ends, whatever lmdb is at; fifty times of it, each within 10 s, are in `test/faults`. */
import { expect, test } from 'vitest'
import { fatalWhileWriting } from './fatal-while-writing.ts'

test('a fatal fault in the midst of writes ends the process, each of three times', async () => {
  for (let round = 0; round < 3; round += 1) {
    const { code, log } = await fatalWhileWriting()
    // 1, or as by a signal where a write was still open.
    expect([round, code === 1 || code === null]).toEqual([round, true])
    expect(log).toContain('on purpose')
  }
})

test('a main thread that comes to nothing any more does not keep the process: it is ended by a signal', async () => {
  const { code, log } = await fatalWhileWriting({ isStuckThen: true })
  expect(code).toBeNull()
  expect(log).toContain('on purpose')
})

test('a fatal fault while another thread makes a large write ends the process, each of two times', async () => {
  for (let round = 0; round < 2; round += 1) {
    const { code, log } = await fatalWhileWriting({ isLarge: true })
    expect([round, code === 1 || code === null]).toEqual([round, true])
    expect(log).toContain('on purpose')
  }
})

test('a thread that nothing interrupts does not keep the process: it is ended by a signal', async () => {
  const { code, log } = await fatalWhileWriting({ isStuckBeside: true })
  // As 1 it would have waited for that thread.
  expect(code).toBeNull()
  expect(log).toContain('on purpose')
  expect(log).toContain('a thread does not come to its end')
})
