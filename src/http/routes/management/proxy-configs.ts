/** Proxy configs with their mapping rules (conditions.md 10.4). */
import { Type } from 'typebox'
import type { Route } from '#http/routing/route.ts'
import {
  ProxyConfig,
  ProxyConfigCreate,
  ProxyConfigPath,
  ProxyConfigsPath,
  ProxyConfigsQuery,
  ProxyConfigUpdate,
} from '#entities/proxy-config.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

const CONFIGS = `${FACTS_BASE}/proxy_configs`
const CONFIG = `${CONFIGS}/{proxy_config_id}`

export function proxyConfigRoutes(manage: Manage): Route[] {
  return [
    manage({
      operation: 'listProxyConfigs',
      level: 'read',
      method: 'GET',
      path: CONFIGS,
      summary: 'List proxy configs',
      params: ProxyConfigsPath,
      query: ProxyConfigsQuery,
      answer: Type.Array(ProxyConfig),
    }),
    manage({
      operation: 'createProxyConfig',
      level: 'write',
      method: 'POST',
      path: CONFIGS,
      summary: 'Create a proxy config, with the rules that map requests to checks',
      params: ProxyConfigsPath,
      body: ProxyConfigCreate,
      mayWarn: true,
      answer: ProxyConfig,
    }),
    manage({
      operation: 'getProxyConfig',
      level: 'read',
      method: 'GET',
      path: CONFIG,
      summary: 'Read a proxy config, without its secret',
      params: ProxyConfigPath,
      thing: 'getProxyConfig',
      answer: ProxyConfig,
    }),
    manage({
      operation: 'updateProxyConfig',
      level: 'write',
      method: 'PATCH',
      path: CONFIG,
      summary:
        'Change a proxy config; each given field replaces the whole old value, and marked rules are removed',
      params: ProxyConfigPath,
      thing: 'getProxyConfig',
      body: ProxyConfigUpdate,
      mayWarn: true,
      answer: ProxyConfig,
    }),
    manage({
      operation: 'deleteProxyConfig',
      level: 'write',
      method: 'DELETE',
      path: CONFIG,
      summary: 'Delete a proxy config and its mapping rules',
      params: ProxyConfigPath,
      thing: 'getProxyConfig',
    }),
  ]
}
