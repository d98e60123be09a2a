/** Changes for the engine that put mapping rules. */
import type { MappingPut } from '#model/change.ts'
import type { ProxyConfigRecord } from '#model/records.ts'

export function mappingChange({ id, createdAt, mappingRules }: ProxyConfigRecord): MappingPut {
  return {
    kind: 'mapping-put',
    config: id,
    createdAt,
    rules: mappingRules.map(({ url, method, type, action, priority, caseSensitive, encodedSlashes }) => ({
      url,
      method,
      type,
      action,
      priority: priority ?? 0,
      ...(caseSensitive && { caseSensitive }),
      ...(encodedSlashes && { encodedSlashes }),
    })),
  }
}
