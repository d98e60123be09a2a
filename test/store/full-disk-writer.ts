/** Process of `full-disk.test.ts`: commits until two commits are refused, and prints the outcome as JSON. */
import { writeSync } from 'node:fs'
import type { AuthzError } from '#model/errors.ts'
import { openStore } from '#store/open/open-store.ts'
import { commitOf, toyRule } from './toy-rows.ts'

/** Without this handler, the signal of the limit would end the process. With the handler, the write fails. */
process.on('SIGXFSZ', () => {})

const store = await openStore(process.argv[2]!, toyRule)
const { ledger } = await store.environment('default')
const large = 'ar'.padEnd(100_000, '.')

let acknowledged = 0
const refusals: string[] = []
while (refusals.length < 2) {
  await ledger.commit(commitOf({ put: { [`row-${acknowledged}`]: large } })).then(
    () => acknowledged++,
    (error: AuthzError) => refusals.push(`${error.code}: ${error.message}`),
  )
}
await store.close()
writeSync(1, `${JSON.stringify({ acknowledged, refusals })}\n`)
