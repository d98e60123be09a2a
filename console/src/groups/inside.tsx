/** The groups in a group. */
import type { Pages } from '../interface/pages.ts'
import { useTexts } from '../texts/texts.tsx'
import { type GroupLink, referenceOf } from './group-calls.ts'
import { LinksTable } from './links-table.tsx'
import { NestDialog } from './nesting-dialogs.tsx'
import { Part, type PartOfGroup } from './part.tsx'

export function Inside({
  group,
  heading,
  onGone,
  pages,
}: PartOfGroup & { readonly pages: Pages<GroupLink> }) {
  const texts = useTexts().groups
  const name = referenceOf(group)
  return (
    <Part
      heading={heading}
      title={texts.parts.inside}
      lead={texts.insideLead(name)}
      action={<NestDialog group={group} isOuter />}
    >
      <LinksTable
        label={texts.insideOf(name)}
        empty={texts.noneInside}
        pages={pages}
        nesting={row => ({ child: row, parent: name })}
        onGone={onGone}
      />
    </Part>
  )
}
