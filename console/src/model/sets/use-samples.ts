/**
 * Samples on which a set is tried. Some stored entities are loaded as initial samples, so that results are
 * visible immediately.
 */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { completeUsers } from '../../interface/completions.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { loadInstances } from './options.ts'
import type { SetType } from './set-draft.ts'
import type { SampleDraft, Surroundings } from './use-trial.ts'

const GIVEN = 3

export interface Samples {
  readonly samples: readonly SampleDraft[]
  readonly surroundings: Surroundings
  readonly put: (id: number, fields: Partial<SampleDraft>) => void
  readonly add: () => void
  readonly remove: (id: number) => void
  readonly surround: (fields: Partial<Surroundings>) => void
}

export function useSamples(type: SetType, resource: string): Samples {
  const environment = useCurrentEnvironment()
  const { data } = useQuery({
    queryKey: environment.key('none', 'given-samples', type, resource),
    queryFn: ({ signal }) =>
      type === 'userset'
        ? completeUsers(environment)('', signal)
        : loadInstances(environment, resource)('', signal),
    retry: false,
  })
  const given = useMemo(() => {
    const keys = (data ?? []).slice(0, GIVEN).map(({ id }) => id)
    const named = keys.map((key, id) => ({
      ...emptySample(id),
      ...(type === 'userset' ? { user: key } : { instance: key }),
    }))
    return named.length === 0 ? [emptySample(0)] : named
  }, [data, type])
  /** Samples of the user. Null until the user edits a sample. */
  const [own, setOwn] = useState<readonly SampleDraft[] | null>(null)
  const [surroundings, setSurroundings] = useState<Surroundings>({ tenant: '', context: '' })
  const samples = own ?? given
  return {
    samples,
    surroundings,
    put: (id, fields) => setOwn(samples.map(each => (each.id === id ? { ...each, ...fields } : each))),
    add: () => setOwn([...samples, emptySample(Math.max(-1, ...samples.map(({ id }) => id)) + 1)]),
    remove: id => setOwn(samples.filter(each => each.id !== id)),
    surround: fields => setSurroundings({ ...surroundings, ...fields }),
  }
}

function emptySample(id: number): SampleDraft {
  return { id, user: '', instance: '', attributes: '' }
}
