/**
 * Groups in groups. What is at the top is loaded first, what is in a group when that is opened, in pages. A search asks the service and
 * shows what it finds side by side. A group that is in several others is in the tree several times: a row is known by its way from the top.
 */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Collection } from 'react-aria-components/Collection'
import { Tree, TreeItem, TreeItemContent } from 'react-aria-components/Tree'
import { useLocation } from 'wouter'
import { answerOf, service } from '../interface/client.ts'
import { type Pages, usePages } from '../interface/pages.ts'
import { KeyInput, SearchInput } from '../parts/fields.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote, useProblemText } from '../parts/problem-note.tsx'
import { useSettled } from '../parts/settled.ts'
import { usePlace } from '../shell/place.tsx'
import { useSpoken, useTexts } from '../texts/texts.tsx'
import { chainOf, useAncestors } from './ancestors.ts'
import { useCompletions } from './completions.ts'
import { type Group, type GroupLink, referenceOf, useGroupCalls } from './group-calls.ts'
import { NewGroup } from './new-group.tsx'

export interface TreeState {
  readonly search: string
  readonly tenant: string
  /** Ways of the rows that are open. */
  readonly open: ReadonlySet<string>
}

export const UNTOUCHED: TreeState = { search: '', tenant: '', open: new Set() }

/** Between the groups of a way. No key has it. */
const STEP = '\u001f'
/** At the end of a way: the row that shows more of what is there. */
const MORE = `${STEP}${STEP}more`

/** What changes the tree: groups that are made and removed, and that are put into others. */
const NOUNS = ['resource_instance', 'relationship_tuple'] as const

interface Drawing {
  readonly open: ReadonlySet<string>
  /** The way of the row that is to be brought into sight once, as soon as it is there; null: none. */
  readonly toShow: { current: string | null }
  /** How to load more, by the way of its row. */
  readonly loaders: Map<string, () => void>
}

export function GroupTree({
  chosen,
  state,
  onChange,
}: {
  /** The group that is shown beside. */
  readonly chosen: string | null
  readonly state: TreeState
  readonly onChange: (state: TreeState) => void
}) {
  const texts = useTexts().groups
  const place = usePlace()
  const calls = useGroupCalls()
  const [, go] = useLocation()
  const search = useSettled(state.search).trim()
  const tenant = useSettled(state.tenant).trim()
  const [lastWay, setLastWay] = useState<string | null>(null)
  const loaders = useMemo(() => new Map<string, () => void>(), [])
  const top = usePages(place.key(NOUNS, 'groups', 'top', search, tenant), (page, signal) =>
    calls.list(
      {
        ...page,
        // What is counted is read to its end: a search is, in any case.
        ...(search === '' ? { top_level: true, include_total_count: false } : { search }),
        ...(tenant !== '' && { tenant }),
      },
      signal,
    ),
  )
  const toShow = useRef<string | null>(null)
  const isSearch = search !== ''
  const choose = (way: string): void => {
    if (way.endsWith(MORE)) return loaders.get(way)?.()
    // What a search finds stands side by side: where that is in the tree is another matter.
    setLastWay(isSearch ? null : way)
    go(place.to('groups', way.split(STEP).at(-1)!))
  }
  const chain = useAncestors(chosen)
  const chosenWay = lastWay?.split(STEP).at(-1) === chosen ? lastWay : null
  const reveal = (way: string): void => {
    const steps = way.split(STEP)
    const above = steps.slice(1).map((_, index) => steps.slice(0, index + 1).join(STEP))
    onChange({ ...state, open: new Set([...state.open, ...above]) })
    setLastWay(way)
    toShow.current = way
  }
  // Who came by another way than the tree sees where the group is in it.
  useEffect(() => {
    if (chosen === null || chosenWay !== null || chain === undefined || isSearch) return
    reveal([...chainOf(chain).flatMap(([first = '']) => first), chosen].join(STEP))
    // Once for each group and what is above it: who closes a row finds it closed.
  }, [chosen, chain, isSearch])
  // Behind a search the tree begins anew at its top.
  useEffect(() => {
    if (!isSearch && chosenWay !== null) reveal(chosenWay)
  }, [isSearch])
  const current = chosen === null ? null : !isSearch && chosenWay !== null ? chosenWay : chosen
  const drawing: Drawing = { open: state.open, toShow, loaders }
  return (
    <section className="group-tree stack" aria-label={texts.tree}>
      <div className="row">
        <SearchInput
          label={texts.search}
          value={state.search}
          onChange={typed => onChange({ ...state, search: typed })}
        />
        <NewGroup />
      </div>
      <TenantFilter value={state.tenant} onChange={typed => onChange({ ...state, tenant: typed })} />
      {top.isLoading ? (
        <Skeleton />
      ) : top.error !== null && top.items.length === 0 ? (
        <ProblemNote error={top.error} />
      ) : top.items.length === 0 ? (
        <div className="empty">{search === '' && tenant === '' ? texts.none : texts.noneFound}</div>
      ) : (
        <Tree
          className="tree"
          aria-label={texts.tree}
          selectionMode="single"
          selectionBehavior="toggle"
          disallowEmptySelection
          selectedKeys={current === null ? [] : [current]}
          onSelectionChange={selected => {
            const [way] = selected === 'all' ? [] : selected
            if (way !== undefined) choose(String(way))
          }}
          expandedKeys={state.open}
          onExpandedChange={open => onChange({ ...state, open: new Set([...open].map(String)) })}
        >
          <Collection items={top.items} dependencies={[state.open]}>
            {group => groupRow(group, referenceOf(group), drawing)}
          </Collection>
          <LastRow way="" pages={top} loaders={loaders} />
        </Tree>
      )}
      {search !== '' || top.hasMore ? <Total pages={top} /> : null}
    </section>
  )
}

