/**
 * The model pages: graph of types, permission matrix, condition sets and model file. Each page has its own
 * address, and its code is loaded when the user opens it.
 */
import { lazy, Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { Skeleton } from '../parts/paged-table.tsx'
import { partOf } from '../shell/address.ts'
import { NotFound } from '../shell/not-found.tsx'
import '../styles/model.css'

const GraphPage = lazy(() => import('./graph/graph-page.tsx'))
const MatrixPage = lazy(() => import('./matrix/matrix-page.tsx'))
const SetPages = lazy(() => import('./sets/set-pages.tsx'))
const ModelFilePage = lazy(() => import('./file/model-file-page.tsx'))

/**
 * A single route matches addresses with and without a selected type, so that the graph is not mounted again
 * when the selection changes.
 */
const GRAPH = /^\/[^/]+\/[^/]+\/model(?:\/types\/(?<type>[^/]+))?\/?$/

export default function ModelPages() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Switch>
        <Route path={GRAPH}>
          {({ type }) => <GraphPage chosen={type === undefined ? null : partOf(type)} />}
        </Route>
        <Route path="/:project/:environment/model/matrix/:type?">
          {({ type }) => <MatrixPage key={type ?? ''} type={type === undefined ? null : partOf(type)} />}
        </Route>
        <Route path="/:project/:environment/model/sets/*?">
          <SetPages />
        </Route>
        <Route path="/:project/:environment/model/file">
          <ModelFilePage />
        </Route>
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Suspense>
  )
}
