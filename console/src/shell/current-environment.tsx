/**
 * The environment of the page. It provides the path parameters for the API and the links within the
 * environment.
 */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { type Query, useQueryClient } from '@tanstack/react-query'
import { followChanges, type LiveState } from '../interface/live.ts'
import { Problem } from '../interface/problem.ts'
import { includes, useHeld } from '../session/held.ts'
import { escaped } from './address.ts'

export interface CurrentEnvironment {
  readonly project: string
  readonly environment: string
  /** Path parameters of the environment in the API. */
  readonly path: { readonly proj_id: string; readonly env_id: string }
  /**
   * Header that selects the environment for decisions of a member. Requests with a key ignore it, because the
   * key determines the environment.
   */
  readonly header: { readonly 'X-Verdict-Environment': string }
  /** Address of a page in this environment: `to('groups', key)`. */
  readonly to: (...parts: readonly string[]) => string
  /**
   * Query key for data of this environment. It starts with one or more nouns, such as `role_assignment`. If
   * an entity of such a kind changes, the data becomes stale.
   */
  readonly key: (noun: Noun | readonly Noun[], ...rest: readonly unknown[]) => readonly unknown[]
  /** State of the change stream that delivers changes by other users. */
  readonly live: LiveState
}

/**
 * Subject of a query. The nouns are the kinds of entities in the change stream. `any`: every change makes the
 * data stale. `none`: no change makes it stale.
 */
type Noun =
  | 'user'
  | 'tenant'
  | 'resource_instance'
  | 'role_assignment'
  | 'relationship_tuple'
  | 'resource'
  | 'role'
  | 'relation'
  | 'condition_set'
  | 'set_rule'
  | 'any'
  | 'none'

const CurrentEnvironmentContext = createContext<CurrentEnvironment | null>(null)

/**
 * Changes within this time cause a single reload. If changes continue, the time increases up to the maximum.
 */
const TOGETHER_MS = 300
const TOGETHER_MS_MAX = 5000

export function CurrentEnvironmentProvider({
  project,
  environment,
  children,
}: {
  readonly project: string
  readonly environment: string
  readonly children: ReactNode
}) {
  const held = useHeld(useMemo(() => ({ project, environment }), [project, environment]))
  const live = useLiveQueries(project, environment, held === null || includes(held.level, 'read'))
  const current = useMemo(
    (): CurrentEnvironment => ({
      project,
      environment,
      path: { proj_id: project, env_id: environment },
      header: {
        'X-Verdict-Environment': [project, environment].map(encodeURIComponent).join('/'),
      },
      to: (...parts) => `/${[project, environment, ...parts].map(escaped).join('/')}`,
      key: (noun, ...rest) => ['environment', project, environment, noun, ...rest],
      live,
    }),
    [project, environment, live],
  )
  return <CurrentEnvironmentContext value={current}>{children}</CurrentEnvironmentContext>
}

/** The environment of the page. Null if the page is not about an environment. */
export function useCurrentEnvironmentIfAny(): CurrentEnvironment | null {
  return useContext(CurrentEnvironmentContext)
}

export function useCurrentEnvironment(): CurrentEnvironment {
  const current = useContext(CurrentEnvironmentContext)
  if (current === null) throw new Error('this page is about an environment')
  return current
}

/** Reloads the data on the screen when the environment changes. Returns the state of the change stream. */
function useLiveQueries(project: string, environment: string, isFollowed: boolean): LiveState {
  const [state, setState] = useState<LiveState>('connecting')
  const queries = useQueryClient()
  useEffect(() => {
    // A level below `read` gets no stream.
    if (!isFollowed) return setState('off')
    const ended = new AbortController()
    const changed = new Set<string | null>()
    let timer: ReturnType<typeof setTimeout> | null = null
    let pauseMs = TOGETHER_MS
    const reload = async (): Promise<void> => {
      const nouns = new Set(changed)
      changed.clear()
      await queries.invalidateQueries({
        predicate: ({ queryKey: [scope, itsProject, itsEnvironment, noun] }) =>
          scope === 'environment' &&
          itsProject === project &&
          itsEnvironment === environment &&
          noun !== 'none' &&
          (nouns.has(null) || noun === 'any' || [noun].flat().some(each => nouns.has(String(each)))),
      })
      timer = null
      pauseMs = changed.size > 0 ? Math.min(pauseMs * 2, TOGETHER_MS_MAX) : TOGETHER_MS
      if (changed.size > 0 && !ended.signal.aborted) reloadSoon()
    }
    // The next reload starts after the previous one is complete. If changes never stopped, each reload would
    // otherwise be canceled before its responses arrive.
    const reloadSoon = (): void => {
      timer ??= setTimeout(() => void reload(), pauseMs)
    }
    const onChange = (noun: string | null): void => {
      changed.add(noun)
      reloadSoon()
    }
    const onState = (now: LiveState): void => {
      setState(now)
      // The stream works again, so the service is available. Queries that failed are retried.
      if (now === 'live') void queries.refetchQueries({ type: 'active', predicate: hasFailed })
    }
    void followChanges({ project, environment }, { signal: ended.signal, onChange, onState })
    return () => {
      ended.abort()
      if (timer !== null) clearTimeout(timer)
    }
  }, [project, environment, isFollowed, queries])
  return state
}

function hasFailed({ state: { error } }: Query): boolean {
  return error !== null && !(error instanceof Problem && error.isRefusal)
}
