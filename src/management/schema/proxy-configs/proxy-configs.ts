/**
 * Operations on proxy configs (conditions.md 10.4): mapping rules, and a secret with which a proxy would call
 * its upstream. The service does not contain that proxy, so the secret is stored encrypted and never
 * returned.
 */
import { Warned } from '#management/operations/answer-marks.ts'
import {
  presentIdentity,
  type ReadContext,
  type Scoped,
  type SealingContext,
  type WriteContext,
} from '#management/drafts/context.ts'
import { notFound } from '#management/drafts/lookups.ts'
import { pageOfLists } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { AuthzError } from '#model/errors.ts'
import type { ProxyConfigRecord } from '#entities/records.ts'
import type {
  ProxyConfig,
  ProxyConfigCreate,
  ProxyConfigsQuery,
  ProxyConfigUpdate,
  ProxySecret,
} from '#entities/proxy-config.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { mappingChange } from '#replica/record-changes.ts'
import { changedRules, presentMappingRule } from './mapping-rules.ts'
import { warningOfRules } from './rules-without-effect.ts'

interface ConfigParams {
  readonly proxy_config_id: string
}

/** Lists the configs in creation order, as a bare array. */
export function* listProxyConfigs(
  context: ReadContext,
  input: { readonly query: ProxyConfigsQuery },
): Resumable<ProxyConfig[]> {
  const page = yield* pageOfLists(context.records, {
    kind: 'proxy-config',
    lists: [lists.all('proxy-config')],
    paging: input.query,
    matches: null,
    hasTotal: false,
    present: config => presentProxyConfig(context, config),
  })
  return page.data
}

export function* createProxyConfig(
  context: SealingContext,
  input: { readonly body: ProxyConfigCreate },
): Resumable<ProxyConfig | Warned<ProxyConfig>> {
  const { records } = context
  const { key, name, secret, auth_mechanism, mapping_rules = [] } = input.body
  const mappingRules = yield* changedRules(records, [], mapping_rules)
  if (records.get('proxy-config', rowKeys.proxyConfig(key))) {
    throw new AuthzError('DUPLICATE_ENTITY', `there is a proxy config ${JSON.stringify(key)} already`)
  }
  const id = context.newId()
  const config: ProxyConfigRecord = {
    kind: 'proxy-config',
    id,
    key,
    name,
    authMechanism: auth_mechanism ?? 'Bearer',
    sealedSecret: sealed(context, id, secret),
    mappingRules,
    createdAt: context.now,
    updatedAt: context.now,
  }
  putProxyConfig(context, config)
  return yield* answerAbout(context, config)
}

export function getProxyConfig(context: ReadContext, input: { readonly params: ConfigParams }): ProxyConfig {
  return presentProxyConfig(context, requireProxyConfig(context.records, input.params.proxy_config_id))
}

/**
 * Updates a config. Each field in the body replaces the whole old value; single mapping rules can be deleted.
 */
export function* updateProxyConfig(
  context: SealingContext,
  input: { readonly params: ConfigParams; readonly body: ProxyConfigUpdate },
): Resumable<ProxyConfig | Warned<ProxyConfig>> {
  const { records } = context
  const { name, secret, auth_mechanism, mapping_rules } = input.body
  const config = requireProxyConfig(records, input.params.proxy_config_id)
  const updated: ProxyConfigRecord = {
    ...config,
    name: name ?? config.name,
    authMechanism: auth_mechanism ?? config.authMechanism,
    sealedSecret: secret === undefined ? config.sealedSecret : sealed(context, config.id, secret),
    mappingRules: mapping_rules
      ? yield* changedRules(records, config.mappingRules, mapping_rules)
      : config.mappingRules,
    updatedAt: context.now,
  }
  putProxyConfig(context, updated)
  return mapping_rules ? yield* answerAbout(context, updated) : presentProxyConfig(context, updated)
}

/** Response about a config whose rules were written. */
function* answerAbout(
  context: WriteContext,
  config: ProxyConfigRecord,
): Resumable<ProxyConfig | Warned<ProxyConfig>> {
  const warning = yield* warningOfRules(context.records, config)
  const body = presentProxyConfig(context, config)
  return warning === null ? body : new Warned(body, warning)
}

export function deleteProxyConfig(context: WriteContext, input: { readonly params: ConfigParams }): void {
  const { records } = context
  const config = requireProxyConfig(records, input.params.proxy_config_id)
  records.delete(config, { kind: 'mapping-removed', config: config.id, key: config.key })
}

/** Writes a config and notifies the engine. */
export function putProxyConfig({ records }: WriteContext, config: ProxyConfigRecord): void {
  records.put(config, mappingChange(config))
}

/**
 * Encrypts the secret. Returns null if the organization has no encryption key: then the secret is not stored.
 */
function sealed(context: SealingContext, id: string, secret: ProxySecret): Uint8Array | null {
  return context.seal(id, JSON.stringify(secret))
}

function requireProxyConfig(records: RecordReader, reference: string): ProxyConfigRecord {
  const config =
    records.get('proxy-config', rowKeys.proxyConfig(reference)) ??
    records.byReference('proxy-config', reference)
  if (config === null) throw notFound('proxy config', reference)
  return config
}

export function presentProxyConfig({ scope }: Scoped, config: ProxyConfigRecord): ProxyConfig {
  return {
    ...presentIdentity(scope, config),
    name: config.name,
    auth_mechanism: config.authMechanism,
    mapping_rules: config.mappingRules.map(presentMappingRule),
  }
}

export const reads = { getProxyConfig, listProxyConfigs }

export const writes = { createProxyConfig, deleteProxyConfig, updateProxyConfig }
