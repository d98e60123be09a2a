/**
 * Warns a member before the session ends, so that edits can be saved in time. Each action of the user extends
 * a session that would end because it is not used.
 */
import { useEffect, useRef, useState } from 'react'
import { Action } from '../parts/action.tsx'
import { useSpoken } from '../texts/texts.tsx'
import type { Account } from './account.ts'
import { lastUse, onAction } from './activity.ts'
import { refreshAccount } from './member-session.ts'
import { useAccount } from './session.ts'

/** Time before the end at which the warning appears. It is shorter if sessions are short. */
const WARNING_MS = 120_000
/** A session that is not used can end up to a tenth of the idle time earlier than the service states. */
const EARLIEST_SHARE = 0.9
/** Share of the idle time after which an action of the user sends a request by itself. */
const RENEWAL_SHARE = 0.25
/** Age of an account that is read again before the warning: another tab can have used the session. */
const FRESH_MS = 2000
const AGAIN_MS = 10_000

export function SessionNotice() {
  const account = useAccount()
  return account === null ? null : <Notice account={account} />
}

function Notice({ account }: { readonly account: Account }) {
  const { texts, moment } = useSpoken()
  const labels = texts.account.ends
  const [isNear, setIsNear] = useState(false)
  // The longest time that was left is that after a use.
  const idleMs = useRef(0)
  idleMs.current = Math.max(idleMs.current, account.idleEndsAt - account.receivedAt)
  const warningMs = Math.min(WARNING_MS, idleMs.current * RENEWAL_SHARE)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const endsAt = (): number =>
      Math.min(
        account.endsAt,
        Math.max(account.idleEndsAt, lastUse() + idleMs.current) - (1 - EARLIEST_SHARE) * idleMs.current,
      )
    const read = (): void => void refreshAccount().catch(() => (timer = setTimeout(read, AGAIN_MS)))
    const look = (): void => {
      const now = Date.now()
      const leftMs = endsAt() - now
      setIsNear(false)
      if (leftMs > warningMs) timer = setTimeout(look, leftMs - warningMs)
      else if (now - account.receivedAt > FRESH_MS) read()
      else {
        setIsNear(true)
        timer = setTimeout(read, Math.max(leftMs, FRESH_MS))
      }
    }
    look()
    const stop = onAction(() => {
      if (Date.now() - lastUse() > idleMs.current * RENEWAL_SHARE) read()
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [account, warningMs])
  if (!isNear) return null
  const isLast = account.endsAt <= account.idleEndsAt
  return (
    <div className="note warn session-notice" role="alert">
      <span>{isLast ? labels.last(moment(account.expires_at)) : labels.idle}</span>
      {isLast ? null : (
        <span>
          <Action isSmall onPress={() => void refreshAccount()}>
            {labels.stay}
          </Action>
        </span>
      )}
    </div>
  )
}
