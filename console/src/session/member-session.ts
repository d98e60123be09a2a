/**
 * Starts, renews and ends the session of a member. All tabs of a browser share its cookie, so each tab
 * notifies the others of a sign-in and a sign-out.
 */
import { SERVICE } from '../interface/base-url.ts'
import { Problem } from '../interface/problem.ts'
import { type Account, readAccount } from './account.ts'
import { arrivalIn } from './arrival.ts'
import { currentSession, failToStart, forgetSession, signInAsMember } from './session.ts'

/** Ways to sign in that the service offers. */
export interface SignInWays {
  /** The issuer; null if sign-in is not switched on. */
  readonly oidc: { readonly name: string } | null
  /** Whether a key can be typed. */
  readonly key: boolean
}

/**
 * Address of the page that the user wanted before the sign-in. It is kept in this tab, because the sign-in
 * leaves the page.
 */
const WANTED = 'verdict.wanted'

const tabs = new BroadcastChannel('verdict.session')
tabs.addEventListener('message', () => {
  // A tab with a key does not depend on the cookie.
  if (currentSession().kind !== 'key') void startSession()
})

let ways: SignInWays | null = null

export async function signInWays(): Promise<SignInWays> {
  ways ??= (await answerTo('GET', '/v2/sign-in')) as SignInWays
  return ways
}

/**
 * Determines whether the browser has the session of a member. Right after a sign-in, `revision` is that of
 * the new session, so that a node that has not received the session yet waits for it.
 */
export async function startSession(revision: string | null = null): Promise<void> {
  try {
    const account = (await signInWays()).oidc === null ? null : await readAccount(revision)
    if (account !== null) signInAsMember(account)
    else forgetSession(currentSession().kind === 'member' ? 'refused' : null)
    if (revision !== null) tabs.postMessage('begun')
  } catch (problem) {
    if (currentSession().kind !== 'member') failToStart(problem)
  }
}

let reading: Promise<Account | null> | null = null

/**
 * Reads the account again. If the session has ended, this tab is signed out. Requests at the same time share
 * one response.
 */
export async function refreshAccount(): Promise<Account | null> {
  reading ??= readAccount(null).finally(() => {
    reading = null
  })
  const account = await reading
  if (currentSession().kind !== 'member') return null
  if (account === null) forgetSession('refused')
  else signInAsMember(account)
  return account
}

/**
 * Called after the service rejected a request of this account. Returns the account with which the request can
 * be repeated: another tab has signed in again as the same member. Otherwise null.
 */
export async function renewedAfter(rejected: Account): Promise<Account | null> {
  const current = currentSession()
  const isReplaced = current.kind === 'member' && current.account.csrf_token !== rejected.csrf_token
  const account = isReplaced ? current.account : await refreshAccount().catch(() => null)
  if (account === null || account.csrf_token === rejected.csrf_token) return null
  return account.member.id === rejected.member.id ? account : null
}

/**
 * Leaves the console for the page of the issuer. `wanted` is the address to open after the sign-in. It never
 * leaves the browser.
 */
export async function beginSignIn(wanted: string, invite: string | null = null): Promise<void> {
  const body = invite === null ? {} : { invite }
  const { location } = (await answerTo('POST', '/v2/sign-in', { body })) as { readonly location: string }
  if (arrivalIn(wanted)?.kind !== 'refused') sessionStorage.setItem(WANTED, wanted)
  globalThis.location.assign(location)
}

/** Address of the page that the user wanted before the sign-in. */
export function wantedAddress(): string {
  const wanted = sessionStorage.getItem(WANTED) ?? '/'
  return arrivalIn(wanted) === null ? wanted : '/'
}

/** Ends the session in the service and in all tabs. Rejects if the service could not end it. */
export async function endSession({ csrf_token: token }: Account): Promise<void> {
  const ended = await answerTo('DELETE', '/v2/session', { headers: { 'X-CSRF-Token': token } }).catch(
    (problem: unknown) => {
      // The session has already ended.
      if (problem instanceof Problem && problem.status === 401) return { end_session_url: null }
      throw problem
    },
  )
  forgetSession('asked', (ended as { readonly end_session_url: string | null }).end_session_url)
  tabs.postMessage('ended')
}

async function answerTo(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  {
    body,
    headers = {},
  }: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<unknown> {
  const response = await fetch(SERVICE + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw Problem.unreachable()
  })
  const answer: unknown = await response.json().catch(() => null)
  if (!response.ok) throw Problem.of(response, answer)
  return answer
}
