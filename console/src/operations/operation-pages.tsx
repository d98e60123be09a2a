/**
 * Pages for operators. Each page shows one environment, or the service as a whole (`/~/operations`).
 */
import { Route, Switch } from 'wouter'
import { NotFound } from '../shell/not-found.tsx'
import { KeysPage } from './keys/keys-page.tsx'
import { OperationsPage } from './operations-page.tsx'
import '../styles/operations.css'

export default function OperationPages() {
  return (
    <Switch>
      <Route path="/*/operations/keys">
        <KeysPage />
      </Route>
      <Route path="/*/operations">
        <OperationsPage />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  )
}
