/**
 * Page with the graph of the model and a panel about the selected type. The graph must be readable for 10
 * types as well as for 100.
 */
import { lazy, Suspense, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { Check } from '../check.tsx'
import { completeTypes } from '../../interface/completions.ts'
import { KeyInput } from '../../parts/fields.tsx'
import { Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useSpoken } from '../../texts/texts.tsx'
import { AddType } from '../dialogs/add-type.tsx'
import { ModelPage } from '../model-page.tsx'
import { MODEL_NOUNS, TYPES_MAX, useType, useTypes } from '../model-reads.ts'
import { graphOf, groupTypesOf } from './graph-model.ts'
import { Legend } from './legend.tsx'
import { TypeList } from './type-list.tsx'
import { TypePanel } from './type-panel.tsx'
import '../../styles/model-graph.css'

/** Loaded lazily, because it includes the layout library. */
const GraphCanvas = lazy(() => import('./graph-canvas.tsx'))

/** Maximum number of types for which a graph with one row per role is readable. */
const DETAILED_MAX = 24

export default function GraphPage({ chosen }: { readonly chosen: string | null }) {
  const { texts: all, number } = useSpoken()
  const texts = all.model.graph
  const environment = useCurrentEnvironment()
  const [, go] = useLocation()
  const { types: first, total, isLoading, error } = useTypes()
  // If there are too many types, the graph shows only the first types. The selected type is loaded
  // separately, so that the graph always contains it.
  const isBeyond = chosen !== null && !isLoading && first.every(({ key }) => key !== chosen)
  const { data: beyond } = useType(chosen ?? '', isBeyond)
  const types = useMemo(
    () => (isBeyond && beyond !== undefined ? [...first, beyond] : first),
    [first, isBeyond, beyond],
  )
  const [wantsRoles, setWantsRoles] = useState<boolean | null>(null)
  const [withGroups, setWithGroups] = useState(false)
  const [search, setSearch] = useState('')
  const [sought, setSought] = useState<{ readonly key: string } | null>(
    chosen === null ? null : { key: chosen },
  )
  const offered = useRef(new Set<string>())
  const isDetailed = wantsRoles ?? total <= DETAILED_MAX
  const model = useMemo(() => graphOf(types, { withGroups, isDetailed }), [types, withGroups, isDetailed])
  const groups = useMemo(() => groupTypesOf(types), [types])

  const choose = (key: string | null): void =>
    go(key === null ? environment.to('model') : environment.to('model', 'types', key))
  const seek = (typed: string): void => {
    setSearch(typed)
    if (!offered.current.has(typed)) return
    choose(typed)
    setSought({ key: typed })
  }

  return (
    <ModelPage title={texts.title} lead={texts.lead} actions={<AddType />}>
      <ProblemNote error={error} />
      {types.length === 0 && isLoading ? (
        <Skeleton />
      ) : types.length === 0 ? (
        error === null ? (
          <div className="empty">{texts.empty}</div>
        ) : null
      ) : (
        <>
          <div className="row ends">
            <div className="grow model-search">
              <KeyInput
                label={texts.find}
                value={search}
                onChange={seek}
                onChoose={seek}
                queryKey={environment.key(MODEL_NOUNS, 'type-options')}
                load={async (typed, signal) => {
                  const options = await completeTypes(environment)(typed, signal)
                  for (const { id } of options) offered.current.add(id)
                  return options
                }}
              />
            </div>
            <div className="row checks">
              <Check isOn={isDetailed} onChange={setWantsRoles}>
                {texts.withRoles}
              </Check>
              {groups.size === 0 ? null : (
                <Check isOn={withGroups} onChange={setWithGroups}>
                  {texts.withGroups([...groups].join(', '))}
                </Check>
              )}
            </div>
            <span className="soft small graph-count" role="status">
              {total > TYPES_MAX
                ? texts.tooMany(number(first.length), number(total))
                : isLoading
                  ? texts.loaded(number(types.length), number(total))
                  : texts.countOf(number(total))}
            </span>
          </div>
          <div className={`graph-with-panel ${chosen === null ? '' : 'split'}`}>
            <div className="stack tight">
              <Suspense fallback={<div className="graph-box" />}>
                <GraphCanvas
                  model={model}
                  isDetailed={isDetailed}
                  chosen={chosen}
                  sought={sought}
                  onChoose={choose}
                />
              </Suspense>
              <Legend />
            </div>
            {chosen === null ? null : <TypePanel key={chosen} type={chosen} types={types} />}
          </div>
          <TypeList types={types} />
        </>
      )}
    </ModelPage>
  )
}
