/**
 * Group pages: the tree of groups and, next to it, the selected group. A narrow screen shows only one of them
 * at a time.
 */
import '../styles/groups.css'
import { useState } from 'react'
import { Route, Switch } from 'wouter'
import { Page } from '../parts/page.tsx'
import { partOf, USERS } from '../shell/address.ts'
import { NotFound } from '../shell/not-found.tsx'
import { useTexts } from '../texts/texts.tsx'
import { GroupTree, type TreeState, UNTOUCHED } from './group-tree.tsx'
import { GroupView } from './group-view.tsx'
import { useIsNarrow } from './narrow.ts'
import { UserView } from './user-view.tsx'

const BASE = '/:project/:environment/groups'

export default function GroupPages() {
  const isNarrow = useIsNarrow()
  // State of the tree: the expanded rows and the search text. It is held here so that it is kept while the
  // user views a group.
  const [tree, setTree] = useState<TreeState>(UNTOUCHED)
  return (
    <Switch>
      <Route path={BASE}>{() => <Chooser tree={tree} setTree={setTree} isNarrow={isNarrow} />}</Route>
      <Route path={`${BASE}/${USERS}/:user`}>
        {({ user }) => <UserView key={user} user={partOf(user)} />}
      </Route>
      <Route path={`${BASE}/:group/:part?`}>
        {({ group, part }) => (
          <div className="groups">
            {isNarrow ? null : <GroupTree chosen={partOf(group)} state={tree} onChange={setTree} />}
            <GroupView key={group} reference={partOf(group)} part={part ?? 'members'} isNarrow={isNarrow} />
          </div>
        )}
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  )
}

/** Shown if no group is selected. */
function Chooser({
  tree,
  setTree,
  isNarrow,
}: {
  readonly tree: TreeState
  readonly setTree: (state: TreeState) => void
  readonly isNarrow: boolean
}) {
  const texts = useTexts().groups
  const list = <GroupTree chosen={null} state={tree} onChange={setTree} />
  const page = (
    <Page title={texts.title} lead={texts.lead}>
      {isNarrow ? list : <div className="empty">{texts.choose}</div>}
    </Page>
  )
  if (isNarrow) return page
  return (
    <div className="groups">
      {list}
      {page}
    </div>
  )
}
