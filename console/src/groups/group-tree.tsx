/**
 * Tree of nested groups. Top-level groups are loaded first and nested groups when their row is expanded, in
 * pages. A search queries the service and lists the results without nesting. A group with several parents
 * appears several times, so a row is identified by its path from the top.
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
import { useDebounced } from '../parts/debounce.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useSpoken, useTexts } from '../texts/texts.tsx'
import { chainOf, useAncestors } from './ancestors.ts'
import { useCompletions } from './completions.ts'
import { type Group, type GroupLink, referenceOf, useGroupCalls } from './group-calls.ts'
import { NewGroup } from './new-group.tsx'

export interface TreeState {
  readonly search: string
  readonly tenant: string
  /** Paths of the expanded rows. */
  readonly open: ReadonlySet<string>
}

export const UNTOUCHED: TreeState = { search: '', tenant: '', open: new Set() }

/** Separator between the groups of a path. No key contains it. */
const STEP = '\u001f'
/** Suffix of a path: the row that loads more groups. */
const MORE = `${STEP}${STEP}more`

/**
 * Change events that affect the tree: groups that are created or deleted, and groups that are nested in
 * others.
 */
const NOUNS = ['resource_instance', 'relationship_tuple'] as const

interface Drawing {
  readonly open: ReadonlySet<string>
  /** Path of the row to scroll into view once it is rendered; null if there is none. */
  readonly toShow: { current: string | null }
  /** Functions that load more groups, by the path of the row. */
  readonly loaders: Map<string, () => void>
}

export function GroupTree({
  chosen,
  state,
  onChange,
}: {
  /** The group that is displayed next to the tree. */
  readonly chosen: string | null
  readonly state: TreeState
  readonly onChange: (state: TreeState) => void
}) {
  const texts = useTexts().groups
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  const [, go] = useLocation()
  const search = useDebounced(state.search).trim()
  const tenant = useDebounced(state.tenant).trim()
  const [lastWay, setLastWay] = useState<string | null>(null)
  const loaders = useMemo(() => new Map<string, () => void>(), [])
  const top = usePages(environment.key(NOUNS, 'groups', 'top', search, tenant), (page, signal) =>
    calls.list(
      {
        ...page,
        // The total requires reading the whole list, so it is requested only for a search, which does so
        // anyway.
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
    // Search results are listed without nesting, so they have no path in the tree.
    setLastWay(isSearch ? null : way)
    go(environment.to('groups', way.split(STEP).at(-1)!))
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
  // Expands the tree down to the selected group if the user opened it in another way.
  useEffect(() => {
    if (chosen === null || chosenWay !== null || chain === undefined || isSearch) return
    reveal([...chainOf(chain).flatMap(([first = '']) => first), chosen].join(STEP))
    // Runs once per group and chain, so that a row that the user collapses stays collapsed.
  }, [chosen, chain, isSearch])
  // After a search, the tree starts again at its top.
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

/** Scrolls its row into view if it is the one in `toShow`. */
function Sight({ way, toShow }: { readonly way: string } & Pick<Drawing, 'toShow'>) {
  const mark = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (toShow.current !== way) return
    toShow.current = null
    mark.current?.closest('[role=row]')?.scrollIntoView({ block: 'nearest' })
  })
  return <span ref={mark} />
}

/**
 * A row can be expanded only if it has a child row. Until the children are loaded, this placeholder is shown.
 */
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

/** The groups nested in an expanded group. */
function Inside({ reference, way, drawing }: BranchLook) {
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  const pages = usePages(environment.key(NOUNS, 'groups', 'inside', reference), (page, signal) =>
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

/** Row that shows that more groups exist, that they are loading, or why loading failed. */
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

/** Shown only if there are several tenants. */
function TenantFilter({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const texts = useTexts().groups
  const { path, key } = useCurrentEnvironment()
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
