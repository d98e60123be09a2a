/** Slots for management requests of an HTTP thread at the writer thread. */
import { expect, test } from 'vitest'
import {
  ManagementAdmission,
  type RequestSlot,
  READS_UNDER_WAY_MAX,
} from '#threads/channel/management-admission.ts'

const READ = { share: 'hostile', isRead: true, bytes: 0 }
const MEBIBYTE = 1_048_576

/** Positions of the requests that may be sent to the writer thread so far. */
async function begunOf(places: readonly RequestSlot[]): Promise<number[]> {
  const begun: number[] = []
  places.forEach(
    (place, n) =>
      void place.begun.then(
        () => begun.push(n),
        () => undefined,
      ),
  )
  await new Promise(resolve => setImmediate(resolve))
  return begun
}

function entered(admission: ManagementAdmission, asked: typeof READ, count: number): RequestSlot[] {
  return Array.from({ length: count }, () => admission.enter(asked))
}

test('only a few reads of an environment run at a time, and reads of other environments do not wait for them', async () => {
  const admission = new ManagementAdmission(100)
  const reads = entered(admission, READ, READS_UNDER_WAY_MAX + 3)
  const others = [admission.enter({ ...READ, share: 'polite' }), admission.enter({ ...READ, isRead: false })]
  expect(await begunOf([...reads, ...others])).toEqual([
    ...Array.from({ length: READS_UNDER_WAY_MAX }, (_, n) => n),
    reads.length,
    reads.length + 1,
  ])
  reads[2]!.leave()
  expect(await begunOf(reads.slice(READS_UNDER_WAY_MAX))).toEqual([0])
})

test('a waiting request whose client disconnects never begins, and the next request takes its slot', async () => {
  const admission = new ManagementAdmission(100)
  const reads = entered(admission, READ, READS_UNDER_WAY_MAX + 2)
  reads[READS_UNDER_WAY_MAX]!.leave()
  await expect(reads[READS_UNDER_WAY_MAX]!.begun).rejects.toMatchObject({ code: 'OVERLOADED' })
  reads[0]!.leave()
  expect(await begunOf(reads.slice(READS_UNDER_WAY_MAX))).toEqual([1])
})

test('the bytes of concurrent changes are limited, but a single change can have any size', async () => {
  const admission = new ManagementAdmission(100)
  const change = { share: 'hostile', isRead: false, bytes: 16 * MEBIBYTE }
  const [first, ...rest] = entered(admission, change, 3)
  expect(await begunOf([first!, ...rest])).toEqual([0])
  first!.leave()
  expect(await begunOf(rest)).toEqual([0])
  rest[0]!.leave()
  rest[1]!.leave()
  expect(await begunOf(entered(admission, { ...change, bytes: MEBIBYTE }, 6))).toEqual([0, 1, 2, 3])
})

test('requests of an environment at its limit are refused with 429, and requests of other environments are accepted', () => {
  const admission = new ManagementAdmission(3)
  const own = entered(admission, { ...READ, isRead: false }, 3)
  expect(() => admission.enter(READ)).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', limit: 'share' }),
  )
  admission.enter({ ...READ, share: 'polite' }).leave()
  own[0]!.leave()
  expect(() => admission.enter(READ)).not.toThrow()
})

test('pending responses delay further reads of all environments, but not changes', async () => {
  const admission = new ManagementAdmission(100)
  const slow = entered(admission, READ, READS_UNDER_WAY_MAX)
  for (const place of slow) place.answered(40 * MEBIBYTE)
  const read = admission.enter({ ...READ, share: 'polite' })
  const change = admission.enter({ ...READ, share: 'polite', isRead: false })
  expect(await begunOf([read, change])).toEqual([1])
  slow[0]!.leave()
  expect(await begunOf([read])).toEqual([])
  slow[1]!.leave()
  expect(await begunOf([read])).toEqual([0])
})
