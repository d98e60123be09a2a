/**
 * Exports and imports proxy configs in a form that is independent of the environment. Their secrets are not
 * included: a copied config has none until a caller sets one.
 */
import { type WriteContext, presentInstant } from '#management/drafts/context.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import type { ProxyConfigRecord } from '#entities/records.ts'
import type { AuthMechanism, MappingRuleStored } from '#entities/proxy-config.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { declared, presentMappingRule } from '#management/schema/proxy-configs/mapping-rules.ts'
import { putProxyConfig } from '#management/schema/proxy-configs/proxy-configs.ts'

export interface ExportedProxyConfig {
  readonly key: string
  readonly name: string
  readonly auth_mechanism: AuthMechanism
  /** The named resource types and actions are not looked up and may no longer exist. */
  readonly mapping_rules: readonly MappingRuleStored[]
  readonly created_at: string
  readonly updated_at: string
}

/** The proxy configs of an environment, in creation order. */
export function* exportedProxyConfigs(records: RecordReader): Iterable<ExportedProxyConfig> {
  for (const config of records.list('proxy-config', lists.all('proxy-config'))) {
    yield {
      key: config.key,
      name: config.name,
      auth_mechanism: config.authMechanism,
      mapping_rules: config.mappingRules.map(presentMappingRule),
      created_at: presentInstant(config.createdAt),
      updated_at: presentInstant(config.updatedAt),
    }
  }
}

/**
 * Writes the configs. A config with the same key is overwritten, and keeps its id, its secret and its
 * creation time.
 */
export function* putProxyConfigs(
  context: WriteContext,
  configs: readonly ExportedProxyConfig[],
): Resumable<void> {
  const { records } = context
  for (const { key, name, auth_mechanism, mapping_rules, created_at, updated_at } of configs) {
    const existing = records.get('proxy-config', rowKeys.proxyConfig(key))
    const mappingRules: ProxyConfigRecord['mappingRules'][number][] = []
    for (const rule of mapping_rules) {
      const { url, http_method, resource, action, priority, headers } = rule
      const rest = { action: action ?? null, priority: priority ?? null, headers: headers ?? {} }
      mappingRules.push({ url, method: http_method, type: resource, ...rest, ...declared(rule) })
      if (mappingRules.length % YIELD_ROWS === 0) yield
    }
    putProxyConfig(context, {
      kind: 'proxy-config',
      id: existing?.id ?? context.newId(),
      key,
      name,
      authMechanism: auth_mechanism,
      sealedSecret: existing?.sealedSecret ?? null,
      mappingRules,
      createdAt: existing?.createdAt ?? Date.parse(created_at),
      updatedAt: existing ? context.now : Date.parse(updated_at),
    })
    yield
  }
}
