/**
 * Pages about access. One lists the resources that a user can act on, one lists the users who can act on a
 * resource, and one is the audit log. Each page has its own address.
 */
import { lazy, Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { Skeleton } from '../parts/paged-table.tsx'
import { NotFound } from '../shell/not-found.tsx'
import '../styles/access.css'

const UserPage = lazy(() => import('./user-page.tsx'))
const ResourcePage = lazy(() => import('./resource-page.tsx'))
const AuditPage = lazy(() => import('./audit/audit-page.tsx'))

export default function AccessPages() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Switch>
        <Route path="/:project/:environment/access">
          <UserPage />
        </Route>
        <Route path="/:project/:environment/access/users/*?">
          <UserPage />
        </Route>
        <Route path="/:project/:environment/access/resources/*?">
          <ResourcePage />
        </Route>
        <Route path="/:project/:environment/access/audit/*?">
          <AuditPage />
        </Route>
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Suspense>
  )
}
