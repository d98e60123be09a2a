/** The end of sessions by time (administration.md C6), as threads check it, with clocks that tests move. */
import { expect, test } from 'vitest'
import { csrfTokenOf } from '#http/message/csrf-token.ts'
import { HeaderList } from '#http/message/header-list.ts'
import { SessionAccess } from '#http/routing/session-access.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import type { AcceptedSession } from '#management/sessions/session-directory.ts'
import { hashOfSecret } from '#secrets/secret-hash.ts'
import { ThreadSessions } from '#threads/channel/session-authentication.ts'
import { COOKIE, ORIGIN } from '#testing/requests/member-sessions.ts'

const IDLE = 100_000
const MAX = 300_000
/** Time of the sign-in on the wall clock. */
const START = 1_800_000_000_000
const SECRET = 'A'.repeat(43)
const ID = '00000000-0000-4000-8000-000000000001'
const places = { organizationId: 'o', projects: [], environments: [] }
const match = {
  route: { access: 'any-key', level: 'no_access', delegated: null, paramNames: [] },
  rawParams: [],
} as unknown as RouteMatch

/** A thread that knows one session, which began at `START`. `times` changes the stored times. */
function threadWith(times: Partial<AcceptedSession> = {}) {
  const clock = { wall: START, elapsed: 5_000 }
  const uses: number[] = []
  const session: AcceptedSession = {
    caller: { sessionId: ID, memberId: 'm', issuer: 'i', subject: 's', name: null },
    grants: [],
    groups: [],
    secretHash: hashOfSecret(SECRET),
    expiresAt: START + MAX,
    lastUsedAt: START,
    slot: 0,
    ...times,
  }
  const sessions = new ThreadSessions(
    { places, groups: [], sessions: [session] },
    {
      clocks: { now: () => clock.wall, elapsedMs: () => clock.elapsed },
      idleMs: IDLE,
      onUse: () => uses.push(clock.elapsed - 5_000),
    },
  )
  const access = new SessionAccess(sessions, ORIGIN, () => true)
  const changes = { places: null, groups: [], removedIds: [], set: [], used: [] }
  return {
    clock,
    uses,
    isValid: () => sessions.find(SECRET) !== null,
    /** A request in the session. */
    use: (others: Readonly<Record<string, string>> = {}) => {
      const headers = new HeaderList()
      headers.add('cookie', `${COOKIE}=${SECRET}.epoch.1`)
      headers.add('x-csrf-token', csrfTokenOf(SECRET))
      for (const [name, value] of Object.entries(others)) headers.add(name, value)
      access.identify(match, headers)
    },
    /** Checks of a request or a stream that was identified before. */
    useAgain: () => {
      access.identifyAgain(ID, match, new HeaderList())
      access.isStillAdmitted(ID, match.route, { project: 'p', environment: 'e' })
    },
    /** Another thread or node has seen the session at this time. */
    seenElsewhere: (at: number) => sessions.apply({ ...changes, used: [{ sessionId: ID, at: START + at }] }),
    regranted: () => sessions.apply({ ...changes, set: [{ ...session, grants: [] }] }),
    ended: () => sessions.apply({ ...changes, removedIds: [ID] }),
  }
}

type Thread = ReturnType<typeof threadWith>
type Step = readonly [at: number, what: (thread: Thread) => void]
const use: Step[1] = thread => thread.use()
const inBackground: Step[1] = thread => thread.use({ 'x-background': '1' })

test.each<[name: string, end: number, ...steps: Step[]]>([
  ['that is not used', 100_000],
  ['that is used', 150_000, [50_000, use]],
  ['that is used at the last moment', 199_999, [99_999, use]],
  ['that is used again within a tenth of the time', 100_000, [0, use], [9_999, use]],
  ['that is used again after a tenth of the time', 110_000, [0, use], [10_000, use]],
  ['that is always used', 300_000, [90_000, use], [180_000, use], [270_000, use]],
  ['that is used by background requests', 150_000, [50_000, use], [60_000, inBackground]],
  ['in which a stream is open', 150_000, [50_000, use], [90_000, ({ useAgain }) => useAgain()]],
  ['with another mark', 190_000, [90_000, thread => thread.use({ 'x-background': '0' })]],
  ['that is used elsewhere', 160_000, [70_000, thread => thread.seenElsewhere(60_000)]],
  [
    'whose earlier use becomes known',
    150_000,
    [50_000, use],
    [60_000, thread => thread.seenElsewhere(40_000)],
  ],
  [
    'whose uses become known in another order',
    180_000,
    [85_000, thread => thread.seenElsewhere(80_000)],
    [86_000, thread => thread.seenElsewhere(70_000)],
  ],
  ['whose grants change', 150_000, [50_000, use], [60_000, ({ regranted }) => regranted()]],
  ['on a node whose clock is set back', 150_000, [50_000, use], [60_000, ({ clock }) => (clock.wall = 0)]],
  [
    'on a node whose clock is set forward',
    150_000,
    [50_000, use],
    [60_000, ({ clock }) => (clock.wall *= 2)],
  ],
  [
    'whose grants change after the clock was set',
    150_000,
    [50_000, use],
    [60_000, ({ clock }) => (clock.wall = 0)],
    [70_000, ({ regranted }) => regranted()],
  ],
  ['that is removed', 50_000, [50_000, ({ ended }) => ended()]],
])('a session %s is valid until %i ms after its sign-in', (_, end, ...steps) => {
  const thread = threadWith()
  const { clock } = thread
  const moveTo = (at: number) => {
    const ms = at + 5_000 - clock.elapsed
    clock.elapsed += ms
    clock.wall += ms
  }
  for (const [at, what] of steps) {
    moveTo(at - 1)
    expect(thread.isValid(), `before ${at}`).toBe(true)
    moveTo(at)
    what(thread)
  }
  const last = steps.at(-1)?.[0] ?? 0
  if (end > last) {
    moveTo(end - 1)
    expect(thread.isValid()).toBe(true)
    moveTo(end)
  }
  expect(thread.isValid()).toBe(false)
  expect(thread.use).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
  expect(thread.useAgain).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
})

test('a thread reports a use at most once in a tenth of the time, and no background request', () => {
  const { clock, use: useNow, uses } = threadWith()
  for (let at = 0; at < 35_000; at += 500) {
    clock.elapsed = 5_000 + at
    useNow(at < 5_000 ? { 'x-background': '1' } : {})
  }
  expect(uses).toEqual([5_000, 15_000, 25_000])
})

test.each<[name: string, left: number, times: Partial<AcceptedSession>]>([
  ['that another node began 60 s ago', 40_000, { lastUsedAt: START - 60_000, expiresAt: START + 240_000 }],
  ['that another node began, with a clock 20 s ahead', 120_000, { lastUsedAt: START + 20_000 }],
  ['that was always used and ends soon', 1_000, { expiresAt: START + 1_000 }],
  ['that has expired', 0, { expiresAt: START }],
])('a session %s is valid for %i ms after a thread learns of it', (_, left, times) => {
  const { clock, isValid } = threadWith(times)
  if (left > 0) clock.elapsed += left - 1
  expect(isValid()).toBe(left > 0)
  if (left > 0) clock.elapsed += 1
  expect(isValid()).toBe(false)
})
