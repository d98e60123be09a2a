/** Pages about the people who can sign in, and about the groups of the issuer. */
import { Route, Switch } from 'wouter'
import { MEMBERS } from '../shell/links.ts'
import { NotFound } from '../shell/not-found.tsx'
import { GroupsPage } from './groups-page.tsx'
import { MembersPage } from './members-page.tsx'

export default function MemberPages() {
  return (
    <Switch>
      <Route path={MEMBERS}>
        <MembersPage />
      </Route>
      <Route path={`${MEMBERS}/groups`}>
        <GroupsPage />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  )
}
