/**
 * Tree of nested groups. The top-level groups are loaded first, page by page. Nested groups are loaded when
 * the user expands their row. For a search, the service returns the matching groups, which are listed without
 * nesting. A group with several parents appears several times, so a row is identified by its path from the
 * top.
 */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Collection } from 'react-aria-components/Collection'
import { Tree, TreeItem, TreeItemContent } from 'react-aria-components/Tree'
import { useLocation } from 'wouter'
import { answerOf, service } from '../interface/client.ts'
import { type Pages, usePages } from '../interface/pages.ts'
import { Choice, KeyInput, SearchInput } from '../parts/fields.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote, useProblemText } from '../parts/problem-note.tsx'
import { useDebounced } from '../parts/debounce.ts'
import { useHeld } from '../session/held.ts'
import { useDelegation } from '../session/delegation.ts'
import { isDelegate } from '../shell/pages-of.ts'
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

/** Separator between the groups in a path. Keys never contain this character. */
const STEP = '\u001f'
/** End of the path of a row that loads more groups. */
const MORE = `${STEP}${STEP}more`

/** Kinds of changes that affect the tree: groups are created or deleted, or groups are nested in others. */
const NOUNS = ['resource_instance', 'relationship_tuple'] as const

interface Drawing {
  readonly open: ReadonlySet<string>
  /** Path of a row that must be scrolled into view after it is rendered. Null if there is none. */
  readonly toShow: { current: string | null }
  /** Functions that load more groups. The key is the path of the row. */
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
  const typedTenant = useDebounced(state.tenant).trim()
  const isLimited = isDelegate(useHeld(environment))
  // A grant that is limited to tenants permits only the list of one tenant.
  const tenants = useDelegation()?.tenants ?? []
  const tenant = typedTenant || (isLimited ? (tenants[0]?.key ?? '') : '')
  const [lastWay, setLastWay] = useState<string | null>(null)
  const loaders = useMemo(() => new Map<string, () => void>(), [])
  const top = usePages(
    environment.key(NOUNS, 'groups', 'top', search, tenant),
    (page, signal) =>
      calls.list(
        {
          ...page,
          // The service must read the whole list to compute the total. A search reads the whole list in any
          // case, so only a search requests the total.
          ...(search === '' ? { top_level: true, include_total_count: false } : { search }),
          ...(tenant !== '' && { tenant }),
        },
        signal,
      ),
    !isLimited || tenant !== '',
  )
  const toShow = useRef<string | null>(null)
  const isSearch = search !== ''
  const choose = (way: string): void => {
    if (way.endsWith(MORE)) return loaders.get(way)?.()
    // Search results have no path in the tree, because they are listed without nesting.
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
  // If the user did not open the selected group through the tree, the tree is expanded down to this group.
  useEffect(() => {
    if (chosen === null || chosenWay !== null || chain === undefined || isSearch) return
    reveal([...chainOf(chain).flatMap(([first = '']) => first), chosen].join(STEP))
    // `chosenWay` is not a dependency: the effect runs once per group and chain, so that a row that the user
    // collapses stays collapsed.
  }, [chosen, chain, isSearch])
  // When a search ends, the tree is shown from its top again. The row of the selected group is then scrolled
  // into view.
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
      {!isLimited ? (
        <TenantFilter value={state.tenant} onChange={typed => onChange({ ...state, tenant: typed })} />
      ) : tenants.length > 1 ? (
        <Choice
          label={texts.tenant}
          value={tenant}
          onChange={other => onChange({ ...state, tenant: other })}
          options={tenants.map(({ key, name }) => ({ id: key, text: name }))}
        />
      ) : null}
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

/** Marks a row. Scrolls the row into view if its path is in `toShow`. */
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
 * Children of a row. The tree component can expand a row only if it has a child, so a placeholder is shown
 * until the children are loaded.
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

/**
 * Last row of a list of groups. It shows that more groups exist, that they are being loaded, or why loading
 * failed.
 */
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

/** Filter for the tenant. It is shown only if there are several tenants. */
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
