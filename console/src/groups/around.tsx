/** The groups that a group is in. */
import type { Pages } from '../interface/pages.ts'
import { useTexts } from '../texts/texts.tsx'
import { type GroupLink, referenceOf } from './group-calls.ts'
import { LinksTable } from './links-table.tsx'
import { NestDialog } from './nesting-dialogs.tsx'
import { Part, type PartOfGroup } from './part.tsx'

export function Around({
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
      title={texts.parts.around}
      lead={texts.aroundLead(name)}
      action={<NestDialog group={group} isOuter={false} />}
    >
      <LinksTable
        label={texts.aroundOf(name)}
        empty={texts.noneAround}
        pages={pages}
        nesting={row => ({ child: name, parent: row })}
        onGone={onGone}
      />
    </Part>
  )
}
