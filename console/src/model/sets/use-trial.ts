/**
 * Tries a condition set while it is edited. Returns the errors in its conditions and its results for samples.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, type Schemas, service } from '../../interface/client.ts'
import { parsedJson } from '../../interface/json.ts'
import { useDebounced } from '../../parts/debounce.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { readJson, readObject, type SetDraft } from './set-draft.ts'

/** Time in milliseconds for which the user must stop typing before the text is tried. */
const PAUSE_MS = 300

/** Kinds of changes that can affect the results of samples. */
const TRIED_NOUNS = ['user', 'resource_instance', 'tenant', 'role_assignment', 'condition_set'] as const

export type TriedSample = Schemas['TryConditionSetAnswerSamplesItem']

export interface SampleDraft {
  readonly id: number
  readonly user: string
  readonly instance: string
  /** Attributes as JSON text. Empty if there are none. */
  readonly attributes: string
}

/** Values that all samples share. */
export interface Surroundings {
  readonly tenant: string
  /** Context as JSON text. Empty if there is none. */
  readonly context: string
}

export interface ConditionFinding {
  /** Path in the conditions. If the text is not valid JSON, the offset of the error in the text. */
  readonly place: readonly (string | number)[] | number
  readonly message: string
}

export interface UsedTrial {
  /** Findings about the current text. Null while the text is being checked. */
  readonly findings: readonly ConditionFinding[] | null
  readonly warnings: readonly string[]
  /** Results of the samples, in the order of the request. Null if there are no results yet. */
  readonly samples: readonly TriedSample[] | null
  /** Whether the result is about the current draft and the current samples. */
  readonly isCurrent: boolean
  readonly error: Error | null
}

/** `savedKey` is the key of a saved set, or null for a new set. */
export function useTrial(
  draft: SetDraft,
  savedKey: string | null,
  samples: readonly SampleDraft[],
  surroundings: Surroundings,
): UsedTrial {
  const environment = useCurrentEnvironment()
  const texts = useTexts().model.sets.editor
  const asked = useMemo(
    () => requestOf(draft, savedKey, samples, surroundings),
    [draft, savedKey, samples, surroundings],
  )
  const debounced = useDebounced(asked.body ?? '', PAUSE_MS)
  const query = useQuery({
    queryKey: environment.key(TRIED_NOUNS, 'condition-set-trial', debounced),
    queryFn: ({ signal }) =>
      answerOf(
        service.POST('/v2/schema/{proj_id}/{env_id}/condition_sets/try', {
          params: { path: environment.path },
          body: parsedJson(debounced) as Schemas['TryConditionSetBody'],
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    enabled: debounced !== '',
  })
  const isCurrent = debounced === asked.body && !query.isPlaceholderData && query.data !== undefined
  const data = query.data
  const findings = useMemo((): readonly ConditionFinding[] | null => {
    if (asked.faultAt !== null) return [{ place: asked.faultAt, message: texts.noJson }]
    if (!isCurrent || data === undefined) return null
    return data.findings.map(({ loc, msg }) => ({ place: loc.slice(2), message: msg }))
  }, [asked.faultAt, isCurrent, data, texts])
  return {
    findings,
    warnings: data?.warnings.map(({ msg }) => msg) ?? [],
    samples: asked.faultAt === null ? (data?.samples ?? null) : null,
    isCurrent,
    error: debounced === asked.body ? query.error : null,
  }
}

function requestOf(
  draft: SetDraft,
  savedKey: string | null,
  samples: readonly SampleDraft[],
  { tenant, context }: Surroundings,
): { readonly body: string | null; readonly faultAt: number | null } {
  const read = readJson(draft.text)
  if ('faultAt' in read) return { body: null, faultAt: read.faultAt }
  const body = {
    ...(savedKey === null
      ? {
          type: draft.type,
          ...(draft.type === 'resourceset' && draft.resource !== '' && { resource_id: draft.resource }),
        }
      : { key: savedKey }),
    conditions: read.value,
    parent_id: draft.parent === '' ? null : draft.parent,
    samples: samples.map(({ user, instance, attributes }) => ({
      ...(user !== '' && { user }),
      // An incomplete reference to an instance is omitted, because the service would reject it.
      ...(/^[^:]+:.+$/.test(instance) && { resource_instance: instance }),
      ...filled('attributes', readObject(attributes)),
    })),
    ...filled('context', readObject(context)),
    ...(tenant !== '' && { tenant }),
  }
  return { body: JSON.stringify(body), faultAt: null }
}

function filled(name: string, value: object | null | undefined): object {
  return value ? { [name]: value } : {}
}
