/** Copies of schemas that overwrite existing ones. */
import type { ExportedSchema } from '#management/schema/transfer/schema-export.ts'

export function copyOf(parts: Partial<ExportedSchema>) {
  const nothing = {
    resources: [],
    tenantRoles: [],
    builtInTypes: [],
    conditionSets: [],
    rules: [],
    proxyConfigs: [],
  }
  return { schema: { ...nothing, ...parts }, conflictStrategy: 'overwrite' } as const
}

/** A user set in the form in which copies contain it. */
export function copiedSet(key: string, conditions = {}) {
  const set = { key, name: 'X', description: null, type: 'userset', resource: null, parent: null }
  return { ...set, type: 'userset', conditions } as const
}
