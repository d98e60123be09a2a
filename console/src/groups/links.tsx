/**
 * Lists of the groups that are nested in the selected group and of its parent groups, with expiration times
 * and actions.
 */
import { Link } from 'wouter'
import type { Pages } from '../interface/pages.ts'
import { EndText } from '../parts/ends.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { EndDialog } from './end-dialog.tsx'
import { type GroupLink, type Nesting, referenceOf, useGroupCalls } from './group-calls.ts'
import { MoveDialog, NestDialog } from './nesting-dialogs.tsx'
import { Part, type PartOfGroup } from './part.tsx'
import { RemoveDialog } from './remove-dialog.tsx'

export function Links({
  group,
  heading,
  onGone,
  pages,
  isOuter,
}: PartOfGroup & {
  readonly pages: Pages<GroupLink>
  /** True if the listed groups are nested in `group`. False if `group` is nested in the listed groups. */
  readonly isOuter: boolean
}) {
  const texts = useTexts().groups
  const name = referenceOf(group)
  const labels = isOuter
    ? { title: texts.parts.inside, lead: texts.insideLead, label: texts.insideOf, empty: texts.noneInside }
    : { title: texts.parts.around, lead: texts.aroundLead, label: texts.aroundOf, empty: texts.noneAround }
  return (
    <Part
      heading={heading}
      title={labels.title}
      lead={labels.lead(name)}
      action={<NestDialog group={group} isOuter={isOuter} />}
    >
      <LinksTable
        label={labels.label(name)}
        empty={labels.empty}
        pages={pages}
        nesting={row => (isOuter ? { child: row, parent: name } : { child: name, parent: row })}
        onGone={onGone}
      />
    </Part>
  )
}

function LinksTable({
  label,
  empty,
  pages,
  nesting,
  onGone,
}: {
  readonly label: string
  readonly empty: string
  readonly pages: Pages<GroupLink>
  /** Returns the outer and the inner group for the group in a row. */
  readonly nesting: (row: string) => Nesting
  readonly onGone: () => void
}) {
  const all = useTexts()
  const texts = all.groups
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  return (
    <PagedTable
      label={label}
      pages={pages}
      rowKey={({ id }) => id}
      empty={empty}
      columns={[
        {
          id: 'group',
          header: texts.group,
          cell: link => <Link href={environment.to('groups', referenceOf(link))}>{referenceOf(link)}</Link>,
        },
        { id: 'end', header: all.parts.ends, cell: ({ expires_at }) => <EndText end={expires_at} /> },
        {
          id: 'actions',
          header: texts.actions,
          isActions: true,
          cell: link => {
            const nested = nesting(referenceOf(link))
            const { child, parent } = nested
            const end = link.expires_at ?? null
            const granted = { what: texts.placeIn(child, parent), end, grant: calls.nesting(nested) }
            return (
              <>
                <EndDialog {...granted} />
                <MoveDialog nesting={nested} end={end} tenant={link.group_tenant} onGone={onGone} />
                <RemoveDialog
                  {...granted}
                  label={texts.unnest(child, parent)}
                  sentence={texts.unnestSentence(child, parent)}
                  message={texts.unnested(child, parent)}
                  onGone={onGone}
                />
              </>
            )
          },
        },
      ]}
    />
  )
}
