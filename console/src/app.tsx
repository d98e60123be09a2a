/** The console: who is signed in sees the pages, anybody else the place to sign in. Addresses are behind `#`, which no server sees. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, Suspense, useEffect } from 'react'
import { Redirect, Route, Router, Switch, useLocation } from 'wouter'
import { Problem } from './interface/problem.ts'
import { MishapBoundary } from './parts/mishap.tsx'
import { Skeleton } from './parts/paged-table.tsx'
import { forgetSaid, Toasts } from './parts/toasts.tsx'
import { useSession } from './session/session.ts'
import { SignIn } from './session/sign-in.tsx'
import { hashOf, partOf, useEscapedAddress } from './shell/address.ts'
import { Entrance } from './shell/entrance.tsx'
import { Frame } from './shell/frame.tsx'
import { LeaveQuestion } from './shell/leave-question.tsx'
import { NotFound } from './shell/not-found.tsx'
import { PlainFrame } from './shell/plain-frame.tsx'
import { PlaceProvider } from './shell/place.tsx'
import { TextsProvider } from './texts/texts.tsx'

const AccessPages = lazy(() => import('./access/access-pages.tsx'))
const GroupPages = lazy(() => import('./groups/group-pages.tsx'))
const ModelPages = lazy(() => import('./model/model-pages.tsx'))
const OperationPages = lazy(() => import('./operations/operation-pages.tsx'))
const QuestionPage = lazy(() => import('./questions/question-page.tsx'))

/** An error that the interface says is not asked for again: it would say the same. */
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
  // What one key may see, another one may not.
  useEffect(
    () => () => {
      queries.clear()
      forgetSaid()
    },
    [key],
  )
  if (key === null) return <SignIn />
  return (
    <Switch>
      <Route path="/">
        <Entrance />
      </Route>
      {/* No project has such a key. */}
      <Route path="/~/operations/*?">
        <PlainFrame>
          <Suspense fallback={<Skeleton />}>
            <OperationPages />
          </Suspense>
        </PlainFrame>
      </Route>
      <Route path="/:project/:environment/*?">
        {({ project, environment }) => (
          // Of another environment nothing stays on the screen, no list that is shown until the next is there either.
          <PlaceProvider
            key={`${project}/${environment}`}
            project={partOf(project)}
            environment={partOf(environment)}
          >
            <Frame>
              <Pages />
            </Frame>
          </PlaceProvider>
        )}
      </Route>
      <Route>
        <Redirect to="/" replace />
      </Route>
    </Switch>
  )
}

/** The pages of an environment. Each folder of pages is loaded when it is opened. */
function Pages() {
  const [path] = useLocation()
  return (
    <MishapBoundary place={path}>
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
    </MishapBoundary>
  )
}
