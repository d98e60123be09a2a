/**
 * The process that `full-disk.test.ts` starts under a limit on the size of files: commits until one is refused, then
 * once more, then closes the store; prints what became of each as one line of JSON.
 */
import { writeSync } from 'node:fs'
import type { AuthzError } from '#model/errors.ts'
import { openStore } from '#store/open-store.ts'
import { commitOf, toyRule } from './toy-rows.ts'

/** Without a handler the signal of the limit ends the process; with one, writing fails, as it does on a full disk. */
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
