/**
 * Stores the filters of a page in its address, so that users can share a view. The filters are in the
 * fragment after `#`, which browsers do not send to servers. Keys can contain any character. Therefore each
 * part is escaped when it is written and unescaped when it is read.
 */
import { useCallback, useMemo, useState } from 'react'
import { partOf, useAddress } from '../shell/address.ts'
import { type View, viewAddress } from '../shell/links.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'

export type Filters<Name extends string> = Readonly<Record<Name, string>>

/**
 * Number of parts of the address before the filters: `/project/environment/access/view`. The names and values
 * of the filters follow.
 */
const PARTS_BEFORE = 5

/**
 * Returns the filters in the address and a function that navigates to other filters. A filter that the
 * address does not contain is empty. `names` must not change between renders.
 */
export function useFilters<Name extends string>(
  view: View,
  names: readonly Name[],
): [Filters<Name>, (filters: Filters<Name>) => void] {
  const environment = useCurrentEnvironment()
  const [address, navigate] = useAddress()
  const filters = useMemo(() => readFilters(address, names), [address, names])
  const go = useCallback(
    (chosen: Filters<Name>) => navigate(viewAddress(environment, view, chosen)),
    [environment, view, navigate],
  )
  return [filters, go]
}

function readFilters<Name extends string>(address: string, names: readonly Name[]): Filters<Name> {
  const parts = address.split('/').slice(PARTS_BEFORE).map(partOf)
  const pairs = new Map<string, string>()
  for (let index = 0; index + 1 < parts.length; index += 2) pairs.set(parts[index]!, parts[index + 1]!)
  return Object.fromEntries(names.map(name => [name, pairs.get(name) ?? ''])) as Filters<Name>
}

/**
 * Holds the text that the user types into the fields of a form before submitting it. When the address
 * changes, for example because of the Back button, the fields are filled from the address.
 */
export function useTyped<Name extends string>(
  filters: Filters<Name>,
): [Filters<Name>, (name: Name) => (value: string) => void] {
  const [state, setState] = useState({ filters, typed: filters })
  if (state.filters !== filters) setState({ filters, typed: filters })
  const change = (name: Name) => (value: string) =>
    setState(({ typed }) => ({ filters, typed: { ...typed, [name]: value } }))
  return [state.filters === filters ? state.typed : filters, change]
}
