/**
 * Root component of the console. Users who are signed in see the pages, and other users see the sign-in form.
 * Addresses are in the fragment after `#`, which browsers do not send to servers.
 */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { Redirect, Route, Router, Switch, useLocation } from 'wouter'
import { Problem } from './interface/problem.ts'
import { ErrorBoundary } from './parts/error-boundary.tsx'
import { Skeleton } from './parts/paged-table.tsx'
import { clearNotifications, Toasts } from './parts/toasts.tsx'
import { arrivalIn } from './session/arrival.ts'
import { Invitation } from './session/invitation.tsx'
import { useHeld } from './session/held.ts'
import { useTooLow } from './session/level.ts'
import { startSession, wantedAddress } from './session/member-session.ts'
import { callerOf, useSession } from './session/session.ts'
import { SignIn } from './session/sign-in.tsx'
import { Starting } from './session/starting.tsx'
import { TooLow } from './session/too-low.tsx'
import { hashOf, partOf, useAddress, useEscapedAddress } from './shell/address.ts'
import { EnvironmentPicker } from './shell/environment-picker.tsx'
import { Frame } from './shell/frame.tsx'
import { LeaveQuestion } from './shell/leave-question.tsx'
import { NotFound } from './shell/not-found.tsx'
import { PlainFrame } from './shell/plain-frame.tsx'
import { isDelegate } from './shell/pages-of.ts'
import { CurrentEnvironmentProvider, useCurrentEnvironment } from './shell/current-environment.tsx'
import { TextsProvider } from './texts/texts.tsx'

const AccessPages = lazy(() => import('./access/access-pages.tsx'))
const AccountPage = lazy(() => import('./members/account-page.tsx'))
const AssignmentsPage = lazy(() => import('./assignments/assignments-page.tsx'))
const GroupPages = lazy(() => import('./groups/group-pages.tsx'))
const ModelPages = lazy(() => import('./model/model-pages.tsx'))
const MemberPages = lazy(() => import('./members/member-pages.tsx'))
const OperationPages = lazy(() => import('./operations/operation-pages.tsx'))
const QuestionPage = lazy(() => import('./questions/question-page.tsx'))

/**
 * Maximum number of retries of a failed request. An error response of the API is not retried, because the
 * result would be the same.
 */
const RETRIES_MAX = 2

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < RETRIES_MAX && !(error instanceof Problem && error.isRefusal),
      staleTime: 10_000,
    },
  },
})

export function App() {
  return (
    <TextsProvider>
      <QueryClientProvider client={queries}>
        <Router hook={useEscapedAddress} hrefs={hashOf}>
          <SignedIn />
          <LeaveQuestion />
          <Toasts />
        </Router>
      </QueryClientProvider>
    </TextsProvider>
  )
}

function SignedIn() {
  const session = useSession()
  const caller = callerOf(session)
  const [address] = useAddress()
  const arrival = arrivalIn(address)
  // Clears the cache when the caller changes, because different callers can see different data.
  useEffect(
    () => () => {
      queries.clear()
      clearNotifications()
    },
    [caller],
  )
  const start = (): Promise<void> => startSession(arrival?.kind === 'signed-in' ? arrival.revision : null)
  const isStarting = session.kind === 'unknown' || (session.kind === 'key' && arrival?.kind === 'signed-in')
  useEffect(() => {
    if (isStarting) void start()
    // Runs once per session: a failed start is repeated by the user.
  }, [isStarting])
  if (isStarting)
    return <Starting problem={session.kind === 'unknown' ? session.problem : null} onRetry={start} />
  if (arrival?.kind === 'invite') return <Invitation code={arrival.code} />
  if (session.kind === 'none') return <SignIn session={session} arrival={arrival} />
  // The user is signed in, so an error of an earlier attempt does not matter.
  if (arrival !== null) return <Redirect to={wantedAddress()} replace />
  return <AllPages key={caller} />
}

function AllPages() {
  const reason = useTooLow('read', true)
  if (reason !== null) return <TooLow reason={reason} />
  return (
    <Switch>
      <Route path="/">
        <EnvironmentPicker />
      </Route>
      {/* Organization keys do not belong to a project, so this address has no project and environment. */}
      <Route path="/~/operations/*?">
        <PlainPage>
          <OperationPages />
        </PlainPage>
      </Route>
      <Route path="/~/members/*?">
        <PlainPage>
          <MemberPages />
        </PlainPage>
      </Route>
      <Route path="/~/account">
        <PlainPage>
          <AccountPage />
        </PlainPage>
      </Route>
      <Route path="/:project/:environment/*?">
        {({ project, environment }) => (
          // The key mounts new pages when the environment changes. Data of the former environment therefore
          // does not remain on the screen while the new data loads.
          <CurrentEnvironmentProvider
            key={`${project}/${environment}`}
            project={partOf(project)}
            environment={partOf(environment)}
          >
            <Frame>
              <Pages />
            </Frame>
          </CurrentEnvironmentProvider>
        )}
      </Route>
      <Route>
        <Redirect to="/" replace />
      </Route>
    </Switch>
  )
}

/** A page outside of an environment, whose code is loaded when the user opens it. */
function PlainPage({ children }: { readonly children: ReactNode }) {
  return (
    <PlainFrame>
      <Suspense fallback={<Skeleton />}>{children}</Suspense>
    </PlainFrame>
  )
}

/** The pages of a session whose grants are limited to tenants. */
function DelegatedPages() {
  const [path] = useLocation()
  return (
    <ErrorBoundary address={path}>
      <Suspense fallback={<Skeleton />}>
        <Switch>
          <Route path="/:project/:environment/assignments">
            <AssignmentsPage />
          </Route>
          <Route path="/:project/:environment/groups/*?">
            <GroupPages />
          </Route>
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Suspense>
    </ErrorBoundary>
  )
}

/**
 * Shows the page of the environment that belongs to the address. The code of each group of pages is loaded
 * when the user opens one of them. Pages above the level of the session are not shown.
 */
function Pages() {
  const [path] = useLocation()
  const isLimited = isDelegate(useHeld(useCurrentEnvironment()))
  const reason = useTooLow('read', true)
  if (reason !== null) return <p className="note">{reason}</p>
  if (isLimited) return <DelegatedPages />
  return (
    <ErrorBoundary address={path}>
      <Suspense fallback={<Skeleton />}>
        <Switch>
          <Route path="/:project/:environment/questions/*?">
            <QuestionPage />
          </Route>
          <Route path="/:project/:environment/groups/*?">
            <GroupPages />
          </Route>
          <Route path="/:project/:environment/model/*?">
            <ModelPages />
          </Route>
          <Route path="/:project/:environment/access/*?">
            <AccessPages />
          </Route>
          <Route path="/:project/:environment/operations/*?">
            <OperationPages />
          </Route>
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Suspense>
    </ErrorBoundary>
  )
}
