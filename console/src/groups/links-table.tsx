/** Groups that are in the chosen one, or around it: where each leads, when that ends, and what can be done. */
import { Link } from 'wouter'
import type { Pages } from '../interface/pages.ts'
import { EndText } from '../parts/ends.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { usePlace } from '../shell/place.tsx'
import { useTexts } from '../texts/texts.tsx'
import { EndDialog } from './end-dialog.tsx'
import { type GroupLink, referenceOf, useGroupCalls } from './group-calls.ts'
import { MoveDialog, nestingEnd } from './nesting-dialogs.tsx'
import { RemoveDialog } from './remove-dialog.tsx'

export function LinksTable({
  label,
  empty,
  pages,
  nesting,
  onGone,
}: {
  readonly label: string
  readonly empty: string
  readonly pages: Pages<GroupLink>
  /** Which of the two is inside, given the one of the row. */
  readonly nesting: (row: string) => { readonly child: string; readonly parent: string }
  readonly onGone: () => void
}) {
  const all = useTexts()
  const texts = all.groups
  const place = usePlace()
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
          cell: link => <Link href={place.to('groups', referenceOf(link))}>{referenceOf(link)}</Link>,
        },
        { id: 'end', header: all.parts.ends, cell: ({ expires_at }) => <EndText end={expires_at} /> },
        {
          id: 'actions',
          header: texts.actions,
          isActions: true,
          cell: link => {
            const { child, parent } = nesting(referenceOf(link))
            const end = link.expires_at
            return (
              <>
                <EndDialog
                  what={texts.placeIn(child, parent)}
                  end={end}
                  read={() => nestingEnd(calls, parent, child)}
                  onChange={changed => calls.nest(parent, child, changed)}
                />
                <MoveDialog
                  child={child}
                  parent={parent}
                  end={end}
                  tenant={link.group_tenant}
                  onGone={onGone}
                />
                <RemoveDialog
                  label={texts.unnest(child, parent)}
                  sentence={texts.unnestSentence(child, parent)}
                  said={texts.unnested(child, parent)}
                  read={() => nestingEnd(calls, parent, child)}
                  make={() => calls.unnest(parent, child)}
                  undo={() => calls.nest(parent, child, end)}
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
