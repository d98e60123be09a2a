/**
 * Root component of the console. Users who are signed in see the pages, and other users see the sign-in form.
 * Addresses are in the fragment after `#`, which browsers do not send to servers.
 */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, Suspense, useEffect } from 'react'
import { Redirect, Route, Router, Switch, useLocation } from 'wouter'
import { Problem } from './interface/problem.ts'
import { ErrorBoundary } from './parts/error-boundary.tsx'
import { Skeleton } from './parts/paged-table.tsx'
import { clearNotifications, Toasts } from './parts/toasts.tsx'
import { useTooLow } from './session/level.ts'
import { useSession } from './session/session.ts'
import { SignIn } from './session/sign-in.tsx'
import { TooLow } from './session/too-low.tsx'
import { hashOf, partOf, useEscapedAddress } from './shell/address.ts'
import { EnvironmentPicker } from './shell/environment-picker.tsx'
import { Frame } from './shell/frame.tsx'
import { LeaveQuestion } from './shell/leave-question.tsx'
import { NotFound } from './shell/not-found.tsx'
import { PlainFrame } from './shell/plain-frame.tsx'
import { CurrentEnvironmentProvider } from './shell/current-environment.tsx'
import { TextsProvider } from './texts/texts.tsx'

const AccessPages = lazy(() => import('./access/access-pages.tsx'))
const GroupPages = lazy(() => import('./groups/group-pages.tsx'))
const ModelPages = lazy(() => import('./model/model-pages.tsx'))
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
  const { key } = useSession()
  // Clears the cache when the key changes, because different keys can see different data.
  useEffect(
    () => () => {
      queries.clear()
      clearNotifications()
    },
    [key],
  )
  if (key === null) return <SignIn />
  return <AllPages />
}

function AllPages() {
  const reason = useTooLow('read')
  if (reason !== null) return <TooLow reason={reason} />
  return (
    <Switch>
      <Route path="/">
        <EnvironmentPicker />
      </Route>
      {/* Organization keys do not belong to a project, so this address has no project and environment. */}
      <Route path="/~/operations/*?">
        <PlainFrame>
          <Suspense fallback={<Skeleton />}>
            <OperationPages />
          </Suspense>
        </PlainFrame>
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

/**
 * Shows the page of the environment that belongs to the address. The code of each group of pages is loaded
 * when the user opens one of them.
 */
function Pages() {
  const [path] = useLocation()
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
