/** The scripts that Redis runs. Those of ledgers begin with the text that they share, `ledger.lua`. */
import { Script } from '#store/redis/link/redis-link.ts'

export const OPEN = scriptOf('open.lua')
export const COMMIT = scriptOf('commit.lua')
export const VERIFY = scriptOf('verify.lua')
export const HEARTBEAT = new Script(new URL('./heartbeat.lua', import.meta.url))

function scriptOf(name: string): Script {
  return new Script(new URL('./ledger.lua', import.meta.url), new URL(`./${name}`, import.meta.url))
}
