/** Takes a change back only where everything is still as it left it: what somebody else made of it meanwhile stays. */
import { Problem } from '../interface/problem.ts'
import type { End } from './group-calls.ts'

/** `left`: the end that the change left; undefined: it left nothing. `read`: what is there now. Rejects where that is something else. */
export async function takeBack(
  left: End | undefined,
  read: () => Promise<End | undefined>,
  write: () => Promise<unknown>,
): Promise<void> {
  if (!isSame(await read(), left)) throw Problem.stale()
  await write()
}

/** The same moment may be written in several ways. */
function isSame(one: End | undefined, other: End | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return one === other
  return Date.parse(one) === Date.parse(other)
}