function groupRow(group: Group | GroupLink, way: string, drawing: Drawing) {
  const name = referenceOf(group)
  return (
    <TreeItem id={way} textValue={name} hasChildItems={group.has_children} className="tree-row">
      <TreeItemContent>
        {({ level, hasChildItems }) => (
          <span className="tree-cell" style={{ paddingInlineStart: `${(level - 1) * 1.15}rem` }}>
            {hasChildItems ? (
              <Button slot="chevron" className="chevron">
                <span aria-hidden="true">▸</span>
              </Button>
            ) : (
              <span className="chevron" />
            )}
            <span className="key">{name}</span>
            <Sight way={way} toShow={drawing.toShow} />
          </span>
        )}
      </TreeItemContent>
      {group.has_children ? <Below reference={name} way={way} drawing={drawing} /> : null}
    </TreeItem>
  )
}

/** Brings its row into sight, if that is the one that is to be. */
function Sight({ way, toShow }: { readonly way: string } & Pick<Drawing, 'toShow'>) {
  const mark = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (toShow.current !== way) return
    toShow.current = null
    mark.current?.closest('[role=row]')?.scrollIntoView({ block: 'nearest' })
  })
  return <span ref={mark} />
}

/** A row opens only if there is one below it: before anything is loaded, one that says so. */
function Below({ reference, way, drawing }: BranchLook) {
  const texts = useTexts().parts
  if (drawing.open.has(way)) return <Inside reference={reference} way={way} drawing={drawing} />
  return (
    <TreeItem id={`${way}${MORE}`} textValue={texts.loading}>
      <TreeItemContent>{texts.loading}</TreeItemContent>
    </TreeItem>
  )
}

interface BranchLook {
  readonly reference: string
  readonly way: string
  readonly drawing: Drawing
}

/** The groups in a group that is open. */
function Inside({ reference, way, drawing }: BranchLook) {
  const place = usePlace()
  const calls = useGroupCalls()
  const pages = usePages(place.key(NOUNS, 'groups', 'inside', reference), (page, signal) =>
    calls.children(reference, page, signal),
  )
  return (
    <>
      <Collection items={pages.items} dependencies={[drawing.open]}>
        {group => groupRow(group, `${way}${STEP}${referenceOf(group)}`, drawing)}
      </Collection>
      <LastRow way={way} pages={pages} loaders={drawing.loaders} />
    </>
  )
}

/** Says that there is more, that it is being loaded, or why it is not. */
function LastRow({
  way,
  pages,
  loaders,
}: {
  readonly way: string
  readonly pages: Pages<unknown>
  readonly loaders: Map<string, () => void>
}) {
  const texts = useTexts().parts
  const problem = useProblemText(pages.error)
  const id = `${way}${MORE}`
  if (pages.hasMore) loaders.set(id, pages.loadMore)
  const text =
    problem ?? (pages.isLoading || pages.isLoadingMore ? texts.loading : pages.hasMore ? texts.more : null)
  if (text === null) return null
  return (
    <TreeItem id={id} textValue={text} className="tree-row more">
      <TreeItemContent>
        {({ level }) => (
          <span className="tree-cell" style={{ paddingInlineStart: `${(level - 1) * 1.15}rem` }}>
            <span className="chevron" />
            {text}
          </span>
        )}
      </TreeItemContent>
    </TreeItem>
  )
}

function Total({ pages: { items, total } }: { readonly pages: Pages<unknown> }) {
  const { texts, number } = useSpoken()
  return (
    <p className="soft small" aria-live="polite">
      {items.length === 0 || total === null ? '' : texts.parts.shownOf(number(items.length), number(total))}
    </p>
  )
}

/** Only where there are several. */
function TenantFilter({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const texts = useTexts().groups
  const { path, key } = usePlace()
  const { tenants } = useCompletions()
  const { data } = useQuery({
    queryKey: key('tenant', 'several'),
    queryFn: ({ signal }) =>
      answerOf(
        service.GET('/v2/facts/{proj_id}/{env_id}/tenants', {
          params: { path, query: { page: 1, per_page: 2 } },
          signal,
        }),
      ),
  })
  const count = data === undefined ? 0 : 'data' in data ? data.data.length : data.length
  if (count < 2) return null
  return <KeyInput label={texts.tenantFilter} value={value} onChange={onChange} {...tenants} />
}
