/**
 * Converts actions and attributes in a resource's body to records. Existing parts keep their ids (native.md
 * B.4).
 */
import { ACTION } from '#entities/action.ts'
import { ATTRIBUTE } from '#entities/attribute.ts'
import { recordFrom } from '#entities/entity.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import type { ActionRecord, AttributeRecord } from '#entities/records.ts'
import type { ActionBlock, AttributeBlock } from '#entities/resource.ts'

/** The name of an action defaults to its key (native.md D-30). */
export function actionsOf(
  context: WriteContext,
  blocks: Readonly<Record<string, ActionBlock>>,
  existing: readonly ActionRecord[],
): ActionRecord[] {
  return merged(context, existing, blocks, (key, block) => ({
    key,
    ...recordFrom(ACTION, { ...block, name: block.name ?? key }),
  }))
}

export function attributesOf(
  context: WriteContext,
  blocks: Readonly<Record<string, AttributeBlock>>,
  existing: readonly AttributeRecord[],
): AttributeRecord[] {
  return merged(context, existing, blocks, (key, block) => ({ key, ...recordFrom(ATTRIBUTE, block) }))
}

interface BlockRecord {
  readonly id: string
  readonly key: string
  readonly createdAt: number
  readonly updatedAt: number
}

/** One record per block: existing parts first, in creation order, followed by new ones. */
function merged<Block, Fields extends { readonly key: string }, Existing extends Fields & BlockRecord>(
  context: WriteContext,
  existing: readonly Existing[],
  blocks: Readonly<Record<string, Block>>,
  fieldsOf: (key: string, block: Block) => Fields,
): (Fields & BlockRecord)[] {
  const wanted = new Map(Object.entries(blocks))
  const kept = existing.flatMap(({ id, key, createdAt }) => {
    const block = wanted.get(key)
    if (block === undefined) return []
    wanted.delete(key)
    return [{ ...fieldsOf(key, block), id, createdAt, updatedAt: context.now }]
  })
  const added = [...wanted].map(([key, block]) => ({
    ...fieldsOf(key, block),
    id: context.newId(),
    createdAt: context.now,
    updatedAt: context.now,
  }))
  return [...kept, ...added]
}
