/**
 * The selected group: its position, the access of its members, and lists of its members, nested groups, roles
 * and parent groups.
 */
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { Link } from 'wouter'
import { LogLink } from '../access/audit/log-link.tsx'
import { usePages } from '../interface/pages.ts'
import { ActionLink } from '../parts/action.tsx'
import { Badge, Page } from '../parts/page.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useSpoken, useTexts } from '../texts/texts.tsx'
import { DeleteGroup } from './delete-group.tsx'
import { Grants } from './grants.tsx'
import { type Group, referenceOf, useGroupCalls } from './group-calls.ts'
import { Links } from './links.tsx'
import { Members } from './members.tsx'
import { Overview } from './overview.tsx'

const PARTS = ['members', 'inside', 'roles', 'around'] as const

export function GroupView({
  reference,
  part,
  isNarrow,
}: {
  readonly reference: string
  readonly part: string
  readonly isNarrow: boolean
}) {
  const texts = useTexts().groups
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  const { data, error } = useQuery({
    queryKey: environment.key('resource_instance', 'groups', 'one', reference),
    queryFn: ({ signal }) => calls.read(reference, signal),
  })
  const back = isNarrow ? (
    <ActionLink to={environment.to('groups')} kind="quiet">
      ‹ {texts.back}
    </ActionLink>
  ) : null
  // If the group was deleted in the meantime, the cached data must not be shown.
  if (error !== null || data === undefined) {
    return (
      <Page title={reference} actions={back}>
        {error === null ? <Skeleton /> : <ProblemNote error={error} />}
      </Page>
    )
  }
  return <Shown group={data} part={part} back={back} />
}

function Shown({
  group,
  part,
  back,
}: {
  readonly group: Group
  readonly part: string
  readonly back: React.ReactNode
}) {
  const { texts: all, number } = useSpoken()
  const texts = all.groups
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  const name = referenceOf(group)
  const heading = useRef<HTMLHeadingElement>(null)
  const members = usePages(environment.key('role_assignment', 'groups', 'members', name), (page, signal) =>
    calls.members(name, page, signal),
  )
  const nested = ['resource_instance', 'relationship_tuple'] as const
  const inside = usePages(environment.key(nested, 'groups', 'inside', name), (page, signal) =>
    calls.children(name, page, signal),
  )
  const roles = usePages(environment.key(nested, 'groups', 'roles', name), (page, signal) =>
    calls.roles(name, page, signal),
  )
  const around = usePages(environment.key(nested, 'groups', 'around', name), (page, signal) =>
    calls.parents(name, page, signal),
  )
  const totals = { members, inside, roles, around }
  // Moves the focus to the heading of the list when a row with the focused button was removed.
  const onGone = (): void => heading.current?.focus()
  const shown = { group, heading, onGone }
  return (
    <Page
      title={name}
      lead={
        <span className="row">
          <Badge>{texts.inTenant(group.group_tenant)}</Badge>
        </span>
      }
      actions={
        <>
          {back}
          <LogLink about="group" named={name} />
          <DeleteGroup
            group={group}
            counts={{
              members: members.total ?? 0,
              roles: roles.total ?? 0,
              inside: inside.total ?? 0,
              around: around.total ?? 0,
            }}
          />
        </>
      }
    >
      <Overview group={group} />
      <nav className="tabs" aria-label={texts.partsOf(name)}>
        {PARTS.map(each => (
          <Link
            key={each}
            href={each === 'members' ? environment.to('groups', name) : environment.to('groups', name, each)}
            {...(each === part ? { 'aria-current': 'page' } : {})}
          >
            {texts.parts[each]}
            {totals[each].total === null ? null : <span className="soft"> {number(totals[each].total)}</span>}
          </Link>
        ))}
      </nav>
      {part === 'inside' ? (
        <Links {...shown} pages={inside} isOuter />
      ) : part === 'roles' ? (
        <Grants {...shown} pages={roles} />
      ) : part === 'around' ? (
        <Links {...shown} pages={around} isOuter={false} />
      ) : (
        <Members {...shown} pages={members} />
      )}
    </Page>
  )
}
