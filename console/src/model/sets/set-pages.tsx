/** Routes of the condition set pages: the list, a page per set, and a page for a new set. */
import { lazy } from 'react'
import { Route, Switch } from 'wouter'
import { NEW, partOf } from '../../shell/address.ts'
import { SetListPage } from './set-list-page.tsx'
import '../../styles/model-sets.css'

const NewSetPage = lazy(() => import('./new-set-page.tsx'))
const SetPage = lazy(() => import('./set-page.tsx'))

export default function SetPages() {
  return (
    <Switch>
      <Route path="/:project/:environment/model/sets">
        <SetListPage />
      </Route>
      <Route path={`/:project/:environment/model/sets/${NEW}`}>
        <NewSetPage />
      </Route>
      <Route path="/:project/:environment/model/sets/:key">
        {({ key }) => <SetPage key={key} setKey={partOf(key)} />}
      </Route>
    </Switch>
  )
}
